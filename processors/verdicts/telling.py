"""What is said about each span of a trace, put into the forms in which it can leave.

In: verdicts as they are reached.  Out: per span the bytes to append to it, and evaluation spans.  What was told before
is never changed; a later verdict is a new evaluation span that supersedes the one before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias

from evaluators.verdict import Verdict
from processors.otlp import Span
from processors.verdicts.marks import Mark
from processors.verdicts.roll_ups import RollUp
from processors.verdicts.scores import (
    Emission,
    EvaluationSpan,
    Target,
    evaluation_span,
    evaluation_span_id,
    is_taken,
    is_told,
    tail,
)

Raw: TypeAlias = tuple[bytes, bytes, bytes]
"""A span or log record with what it belongs to: serialised resource, scope, and itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanScores:
    """What there is to say about one span, in every form in which it can leave.

    `tail`         bytes to append to the serialised span; empty when there is nothing to append.
    `alternatives` the verdicts of `tail` as spans of their own, for a span that has already left.
    `extra`        evaluation spans to send in any case: the span came with a score of that name, or another verdict
                   was told before and nothing that was told is changed.

    Roll-ups are in `tail` alone: for a run's span that has left, there is no other place for them.
    """

    tail: bytes
    alternatives: tuple[EvaluationSpan, ...] = ()
    extra: tuple[EvaluationSpan, ...] = ()


class PlacedVerdict(NamedTuple):
    """A verdict with where it belongs. Ids are lower-case hex.

    `way` is how it is told: on the judged span, on an evaluation span, or nowhere (empty).
    """

    trace_id: str
    span_id: str
    span_name: str
    session_id: str | None
    sequence: int
    verdict: Verdict
    way: Literal["span", "evaluation_span", ""] = ""


class Telling:
    """Collects what is said about the spans of one trace.

    Args:
        trace_id: of the trace.
        spans: its spans by id (lower-case hex), as bytes and decoded.
        emission: what is written besides scores.
    """

    def __init__(self, trace_id: bytes, spans: Mapping[str, tuple[Raw, Span]], emission: Emission) -> None:
        self._trace_id = trace_id
        self._spans = spans
        self._emission = emission
        self._appended: dict[str, list[tuple[Verdict, int]]] = {}
        self._extra: dict[str, list[EvaluationSpan]] = {}
        self._roll_ups: dict[str, list[RollUp]] = {}
        self._targets: dict[str, Target] = {}
        self.verdicts: list[PlacedVerdict] = []

    def add(self, span_id: str, verdict: Verdict, sequence: int, before: Mark | None, session_id: str | None) -> None:
        """Say a verdict; `before` is the one that was told and that it supersedes."""
        verdict = replace(verdict, evidence=tuple(ref for ref in verdict.evidence if ref in self._spans))
        target = self._target(span_id)
        way: Literal["span", "evaluation_span", ""] = "evaluation_span"
        if before is not None:
            supersedes = evaluation_span_id(
                self._trace_id, target.span_id, verdict.evaluator, before.revision, before.sequence
            )
            self._extra.setdefault(span_id, []).append(evaluation_span(target, verdict, sequence, supersedes))
        elif not is_told(verdict, self._emission):
            way = ""
        elif is_taken(target, verdict.evaluator):
            self._extra.setdefault(span_id, []).append(evaluation_span(target, verdict, sequence))
        else:
            self._appended.setdefault(span_id, []).append((verdict, sequence))
            way = "span"
        self.verdicts.append(
            PlacedVerdict(
                trace_id=self._trace_id.hex(),
                span_id=span_id,
                span_name=self._spans[span_id][1].name,
                session_id=session_id,
                sequence=sequence,
                verdict=verdict,
                way=way,
            )
        )

    def add_roll_ups(self, span_id: str, rolled: list[RollUp]) -> None:
        """Say what the steps of the run on this span amount to."""
        target = self._target(span_id)
        self._roll_ups[span_id] = [one for one in rolled if not is_taken(target, one.evaluator)]

    def scores(self) -> dict[bytes, SpanScores]:
        """Everything that was said, by span id."""
        scores = {}
        for span_id in dict.fromkeys((*self._appended, *self._extra, *self._roll_ups)):
            target = self._target(span_id)
            appended = self._appended.get(span_id, [])
            scores[target.span_id] = SpanScores(
                tail=tail(
                    [verdict for verdict, _ in appended],
                    target.end_unix_nano,
                    self._emission,
                    self._roll_ups.get(span_id, ()),
                ),
                alternatives=tuple(evaluation_span(target, verdict, sequence) for verdict, sequence in appended),
                extra=tuple(self._extra.get(span_id, ())),
            )
        return scores

    def _target(self, span_id: str) -> Target:
        if span_id not in self._targets:
            (resource, _, _), span = self._spans[span_id]
            self._targets[span_id] = Target(
                trace_id=self._trace_id,
                span_id=bytes.fromhex(span_id),
                end_unix_nano=span.end_ns or span.start_ns,
                resource=resource,
                attribute_keys=span.attributes.keys(),
            )
        return self._targets[span_id]
