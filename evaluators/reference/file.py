"""A file of references: what should have come of which runs. YAML, or JSON lines for many of them.

    references:
      - match: {attributes: {test.case.id: refund-17}}
        outcome: Order 4711 is refunded.
        tool_calls: [{name: refund, arguments: {order: 4711}}]

In: a path.  Out: entries in the order of the file, or a `DefinitionError` that names line, key, what is wrong and what
to do.  In JSON lines each line is one entry.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import orjson
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from evaluators.definition_file import DefinitionError, check_definition, content_of, read_definition
from evaluators.reference.form import ReferenceForm

MAX_BYTES = 64 << 20
JSON_LINES = (".jsonl", ".ndjson")


def value_text(value: object) -> object:
    """A value of an attribute as text, so that `true` and `17` need no quotation marks; what is no scalar stays."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


class Match(BaseModel):
    """By what a run is known; all that is given has to hold."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    attributes: dict[str, Annotated[str, BeforeValidator(value_text)]] = Field(
        default_factory=dict, description="Attributes of the run's span, of a span around it, or of its resource."
    )
    session: Annotated[str, BeforeValidator(value_text)] | None = Field(default=None, description="The session's id.")
    input: str | None = Field(default=None, description="What the user said, as `input_hash` knows it.")
    input_sha256: str | None = Field(
        default=None, pattern="^[0-9a-f]{64}$", description="Its hash instead, where the text should not be in a file."
    )

    @model_validator(mode="after")
    def _says_something(self) -> Match:
        if not (self.attributes or self.session or self.input or self.input_sha256):
            raise ValueError("says nothing; give attributes, session, input or input_sha256")
        if self.input and self.input_sha256:
            raise ValueError("gives input and input_sha256; keep one of the two")
        return self

    @property
    def input_digest(self) -> str | None:
        """The hash of what the user said; None where that doesn't count."""
        return input_hash([self.input]) if self.input else self.input_sha256


class Entry(ReferenceForm):
    """A reference and the runs it is for."""

    match: Match

    @model_validator(mode="after")
    def _knows_something(self) -> Entry:
        known = (self.task, self.outcome, self.tool_calls, self.required_outputs, self.key_actions)
        if all(one is None for one in known):
            raise ValueError("says nothing of the run; give task, outcome, tool_calls, required_outputs or key_actions")
        return self


class _Content(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    references: tuple[Entry, ...]


def read_references(path: Path) -> tuple[Entry, ...]:
    """All references of a file.

    Raises:
        DefinitionError: it can't be read or something in it is wrong.
    """
    if path.suffix not in JSON_LINES:
        return read_definition(path, _Content).references
    content = content_of(path, MAX_BYTES, remedy="split it or leave some out")
    values: list[object] = []
    lines: dict[tuple[str | int, ...], int] = {}
    for number, line in enumerate(content.splitlines(), 1):
        if not line.strip():
            continue
        try:
            values.append(orjson.loads(line))
        except orjson.JSONDecodeError as error:
            raise DefinitionError(f"{path}: line {number}: is no JSON ({error}); write one object per line") from None
        lines["references", len(values) - 1] = number
    return check_definition(path, _Content, {"references": values}, lines).references


def input_hash(said: Sequence[str]) -> str:
    """SHA-256 of what the user said in a run, as 64 hexadecimal digits.

    The texts are put together with newlines; Unicode form (NFC) and the amount of white space make no difference.
    """
    text = " ".join(unicodedata.normalize("NFC", "\n".join(said)).split())
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def match_keys(match: Match) -> Mapping[tuple[str, str], str]:
    """What a match asks for: (kind and key) → the value that it has to be."""
    asked = {("attribute", key): value for key, value in match.attributes.items()}
    if match.session is not None:
        asked["session", ""] = match.session
    if match.input_digest is not None:
        asked["input", ""] = match.input_digest
    return asked
