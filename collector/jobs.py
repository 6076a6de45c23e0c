"""What passes between the assembler and whoever judges: plain data, so that it can cross to another process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class RawItem(NamedTuple):
    """A span or log record with what it belongs to, all serialised."""

    resource: bytes
    scope: bytes
    body: bytes


class EvaluationSpan(NamedTuple):
    """A span that carries a verdict about another span, serialised with what it belongs to."""

    resource: bytes
    scope: bytes
    span: bytes


Marks = Mapping[tuple[str, str], object]
"""(span id as hex, evaluator) → what was last said about it. Only whoever judges understands the values."""


@dataclass(frozen=True, slots=True)
class Job:
    """A trace to judge.

    `complete` says whether whole runs may be judged, or only steps whose inputs are there.  `partial` says that part
    of the trace is known to be missing for good.  `marks` is what was said before.  With `rules_only` no judge is
    asked.
    """

    trace_id: bytes
    spans: list[RawItem]
    logs: list[RawItem]
    complete: bool
    partial: bool
    marks: Marks
    rules_only: bool = False


@dataclass(frozen=True, slots=True)
class SpanScores:
    """The verdicts on one span, in both forms in which they can leave.

    `tail` are serialised attributes to append to the span; `evaluations` the same verdicts as spans of their own;
    `extra` are evaluation spans for what can't be appended (the span already has attributes of that name).
    """

    tail: bytes
    evaluations: list[EvaluationSpan]
    extra: list[EvaluationSpan]


@dataclass(frozen=True, slots=True)
class Count:
    """For metrics: one verdict's outcome."""

    evaluator: str
    status: str
    label: str | None
    method: str


@dataclass(frozen=True, slots=True)
class Judged:
    """What came of a job.

    `scores` by span id.  `settled` are span ids on which nothing more is to be said unless the trace grows.
    `failure` says why the whole job has no result; then the rest is empty.
    """

    trace_id: bytes
    scores: Mapping[bytes, SpanScores] = field(default_factory=dict)
    settled: frozenset[bytes] = frozenset()
    marks: Marks = field(default_factory=dict)
    counts: tuple[Count, ...] = ()
    failure: str | None = None
