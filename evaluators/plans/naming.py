"""Which tools a step of a plan names: by the tool's own name, or by its words ("search flights" for `search_flights`).

In go a step's text and names of tools, out come those that it names.  What a step means in other words isn't known
here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

_FEWEST_WORDS = 2
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_FILLERS = frozenset(
    ["a", "an", "the", "for", "up", "of", "to", "on", "my", "your", "their", "all", "any", "out", "some"]
)


def tools_named(step: str, names: Iterable[str]) -> list[str]:
    """The names that a step names, in the order given."""
    said = _spoken(step)
    whole = set(re.findall(r"[\w.-]*\w", step.casefold()))
    return [name for name in names if (_last(name).casefold() in whole and _is_spelt(name)) or _is_said(name, said)]


def _is_spelt(name: str) -> bool:
    """Whether a name is more than a word of the language."""
    return len(_words(_last(name))) >= _FEWEST_WORDS


def _is_said(name: str, said: tuple[str, ...]) -> bool:
    words = _words(_last(name))
    if len(words) < _FEWEST_WORDS:
        return False
    return any(said[at : at + len(words)] == words for at in range(len(said) - len(words) + 1))


@lru_cache(maxsize=2_000)
def _words(name: str) -> tuple[str, ...]:
    return tuple(_stem(word) for word in _WORD.findall(name[:200]))


def _spoken(text: str) -> tuple[str, ...]:
    words = (word.casefold() for word in re.findall(r"[^\W_]+", text))
    return tuple(_stem(word) for word in words if word not in _FILLERS)


def _stem(word: str) -> str:
    word = word.casefold()
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _last(name: str) -> str:
    return re.split(r"__|[./:]", name)[-1]
