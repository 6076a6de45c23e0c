"""What an endpoint says when it doesn't want a request: the words of an error body, whatever its form.

In: the bytes of a body.  Out: messages and names of parameters.  Values that the endpoint repeats of the request (they
may quote the run) are left aside where they can be told apart, and nothing of it is ever logged.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import orjson

from evaluators.cases import JsonValue

_READ_CHARS = 2_000
_MAX_DEPTH = 6
_MOST_ITEMS = 20
_COUNT = r"[^\d]{0,12}(\d{2,9})"
_WINDOW = re.compile(
    rf"context (?:length|size|window)(?: is| of)?{_COUNT}|> (\d{{2,9}}) maximum|tokens allowed{_COUNT}", re.IGNORECASE
)
_PROMPT = re.compile(
    r"resulted in (\d{2,9})|\((\d{2,9}) in the messages|(\d{2,9}) input tokens|request \((\d{2,9}) tokens|"
    r"too long: (\d{2,9}) tokens|input token count \((\d{2,9})",
    re.IGNORECASE,
)
_KEYS = ("message", "msg", "error", "detail", "loc", "param", "metadata", "raw", "description", "title")


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """`words` hold messages and names of parameters; `parameter` and `codes` what OpenAI's form has fields for.

    `window_tokens` and `prompt_tokens` are how much the model can read and how much it was given, where that is said.
    """

    words: str
    parameter: str = ""
    codes: frozenset[str] = frozenset()
    window_tokens: int | None = None
    prompt_tokens: int | None = None

    def names(self, parameter: str) -> bool:
        """Whether the parameter is what it speaks of."""
        return self.parameter == parameter or re.search(rf"\b{re.escape(parameter)}\b", self.words) is not None


def refusal_of(body: bytes) -> Refusal:
    """Reads OpenAI's form, Google's list of it, FastAPI's `detail`, errors of gateways around another's, plain text."""
    try:
        said: JsonValue = orjson.loads(body)
    except orjson.JSONDecodeError:
        words = body[:_READ_CHARS].decode("utf-8", "replace").lstrip()
        if words.startswith("<"):
            # A page of a proxy or a web server, which knows nothing of models, whatever words are in it.
            return Refusal(words="")
        return Refusal(words=words, window_tokens=_number(_WINDOW, words), prompt_tokens=_number(_PROMPT, words))
    return refusal_in(said[0] if isinstance(said, list) and said else said)


def refusal_in(said: JsonValue) -> Refusal:
    """Reads an error that is known to be JSON."""
    error = said.get("error", said) if isinstance(said, dict) else said
    fields = error if isinstance(error, dict) else {}
    parameter = fields.get("param")
    codes = (fields.get("code"), fields.get("type"))
    words = " ".join(_words(said))[:_READ_CHARS]
    # llama.cpp has fields for both.
    window, prompt = fields.get("n_ctx"), fields.get("n_prompt_tokens")
    return Refusal(
        words=words,
        parameter=parameter if isinstance(parameter, str) else "",
        codes=frozenset(str(code) for code in codes if isinstance(code, str | int)),
        window_tokens=window if isinstance(window, int) else _number(_WINDOW, words),
        prompt_tokens=prompt if isinstance(prompt, int) else _number(_PROMPT, words),
    )


def _number(pattern: re.Pattern[str], words: str) -> int | None:
    found = pattern.search(words)
    return None if found is None else int(next(group for group in found.groups() if group is not None))


def _words(value: JsonValue, depth: int = 0) -> list[str]:
    if isinstance(value, str):
        return [value]
    if depth > _MAX_DEPTH:
        return []
    if isinstance(value, list):
        return [word for inner in value[:_MOST_ITEMS] for word in _words(inner, depth + 1)]
    if not isinstance(value, Mapping):
        return []
    return [word for key in _KEYS for word in _words(value.get(key), depth + 1)]
