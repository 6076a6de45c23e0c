"""What is written on to spans, proven on bytes: the right keys with the right values, and nothing else changed."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from evaluators.issues import IssueCode, Severity
from evaluators.names import require_name
from evaluators.verdict import CallVerdict, Issue, Level, Method, Status, Verdict, issue
from processors.verdicts.roll_ups import RollUp
from processors.verdicts.scores import (
    EXPLANATION_BYTES,
    MAX_SPAN_EVENTS,
    Emission,
    Target,
    evaluation_span,
    is_taken,
    tail,
)

PLAIN = Emission()
TARGET = Target(trace_id=b"t" * 16, span_id=b"s" * 8, end_unix_nano=1_700_000_000_000_000_000, resource=b"\x0a\x00")


def scored(**changed: object) -> Verdict:
    fields: dict[str, object] = {
        "evaluator": "tool_invocation",
        "level": Level.SPAN,
        "status": Status.OK,
        "score": 0.5,
        "label": "incorrect",
        "passed": False,
        "explanation": "days must be a number.",
        "issues": (issue(IssueCode.WRONG_TYPE, "days"), issue(IssueCode.LEAK, "key")),
        "calls": (CallVerdict(call_id="a", label="correct"), CallVerdict(call_id="b", label="incorrect")),
        "method": Method.JUDGE,
        "confidence": 0.9,
        "revision": "abc123",
        "model": "gpt-x",
    }
    return Verdict(**{**fields, **changed})  # type: ignore[arg-type]


def unscored(status: Status = Status.MISSING_INPUT) -> Verdict:
    return Verdict(evaluator="tool_selection", level=Level.SPAN, status=status, explanation="no tools", revision="r")


def attributes(serialised: bytes) -> dict[str, object]:
    def plain(value: AnyValue) -> object:
        kind = value.WhichOneof("value")
        return [plain(item) for item in value.array_value.values] if kind == "array_value" else getattr(value, kind)

    return {pair.key: plain(pair.value) for pair in Span.FromString(serialised).attributes}


def test_a_verdict_is_written_under_the_name_of_its_evaluator() -> None:
    assert attributes(tail([scored()], 0, PLAIN)) == {
        "eval.tool_invocation.score": 0.5,
        "eval.tool_invocation.label": "incorrect",
        "eval.tool_invocation.passed": False,
        "eval.tool_invocation.explanation": "days must be a number.",
        "eval.tool_invocation.method": "judge",
        "eval.tool_invocation.confidence": 0.9,
        "eval.tool_invocation.issue": "leak",
        "eval.tool_invocation.issues": ["wrong_type", "leak"],
        "eval.tool_invocation.calls_judged": 2,
        "eval.tool_invocation.calls_failed": 1,
        "eval.tool_invocation.revision": "abc123",
        "eval.tool_invocation.model": "gpt-x",
    }


def test_the_trace_of_a_judge_s_own_request_is_named_where_there_is_one() -> None:
    written = attributes(tail([scored(judge_trace_id="0af7651916cd43dd8448eb211c80319c")], 0, PLAIN))
    assert written["eval.tool_invocation.judge_trace_id"] == "0af7651916cd43dd8448eb211c80319c"


def test_what_there_is_not_is_not_written() -> None:
    bare = scored(explanation="", issues=(), calls=(), confidence=None, model=None, method=Method.RULE)
    assert set(attributes(tail([bare], 0, PLAIN))) == {
        f"eval.tool_invocation.{name}" for name in ("score", "label", "passed", "method", "revision")
    }


def test_a_suspicion_is_no_issue_of_a_scored_span() -> None:
    suspicion = issue(IssueCode.UNGROUNDED_VALUE, "4471", conclusive=False)
    assert not {key for key in attributes(tail([scored(issues=(suspicion,))], 0, PLAIN)) if "issue" in key}


def test_a_code_that_was_found_twice_is_listed_once() -> None:
    twice = (issue(IssueCode.PATTERN, "a"), issue(IssueCode.PATTERN, "b"))
    assert attributes(tail([scored(issues=twice)], 0, PLAIN))["eval.tool_invocation.issues"] == ["pattern"]


def test_calls_with_labels_of_another_kind_are_not_counted_as_passed_or_failed() -> None:
    typed = scored(calls=(CallVerdict(call_id="a", label="redundant"), CallVerdict(call_id="b", label=None)))
    assert not {key for key in attributes(tail([typed], 0, PLAIN)) if ".calls_" in key}


def test_scores_have_four_decimals_and_are_always_doubles() -> None:
    written = attributes(tail([scored(score=1 / 3), scored(evaluator="a", score=1, passed=True)], 0, PLAIN))
    assert written["eval.tool_invocation.score"] == 0.3333
    assert isinstance(written["eval.a.score"], float)


@pytest.mark.parametrize("confidence", [math.nan, math.inf])
def test_a_confidence_that_is_no_number_is_not_written(confidence: float) -> None:
    assert "eval.tool_invocation.confidence" not in attributes(tail([scored(confidence=confidence)], 0, PLAIN))


@pytest.mark.parametrize("text", ["é" * 5000, "a" * 5000, "漢" * 5000, "🜁" * 5000, "word " * 5000])
def test_a_long_explanation_is_cut_between_characters(text: str) -> None:
    written = attributes(tail([scored(explanation=text)], 0, PLAIN))["eval.tool_invocation.explanation"]
    assert isinstance(written, str)
    assert EXPLANATION_BYTES - 8 <= len(written.encode()) <= EXPLANATION_BYTES
    assert written.endswith("…")
    assert text.startswith(written[:-1])


def test_text_that_no_backend_can_store_is_made_storable() -> None:
    written = attributes(tail([scored(explanation="a\ud800b\0c")], 0, PLAIN))
    assert written["eval.tool_invocation.explanation"] == "a?b\N{REPLACEMENT CHARACTER}c"


def test_an_unscored_verdict_leaves_nothing() -> None:
    assert tail([unscored()], 0, PLAIN) == b""


def test_an_unscored_verdict_can_be_shown_with_its_reason_and_has_no_score_even_then() -> None:
    assert attributes(tail([unscored()], 0, Emission(emit_unscored=True))) == {
        "eval.tool_selection.label": "unscored",
        "eval.tool_selection.status": "missing_input",
        "eval.tool_selection.explanation": "no tools",
    }


def test_a_roll_up_stands_under_run() -> None:
    rolled = RollUp(evaluator="a", judged=3, unscored=1, mean=2 / 3, lowest=0.0, all_passed=False)
    assert attributes(tail([], 0, PLAIN, [rolled])) == {
        "eval.a.run.mean": 0.6667,
        "eval.a.run.min": 0.0,
        "eval.a.run.all_passed": False,
        "eval.a.run.judged": 3,
        "eval.a.run.unscored": 1,
    }


def test_a_roll_up_of_nothing_claims_nothing() -> None:
    assert attributes(tail([], 0, PLAIN, [RollUp(evaluator="a", judged=0, unscored=2)])) == {
        "eval.a.run.judged": 0,
        "eval.a.run.unscored": 2,
    }


def test_events_are_added_on_request_one_per_score_and_without_explanation() -> None:
    verdicts = [scored(evaluator=f"e{n}") for n in range(MAX_SPAN_EVENTS + 3)] + [unscored()]
    events = Span.FromString(tail(verdicts, 42, Emission(span_events=True, emit_unscored=True))).events
    assert len(events) == MAX_SPAN_EVENTS
    assert {(event.name, event.time_unix_nano) for event in events} == {("gen_ai.evaluation.result", 42)}
    first = {pair.key: pair.value for pair in events[0].attributes}
    assert set(first) == {"gen_ai.evaluation.name", "gen_ai.evaluation.score.value", "gen_ai.evaluation.score.label"}
    assert first["gen_ai.evaluation.name"].string_value == "e0"


def test_without_the_option_there_are_no_events() -> None:
    assert not Span.FromString(tail([scored()], 42, PLAIN)).events


# --- byte identity

texts = st.text(st.characters(codec="utf-8"), max_size=30)
spans = st.builds(
    Span,
    trace_id=st.binary(min_size=16, max_size=16),
    span_id=st.binary(min_size=8, max_size=8),
    name=texts,
    kind=st.sampled_from([0, 1, 2, 3, 4, 5]),
    start_time_unix_nano=st.integers(0, 2**64 - 1),
    attributes=st.lists(st.builds(KeyValue, key=texts, value=st.builds(AnyValue, string_value=texts)), max_size=4),
    links=st.lists(st.builds(Span.Link, trace_state=texts), max_size=2),
    dropped_attributes_count=st.integers(0, 2**32 - 1),
)


@st.composite
def unknown_fields(draw: st.DrawFn) -> bytes:
    """A length-delimited field of a number that no OTLP span has."""
    payload = draw(st.binary(max_size=40))
    number = draw(st.integers(100, 15000))
    tag, written = number << 3 | 2, bytearray()
    while tag:
        written.append(tag & 0x7F | (0x80 if tag > 0x7F else 0))
        tag >>= 7
    return bytes(written) + bytes([len(payload)]) + payload


@given(spans, st.lists(unknown_fields(), max_size=3))
def test_a_span_with_scores_is_that_span_and_its_scores(span: Span, unknown: list[bytes]) -> None:
    before = span.SerializeToString() + b"".join(unknown)
    added = tail([scored()], 7, Emission(span_events=True), [RollUp(evaluator="a", judged=0, unscored=1)])
    after = before + added
    read_before, read_after = Span.FromString(before), Span.FromString(after)
    appended = len(read_after.attributes) - len(read_before.attributes)
    assert list(read_after.attributes)[:-appended] == list(read_before.attributes)
    assert all(pair.key.startswith("eval.") for pair in list(read_after.attributes)[-appended:])
    assert len(read_after.events) == len(read_before.events) + 1
    del read_after.attributes[-appended:]
    del read_after.events[-1:]
    # Unknown fields are part of the comparison: protobuf keeps and re-emits them.
    assert read_after.SerializeToString(deterministic=True) == read_before.SerializeToString(deterministic=True)


# --- evaluation spans


def test_an_evaluation_span_is_a_child_of_the_judged_span_that_takes_no_time() -> None:
    carrier = evaluation_span(TARGET, scored())
    span = Span.FromString(carrier.span)
    assert (span.trace_id, span.parent_span_id, span.span_id) == (b"t" * 16, b"s" * 8, carrier.span_id)
    assert [(link.trace_id, link.span_id) for link in span.links] == [(b"t" * 16, b"s" * 8)]
    assert span.start_time_unix_nano == span.end_time_unix_nano == TARGET.end_unix_nano
    assert (span.name, span.kind) == ("evaluation tool_invocation", Span.SPAN_KIND_INTERNAL)
    assert carrier.resource == TARGET.resource
    assert InstrumentationScope.FromString(carrier.scope).name == "spanjudge"


def test_an_evaluation_span_says_it_in_both_vocabularies() -> None:
    said = attributes(evaluation_span(TARGET, scored()).span)
    assert said["openinference.span.kind"] == "EVALUATOR"
    assert said["gen_ai.operation.name"] == "evaluation"
    assert said["gen_ai.evaluation.name"] == "tool_invocation"
    assert said["gen_ai.evaluation.score.value"] == said["eval.tool_invocation.score"] == 0.5
    assert said["gen_ai.evaluation.score.label"] == said["eval.tool_invocation.label"] == "incorrect"
    assert said["gen_ai.evaluation.explanation"] == said["eval.tool_invocation.explanation"]
    on_the_span = attributes(tail([scored()], 0, PLAIN))
    assert {key: said.get(key) for key in on_the_span} == on_the_span


@pytest.mark.parametrize(("status", "error_type"), [(Status.JUDGE_ERROR, "judge_error"), (Status.NOT_APPLICABLE, None)])
def test_an_evaluation_span_without_a_score_has_none_in_any_vocabulary(status: Status, error_type: str | None) -> None:
    said = attributes(evaluation_span(TARGET, unscored(status)).span)
    assert said["eval.tool_selection.status"] == status
    assert said.get("error.type") == error_type
    assert not {key for key in said if "score." in key or key.endswith(".score")}


def test_the_same_verdict_is_the_same_span_and_another_is_not() -> None:
    ids = {
        evaluation_span(target, verdict, sequence).span_id
        for target in (TARGET, Target(trace_id=b"t" * 16, span_id=b"u" * 8, end_unix_nano=0, resource=b""))
        for verdict in (scored(), scored(revision="other"), scored(evaluator="other"))
        for sequence in (0, 1)
    }
    assert len(ids) == 12
    assert evaluation_span(TARGET, scored()) == evaluation_span(TARGET, scored())


# --- names


def test_a_span_that_came_with_a_score_is_recognised_by_its_whole_name() -> None:
    came = Target(
        trace_id=b"",
        span_id=b"",
        end_unix_nano=0,
        resource=b"",
        attribute_keys=["eval.tool_invocation.label", "eval.x"],
    )
    assert is_taken(came, "tool_invocation")
    assert not is_taken(came, "tool")
    assert not is_taken(came, "x")


@pytest.mark.parametrize("name", ["tool_selection", "a", "v2"])
def test_plain_names_are_taken(name: str) -> None:
    require_name(name)


def test_no_key_is_ever_the_parent_of_another() -> None:
    everything = attributes(
        tail(
            [scored(), unscored()],
            0,
            Emission(emit_unscored=True),
            [RollUp(evaluator="tool_invocation", judged=1, unscored=0, mean=1.0, lowest=1.0, all_passed=True)],
        )
    )
    assert not {key for key in everything for other in everything if other.startswith(f"{key}.")}


def test_severities_decide_which_issue_is_named_first() -> None:
    found = (
        Issue(code=IssueCode.NOT_RETRIED, detail="", severity=Severity.MINOR),
        Issue(code=IssueCode.WRONG_TYPE, detail="", severity=Severity.MAJOR),
    )
    assert attributes(tail([scored(issues=found)], 0, PLAIN))["eval.tool_invocation.issue"] == "wrong_type"
