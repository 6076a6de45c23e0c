"""Admission: what is judged, and about which of it a judge is asked."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from pydantic import ValidationError

from evaluators.cases import CallsCase, Case, DecisionCase, ResponseCase, Run, RunCase, ToolCall, ToolResult, Turn
from evaluators.evaluator import Screening
from evaluators.issues import IssueCode
from evaluators.verdict import Status, issue
from processors.admission import Admission, Decision, Subject, sampled
from processors.admission_settings import AdmissionSettings
from processors.otlp import Span, StatusCode

OPEN = Screening(status=Status.NEEDS_JUDGE)
SUSPECTED = Screening(status=Status.NEEDS_JUDGE, issues=(issue(IssueCode.WRONG_VALUE, "odd", conclusive=False),))
FINE = ToolCall(id="a", name="look_up", result=ToolResult(content="42"))
BROKEN = ToolCall(id="b", name="book", result=ToolResult(error="timed out"))


def admission(**settings: Any) -> Admission:
    return Admission(AdmissionSettings.model_validate(settings))


def run_of(*calls: ToolCall, agent: str | None = "planner", aborted: bool = False, error: str | None = None) -> Run:
    return Run(turns=(Turn(index=0, calls=calls, agent=agent, error=error),), aborted=aborted)


def subject(case: Case | None = None, *, status: StatusCode = StatusCode.UNSET, **attributes: Any) -> Subject:
    span = Span(
        trace_id="t",
        span_id="s",
        status=status,
        attributes=attributes,
        resource={"service.name": "shop-eu", "deployment.environment.name": "prod", "canary": True, "port": 8080},
    )
    return Subject(case or RunCase(run=run_of(FINE)), span)


@pytest.mark.parametrize(
    ("described", "matches"),
    [
        ({"service": "shop-eu"}, True),
        ({"service": "shop-*"}, True),
        ({"service": ["billing", "shop-??"]}, True),
        ({"service": "shop"}, False),
        ({"service": "SHOP-EU"}, False),
        ({"agent": "plan*"}, True),
        ({"agent": "writer"}, False),
        ({"tool": "look_up"}, True),
        ({"tool": "book"}, False),
        ({"attributes": {"deployment.environment.name": "prod"}}, True),
        ({"attributes": {"tenant": ["gold", "silver"]}}, True),
        ({"attributes": {"tenant": "bronze"}}, False),
        ({"attributes": {"nowhere": "*"}}, False),
        ({"attributes": {"canary": True}}, True),
        ({"attributes": {"port": 8080}}, True),
        ({"status": "ok"}, True),
        ({"status": "error"}, False),
        ({"service": "shop-eu", "tool": "book"}, False),
        ({"service": "shop-eu", "tool": "look_up", "status": "ok"}, True),
    ],
)
def test_a_filter_describes_what_all_its_keys_describe(described: dict[str, Any], matches: bool) -> None:
    one = subject(tenant="gold")
    assert (admission(include=[described]).excluded("x", one) is None) is matches
    assert (admission(exclude=[described]).excluded("x", one) is not None) is matches


def test_without_filters_everything_is_judged() -> None:
    assert admission().excluded("x", subject()) is None


def test_one_of_several_inclusions_is_enough_and_an_exclusion_wins() -> None:
    settings = {"include": [{"service": "other"}, {"service": "shop-eu"}], "exclude": [{"tool": "book"}]}
    assert admission(**settings).excluded("x", subject()) is None
    assert admission(**settings).excluded("x", subject(RunCase(run=run_of(BROKEN)))) is not None


def test_a_step_is_looked_at_by_its_own_agent_and_tools() -> None:
    run = Run(turns=(Turn(index=0, calls=(FINE,), agent="planner"), Turn(index=1, calls=(BROKEN,), agent="writer")))
    by_tool, by_agent = admission(include=[{"tool": "book"}]), admission(include=[{"agent": "writer"}])
    assert by_tool.excluded("x", subject(DecisionCase(run=run, turn=run.turns[0]))) is not None
    assert by_tool.excluded("x", subject(CallsCase(run=run, calls=(BROKEN,)))) is None
    assert by_agent.excluded("x", subject(ResponseCase(run=run, calls=(FINE,), turn=run.turns[1]))) is None
    assert by_agent.excluded("x", subject(DecisionCase(run=run, turn=run.turns[0]))) is not None
    assert by_agent.excluded("x", subject(RunCase(run=run))) is None


@pytest.mark.parametrize(
    ("case", "status"),
    [
        (RunCase(run=run_of(FINE, BROKEN)), StatusCode.UNSET),
        (RunCase(run=run_of(aborted=True)), StatusCode.UNSET),
        (RunCase(run=run_of(error="429")), StatusCode.UNSET),
        (RunCase(run=run_of(FINE)), StatusCode.ERROR),
        (CallsCase(run=run_of(BROKEN), calls=(BROKEN,)), StatusCode.UNSET),
    ],
)
def test_what_failed_is_asked_about_whatever_the_sample(case: Case, status: StatusCode) -> None:
    failed = subject(case, status=status)
    assert admission(sampling_percentage=0).declined("x", failed, OPEN, "trace") is None
    assert admission(sampling_percentage=0, always=[]).declined("x", failed, OPEN, "trace") is not None


def test_what_rules_suspect_is_asked_about_whatever_the_sample() -> None:
    assert admission(sampling_percentage=0).declined("x", subject(), SUSPECTED, "trace") is None
    assert admission(sampling_percentage=0).declined("x", subject(), OPEN, "trace") is not None
    assert admission(sampling_percentage=0, always=["errors"]).declined("x", subject(), SUSPECTED, "trace") is not None


def test_a_step_of_a_broken_off_run_is_no_error_itself() -> None:
    run = run_of(FINE, aborted=True)
    case = DecisionCase(run=run, turn=run.turns[0])
    assert admission(sampling_percentage=0).declined("x", subject(case), OPEN, "trace") is not None


def test_a_smaller_sample_is_a_part_of_every_larger_one() -> None:
    keys = [f"trace-{number}" for number in range(2_000)]
    samples = [{key for key in keys if sampled(key, percentage)} for percentage in (0, 1, 10, 50, 100)]
    assert all(smaller <= larger for smaller, larger in pairwise(samples))
    assert not samples[0]
    assert len(samples[-1]) == len(keys)
    assert 120 < len(samples[2]) < 280


def test_the_sample_does_not_follow_the_bits_by_which_senders_sample() -> None:
    # A sender that keeps one trace in ten by the last bytes of their ids leaves only those with high ones.
    kept = [f"{number:018x}{(1 << 56) - 1 - number:014x}" for number in range(2_000)]
    assert 120 < sum(sampled(trace_id, 10) for trace_id in kept) < 280


def test_evaluators_may_differ_and_keep_what_they_do_not_mention() -> None:
    one = admission(
        sampling_percentage=0,
        exclude=[{"service": "billing"}],
        evaluators={"task_completion": {"sampling_percentage": 100}, "tool_selection": {"exclude": []}},
    )
    assert one.declined("task_completion", subject(), OPEN, "trace") is None
    assert one.declined("tool_selection", subject(), OPEN, "trace") is not None
    elsewhere = Subject(
        RunCase(run=run_of(FINE)), Span(trace_id="t", span_id="s", resource={"service.name": "billing"})
    )
    assert one.excluded("task_completion", elsewhere) is not None
    assert one.excluded("tool_selection", elsewhere) is None


def test_every_decision_is_counted_once() -> None:
    one = admission(sampling_percentage=0, exclude=[{"tool": "book"}])
    one.excluded("x", subject(RunCase(run=run_of(BROKEN))))
    one.declined("x", subject(), OPEN, "trace")
    one.declined("x", subject(), SUSPECTED, "trace")
    one.declined("y", subject(status=StatusCode.ERROR), OPEN, "trace")
    assert one.take_counts() == {
        ("x", Decision.FILTERED): 1,
        ("x", Decision.SAMPLED_OUT): 1,
        ("x", Decision.SUSPICION): 1,
        ("y", Decision.ERROR): 1,
    }
    assert not one.take_counts()


@pytest.mark.parametrize(
    "settings",
    [
        {"sampling_percentage": 101},
        {"sampling_percentage": -1},
        {"always": ["everything"]},
        {"include": [{}]},
        {"include": [{"services": "shop"}]},
        {"evaluators": {"x": {"sampling": 3}}},
    ],
)
def test_settings_that_say_nothing_or_something_unknown_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        AdmissionSettings.model_validate(settings)
