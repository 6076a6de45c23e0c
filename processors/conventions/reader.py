"""What a reader of a dialect is.

In goes a span, out come the facts on it.  A reader knows the attributes of one dialect and nothing of the rest of the
trace; what it doesn't find is None.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from processors.conventions.decoding.messages import Messages
from processors.conventions.facts import SpanFacts
from processors.otlp import Span


class Reader(ABC):
    """Reads the spans of one dialect. Made anew for each trace, so that it may remember what it has decoded.

    `name`   of the dialect.
    `marks`  byte strings one of which is in every serialised span that it reads: at the beginning of a key or of the
    span's name, or anywhere if it begins with a quotation mark.
    """

    name: str
    marks: tuple[bytes, ...]

    def __init__(self, messages: Messages, limit: int | None = None) -> None:
        """A reader that reads messages with `messages`; `limit` is the length at which values are cut in the trace."""
        self._messages = messages
        self._limit = limit

    @abstractmethod
    def reads(self, span: Span) -> bool:
        """Whether the span carries this dialect, by what is on it."""

    @abstractmethod
    def read(self, span: Span) -> SpanFacts:
        """What the span says. Only asked of spans that it reads; never raises for their content."""
