"""What is common to the protocols: a request as far as it matters here, and the reply to be put into a protocol."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

CREATED = 1_924_000_000
"""Seconds since the epoch at which every reply was made."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request: the tools offered (name → schema, None without one) and the results shown (call id → text)."""

    model: str
    stream: bool
    tools: Mapping[str, Any]
    results: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Requested:
    """A call in a reply; `arguments` is JSON text, unless the script wants it broken."""

    call_id: str
    name: str
    arguments: str

    @property
    def values(self) -> Any:
        """The arguments for protocols that carry values; what isn't JSON becomes an empty object."""
        try:
            return json.loads(self.arguments)
        except ValueError:
            return {}


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model answers to the `number`-th request (from 0) of a run."""

    number: int
    text: str | None
    calls: tuple[Requested, ...]

    @property
    def output_tokens(self) -> int:
        """A quarter of the text's length."""
        return max(1, (len(self.text or "") + sum(len(call.arguments) for call in self.calls)) // 4)

    def made_up_id(self, prefix: str, place: object = "") -> str:
        """An id as providers make them, the same in every recording."""
        return made_up_id(prefix, self.number, place, self.text, *(call.call_id for call in self.calls))


Spelling = Callable[[Reply], Sequence[Reply]]
"""How a reply is put for a framework that has calls written as text, or answers given as calls: one request each."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer."""

    content_type: str
    body: bytes
    status: int = 200

    @classmethod
    def of(cls, value: Any, status: int = 200) -> Answer:
        """A JSON body."""
        return cls("application/json", json.dumps(value, ensure_ascii=False).encode(), status)

    @classmethod
    def events(cls, events: Iterable[Mapping[str, Any]], *, named: bool, last: str | None = None) -> Answer:
        """Server-sent events; `named` ones carry their `type` as the event's name."""
        lines = [
            (f"event: {event['type']}\n" if named else "") + f"data: {json.dumps(event, ensure_ascii=False)}\n\n"
            for event in events
        ]
        if last is not None:
            lines.append(f"data: {last}\n\n")
        return cls("text/event-stream", "".join(lines).encode())


def made_up_id(prefix: str, *seed: object) -> str:
    """`prefix` and 24 characters that depend on nothing but the seed."""
    return prefix + hashlib.sha256(repr(seed).encode()).hexdigest()[:24]


def pieces(text: str) -> Iterator[str]:
    """A text as it is streamed, in three pieces at most."""
    step = max(1, -(-len(text) // 3))
    return (text[start : start + step] for start in range(0, len(text), step))


def plain(content: Any) -> str:
    """The text of a message's content, which is a text or a list of parts."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(part if isinstance(part, str) else str(part.get("text", part)) for part in content)
    return json.dumps(content, ensure_ascii=False)
