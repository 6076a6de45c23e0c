"""From verdicts to bytes: what is written on to spans, and the spans that carry a verdict where that can't be done.

This is the one place that knows the names of score attributes.  In: verdicts.  Out: serialised protobuf that is
appended to a span's own bytes (fields of a message may be concatenated), or whole spans.  The judged span itself is
never decoded, changed or encoded here.

On the judged span, for the evaluator `<n>`:

    eval.<n>.score          double, 0..1, four decimals
    eval.<n>.label          string: correct | incorrect | pass | fail, or what was found
    eval.<n>.passed         bool
    eval.<n>.explanation    string, at most `EXPLANATION_BYTES`
    eval.<n>.method         string: rule | judge | reference
    eval.<n>.confidence     double, 0..1
    eval.<n>.issue          string: code of the most severe issue
    eval.<n>.issues         array of strings: all codes
    eval.<n>.calls_judged   int, where calls were judged
    eval.<n>.calls_failed   int, where calls were judged
    eval.<n>.revision       string: rules, prompt, settings and model that were used
    eval.<n>.model          string, where a judge was used
    eval.<n>.judge_trace_id string, 32 hex digits: the trace of the judge's own request, where such traces are exported
    eval.<n>.spread         double: how far the scores are apart, where several judges were asked
    eval.<n>.uncalibrated   bool: true where the judge isn't known to agree with people

A span that came after its run was judged carries `eval.late` = true.

A measure without a threshold has no label, and a finding that is no grade neither score nor `passed`.
A verdict whose status isn't ok leaves nothing, or with `emit_unscored` `.label` = "unscored", `.status` and
`.explanation`.
The bare keys `eval` and `eval.<n>` are never written: backends that nest dotted names would lose the children.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import TypeAlias

from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, InstrumentationScope, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from evaluators.escalation import SPREAD
from evaluators.verdict import Status, Verdict
from processors.verdicts.roll_ups import RollUp

SCOPE_NAME = "spanjudge"
EXPLANATION_BYTES = 1024
MAX_SPAN_EVENTS = 16

_ERRORS = frozenset({Status.JUDGE_ERROR, Status.TIMED_OUT})
_FAILED_CALL = frozenset({"incorrect", "fail"})
_JUDGED_CALL = _FAILED_CALL | {"correct", "pass"}

Value: TypeAlias = "bool | int | float | str | tuple[str, ...]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Emission:
    """What is written besides the scores: marks of unscored verdicts, and one event per verdict."""

    emit_unscored: bool = False
    span_events: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The judged span, as far as an evaluation of it has to know it. Ids are bytes, the time is in Unix nanoseconds."""

    trace_id: bytes
    span_id: bytes
    end_unix_nano: int
    resource: bytes
    attribute_keys: Collection[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationSpan:
    """A span that carries one verdict, serialised with its resource and scope.

    `span_id` is derived from what it says, so the same verdict sent again is the same span.
    """

    span_id: bytes
    resource: bytes
    scope: bytes
    span: bytes


def is_taken(target: Target, evaluator: str) -> bool:
    """Whether the span came with a score of this name; such a span is left as it is."""
    prefix = f"eval.{evaluator}."
    return any(key.startswith(prefix) for key in target.attribute_keys)


def is_told(verdict: Verdict, emission: Emission) -> bool:
    """Whether a verdict leaves anything on a span."""
    return verdict.status is Status.OK or emission.emit_unscored


def tail(verdicts: Sequence[Verdict], end_unix_nano: int, emission: Emission, roll_ups: Iterable[RollUp] = ()) -> bytes:
    """What is appended to a serialised span, so that the whole is that span with its scores. Empty: nothing to say."""
    told = [verdict for verdict in verdicts if is_told(verdict, emission)]
    attributes = [pair for verdict in told for pair in _score_attributes(verdict)]
    attributes += [pair for rolled in roll_ups for pair in _roll_up_attributes(rolled)]
    events = []
    if emission.span_events:
        scored = [verdict for verdict in told if verdict.status is Status.OK]
        events = [
            Span.Event(
                time_unix_nano=end_unix_nano,
                name="gen_ai.evaluation.result",
                attributes=[_pair(key, value) for key, value in _result_attributes(verdict)],
            )
            for verdict in scored[:MAX_SPAN_EVENTS]
        ]
    return Span(attributes=[_pair(key, value) for key, value in attributes], events=events).SerializeToString()


def evaluation_span_id(trace_id: bytes, span_id: bytes, evaluator: str, revision: str, sequence: int) -> bytes:
    """The id of the span that carries this verdict; the same for the same verdict, never all zeros."""
    parts = b"\0".join((trace_id, span_id, evaluator.encode(), revision.encode(), str(sequence).encode()))
    return hashlib.blake2b(parts, digest_size=8).digest().replace(b"\0" * 8, b"\0" * 7 + b"\1")


def evaluation_span(
    target: Target,
    verdict: Verdict,
    sequence: int = 0,
    supersedes: bytes | None = None,
    session_id: str | None = None,
) -> EvaluationSpan:
    """A verdict as a span of its own: a child of the judged span, with its resource, at the moment it ended.

    It takes no time, so it changes no duration. `supersedes` is the id of the evaluation span of the verdict before,
    `session_id` that of the session which a verdict is about.
    """
    name = verdict.evaluator
    attributes: list[tuple[str, Value]] = [
        ("openinference.span.kind", "EVALUATOR"),
        ("gen_ai.operation.name", "evaluation"),
    ]
    if verdict.status is Status.OK:
        attributes += _result_attributes(verdict)
        if verdict.explanation:
            attributes.append(("gen_ai.evaluation.explanation", _short(verdict.explanation)))
    else:
        attributes.append(("gen_ai.evaluation.name", name))
        if verdict.status in _ERRORS:
            attributes.append(("error.type", str(verdict.status)))
    attributes += _score_attributes(verdict)
    if session_id is not None:
        attributes.append(("session.id", _clean(session_id)))
    if supersedes is not None:
        attributes.append((f"eval.{name}.supersedes", supersedes.hex()))
    span_id = evaluation_span_id(target.trace_id, target.span_id, name, verdict.revision, sequence)
    span = Span(
        trace_id=target.trace_id,
        span_id=span_id,
        parent_span_id=target.span_id,
        name=f"evaluation {name}",
        kind=Span.SPAN_KIND_INTERNAL,
        start_time_unix_nano=target.end_unix_nano,
        end_time_unix_nano=target.end_unix_nano,
        attributes=[_pair(key, value) for key, value in attributes],
        links=[Span.Link(trace_id=target.trace_id, span_id=target.span_id)],
    )
    return EvaluationSpan(
        span_id=span_id,
        resource=target.resource,
        scope=SCOPE,
        span=span.SerializeToString(),
    )


def _score_attributes(verdict: Verdict) -> list[tuple[str, Value]]:
    prefix = f"eval.{verdict.evaluator}"
    if verdict.status is not Status.OK:
        unscored: list[tuple[str, Value]] = [(f"{prefix}.label", "unscored"), (f"{prefix}.status", str(verdict.status))]
        why = [(f"{prefix}.explanation", _short(verdict.explanation))] if verdict.explanation else []
        return [*unscored, *why]
    pairs: list[tuple[str, Value]] = []
    if verdict.score is not None:
        pairs.append((f"{prefix}.score", _double(verdict.score)))
    if verdict.label is not None:
        pairs.append((f"{prefix}.label", verdict.label))
    if verdict.passed is not None:
        pairs.append((f"{prefix}.passed", verdict.passed))
    if verdict.explanation:
        pairs.append((f"{prefix}.explanation", _short(verdict.explanation)))
    pairs.append((f"{prefix}.method", str(verdict.method)))
    if verdict.confidence is not None and math.isfinite(verdict.confidence):
        pairs.append((f"{prefix}.confidence", _double(verdict.confidence)))
    if verdict.worst_issue is not None:
        codes = dict.fromkeys(str(issue.code) for issue in verdict.issues if issue.conclusive)
        pairs += [(f"{prefix}.issue", str(verdict.worst_issue.code)), (f"{prefix}.issues", tuple(codes))]
    labels = [call.label for call in verdict.calls if call.label in _JUDGED_CALL]
    if labels:
        failed = sum(label in _FAILED_CALL for label in labels)
        pairs += [(f"{prefix}.calls_judged", len(labels)), (f"{prefix}.calls_failed", failed)]
    pairs.append((f"{prefix}.revision", verdict.revision))
    if verdict.model:
        pairs.append((f"{prefix}.model", _clean(verdict.model)))
    if verdict.judge_trace_id:
        pairs.append((f"{prefix}.judge_trace_id", verdict.judge_trace_id))
    spread = verdict.details.get(SPREAD)
    if isinstance(spread, float):
        pairs.append((f"{prefix}.spread", _double(spread)))
    if verdict.uncalibrated:
        pairs.append((f"{prefix}.uncalibrated", True))
    return pairs


def _roll_up_attributes(rolled: RollUp) -> list[tuple[str, Value]]:
    prefix = f"eval.{rolled.evaluator}.run"
    pairs: list[tuple[str, Value]] = []
    if rolled.mean is not None and rolled.lowest is not None:
        pairs += [(f"{prefix}.mean", _double(rolled.mean)), (f"{prefix}.min", _double(rolled.lowest))]
    if rolled.all_passed is not None:
        pairs.append((f"{prefix}.all_passed", rolled.all_passed))
    if rolled.critical_passed is not None:
        pairs.append((f"{prefix}.critical_passed", rolled.critical_passed))
    return [*pairs, (f"{prefix}.judged", rolled.judged), (f"{prefix}.unscored", rolled.unscored)]


def _result_attributes(verdict: Verdict) -> list[tuple[str, Value]]:
    pairs: list[tuple[str, Value]] = [("gen_ai.evaluation.name", verdict.evaluator)]
    if verdict.score is not None:
        pairs.append(("gen_ai.evaluation.score.value", _double(verdict.score)))
    if verdict.label is not None:
        pairs.append(("gen_ai.evaluation.score.label", verdict.label))
    return pairs


def _pair(key: str, value: Value) -> KeyValue:
    return KeyValue(key=key, value=_any(value))


def _any(value: Value) -> AnyValue:
    match value:
        case bool():
            return AnyValue(bool_value=value)
        case int():
            return AnyValue(int_value=value)
        case float():
            return AnyValue(double_value=value)
        case str():
            return AnyValue(string_value=value)
        case _:
            return AnyValue(array_value=ArrayValue(values=[AnyValue(string_value=item) for item in value]))


def _double(number: float) -> float:
    # An int would be written as one, and backends would give the attribute two types.
    return round(float(number), 4)


def _short(text: str) -> str:
    encoded = _clean(text).encode()
    if len(encoded) <= EXPLANATION_BYTES:
        return encoded.decode()
    ellipsis = "…"
    return encoded[: EXPLANATION_BYTES - len(ellipsis.encode())].decode(errors="ignore").rstrip() + ellipsis


def _clean(text: str) -> str:
    # Protobuf strings can't hold lone surrogates, and some backends' databases can't hold NUL.
    return text.encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")


SCOPE = InstrumentationScope(name=SCOPE_NAME, version=version("spanjudge")).SerializeToString()


def late_mark() -> bytes:
    """What is appended to a span that came when its run had already been judged: `eval.late` = true."""
    return Span(attributes=[_pair("eval.late", True)]).SerializeToString()
