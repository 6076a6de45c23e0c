"""How well many traces were understood: per instrumentation and evaluator, how many have all inputs, and what lacks.

In: transcripts with the spans they were made from, one trace after the other.  Out: a `Survey`.  Nothing is judged; an
evaluator that has nothing to judge in a trace (no tool was called) isn't counted there.  Only counts, names and a few
trace ids are kept, so that any number of traces costs little memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from processors.inputs import inputs_found
from processors.otlp import Span
from processors.reading import absent
from processors.reading.readiness import REQUIRED
from processors.transcript import Missing, Transcript

MOST_EXAMPLES = 5
MOST_RIDDLES = 20


class Scope(NamedTuple):
    """An instrumentation scope; both are empty where a span has none."""

    name: str
    version: str

    def __str__(self) -> str:
        return " ".join(filter(None, self)) or "no instrumentation scope"


@dataclass(slots=True)
class Readiness:
    """Of `due` traces in which an evaluator has something to judge, `ready` have all that it needs."""

    ready: int = 0
    due: int = 0


@dataclass(slots=True)
class Lack:
    """What some traces lack. `needed_by` is empty where no evaluator depends on it, `example` is the id of a trace."""

    missing: Missing
    needed_by: tuple[str, ...]
    example: str
    traces: int = 0


@dataclass(slots=True)
class Group:
    """The traces that the same instrumentations recorded. `dialects` are what they were read as."""

    scopes: tuple[Scope, ...]
    traces: int = 0
    dialects: dict[str, None] = field(default_factory=dict)
    evaluators: dict[str, Readiness] = field(default_factory=lambda: {name: Readiness() for name in REQUIRED})
    missing: dict[Missing, Lack] = field(default_factory=dict)


@dataclass(slots=True)
class Strangers:
    """Spans of one scope that no reader knows. `read`: what their keys plainly mean was taken all the same."""

    scope: Scope
    read: bool
    spans: int = 0
    traces: int = 0
    names: dict[str, None] = field(default_factory=dict)


@dataclass(slots=True)
class Riddle:
    """Traces that begin with the same span and in which no model call, tool or agent was recognised."""

    scope: Scope
    name: str
    example: str
    traces: int = 0


@dataclass(slots=True)
class Survey:
    """What was found in all traces.

    `continuing` counts those that go on from another one, and `not_understood` all riddles, of which only the first
    kinds are kept.
    """

    traces: int = 0
    continuing: int = 0
    groups: dict[tuple[Scope, ...], Group] = field(default_factory=dict)
    not_understood: int = 0
    riddles: dict[tuple[Scope, str], Riddle] = field(default_factory=dict)
    strangers: dict[tuple[Scope, bool], Strangers] = field(default_factory=dict)

    def add(self, transcript: Transcript, spans: Sequence[Span]) -> None:
        """Count one trace."""
        self.traces += 1
        self.continuing += transcript.continues is not None
        scopes = {span.span_id: Scope(span.scope_name, span.scope_version) for span in spans}
        unread = set(transcript.unread)
        self._add_strangers(spans, unread, read=False)
        self._add_strangers(spans, set(transcript.unknown), read=True)
        if not transcript.runs:
            self._add_riddle(transcript.trace_id, spans)
            return
        key = tuple(sorted({scope for span_id, scope in scopes.items() if span_id not in unread}))
        group = self.groups.setdefault(key, Group(key))
        group.traces += 1
        group.dialects.update(dict.fromkeys(transcript.dialects))
        for name, state in inputs_found(transcript).items():
            group.evaluators[name].due += state is not None
            group.evaluators[name].ready += state is True
        for one in transcript.missing:
            lack = group.missing.setdefault(one, Lack(one, needed_by(one.fact), transcript.trace_id))
            lack.traces += 1

    def _add_riddle(self, trace_id: str, spans: Sequence[Span]) -> None:
        self.not_understood += 1
        first = next((span for span in spans if span.parent_id is None), spans[0])
        scope = Scope(first.scope_name, first.scope_version)
        if (scope, first.name) in self.riddles or len(self.riddles) < MOST_RIDDLES:
            self.riddles.setdefault((scope, first.name), Riddle(scope, first.name, trace_id)).traces += 1

    def _add_strangers(self, spans: Sequence[Span], ids: set[str], *, read: bool) -> None:
        found: set[Scope] = set()
        for span in spans:
            if span.span_id in ids:
                scope = Scope(span.scope_name, span.scope_version)
                strangers = self.strangers.setdefault((scope, read), Strangers(scope, read))
                strangers.spans += 1
                strangers.traces += scope not in found
                found.add(scope)
                if len(strangers.names) < MOST_EXAMPLES:
                    strangers.names[span.name] = None


def needed_by(fact: str) -> tuple[str, ...]:
    """The evaluators that can't judge without a fact. Where tools are missing, so are their schemas."""
    implied = {fact, absent.SCHEMAS} if fact == absent.TOOLS else {fact}
    return tuple(name for name, facts in REQUIRED.items() if implied.intersection(facts))
