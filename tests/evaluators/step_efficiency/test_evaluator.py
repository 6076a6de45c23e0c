"""From labels to the verdict, with and without a judge."""

from dataclasses import replace
from typing import Any

import pytest

from evaluators.cases import RunCase, ToolCall
from evaluators.issues import IssueCode
from evaluators.judge.question import JudgeAnswer, JudgeFailure, call_name
from evaluators.step_efficiency import StepEfficiency
from evaluators.step_efficiency.answer import StepEfficiencyAnswer
from evaluators.verdict import Method, Status, Usage, Verdict
from tests.evaluators.runs import call, run_of

EVALUATOR = StepEfficiency()


def look(id: str, **arguments: Any) -> ToolCall:
    return call("get_order", arguments or {"order_id": "W1"}, {"order_id": "W1", "total": 99}, id=id, ref=f"span-{id}")


def by_rules(case: RunCase) -> Verdict:
    return EVALUATOR.conclude_by_rules(EVALUATOR.screen(case))


def test_the_score_is_the_share_of_calls_that_were_not_wasted() -> None:
    other = call("read_file", {"path": "/README"}, "text", id="x")
    verdict = by_rules(run_of(look("a"), look("b"), other, look("c"), answer="99"))
    assert (verdict.status, verdict.score, verdict.label) == (Status.OK, 0.5, "fail")
    assert {(one.code, one.call_id, one.ref) for one in verdict.issues} == {
        (IssueCode.REDUNDANT_CALL, "b", "span-b"),
        (IssueCode.REDUNDANT_CALL, "c", "span-c"),
    }
    assert verdict.details["redundant_steps"] == [1, 3]
    assert verdict.details["repeated_calls"] == [[0, 1, 3]]


def test_rules_alone_decide_every_run_whose_inputs_are_known() -> None:
    verdict = by_rules(run_of(look("a"), look("b", order_id="W2")))
    assert (verdict.status, verdict.score, verdict.label, verdict.method) == (Status.OK, 1.0, "pass", Method.RULE)


def test_a_duplicated_change_fails_whatever_the_score() -> None:
    pay = [call("pay_invoice", {"id": 1}, "paid", id=f"p{n}") for n in range(2)]
    verdict = by_rules(run_of(*(look(f"o{n}", order_id=n) for n in range(30)), *pay))
    assert verdict.score is not None and verdict.score > 0.9
    assert verdict.passed is False and IssueCode.DUPLICATE_WRITE in {one.code for one in verdict.issues}


@pytest.mark.parametrize(
    ("case", "status"),
    [
        pytest.param(run_of(), Status.NOT_APPLICABLE, id="no calls"),
        pytest.param(run_of(call("transfer_to_x", is_handoff=True)), Status.NOT_APPLICABLE, id="only a hand-off"),
        pytest.param(run_of(missing=("tool_calls",)), Status.MISSING_INPUT, id="calls not captured"),
        pytest.param(run_of(look("a"), user_inputs=None), Status.MISSING_INPUT, id="user input not captured"),
        pytest.param(run_of(ToolCall(id="a", name="t")), Status.MISSING_INPUT, id="arguments not captured"),
    ],
)
def test_what_cannot_be_judged_has_a_status_and_no_score(case: RunCase, status: Status) -> None:
    verdict = by_rules(case)
    assert (verdict.status, verdict.score) == (status, None)


def test_hand_offs_and_output_tools_are_not_counted() -> None:
    verdict = by_rules(run_of(look("a"), call("handoff_to_x", is_handoff=True, id="h"), call("final_answer", id="f")))
    steps = verdict.details["steps"]
    assert isinstance(steps, list) and len(steps) == 1


def test_a_partial_trace_lowers_the_confidence() -> None:
    whole, part = by_rules(run_of(look("a"))), by_rules(run_of(look("a"), partial=True))
    assert whole.confidence is not None and part.confidence is not None and part.confidence < whole.confidence


def test_features_count_what_happened() -> None:
    fail = call("get_order", {"order_id": "W9"}, error="boom", id="f")
    empty = call("list_notes", {}, "[]", id="e", duration_s=3.0)
    case = run_of(look("a"), look("b"), fail, replace(fail, id="g"), empty, answer="99")
    features = by_rules(case).details["features"]
    assert isinstance(features, dict)
    assert features["tool_calls"] == 5 and features["total_steps"] == 6
    assert features["same_tool_same_args_repeats"] == 2
    assert features["unchanged_failed_retries"] == 1 and features["failed_tool_retries"] == 1
    assert features["consecutive_same_tool_runs"] == 1
    assert features["empty_result_ratio"] == pytest.approx(1 / 3, abs=1e-4)
    assert features["duration_share"] == {"list_notes": 1.0}


def test_a_retry_is_one_whatever_was_called_in_between() -> None:
    def fail(id: str) -> ToolCall:
        return call("get_order", {"order_id": "W9"}, error="timed out", id=id)

    case = run_of(fail("a"), call("list_notes", {}, "[]", id="b"), fail("c"), look("d"), answer="99")
    features = by_rules(case).details["features"]
    assert isinstance(features, dict)
    assert features["failed_tool_retries"] == 2 and features["unchanged_failed_retries"] == 1
    assert features["arguments_changed_after_failure"] == 1


def test_features_tell_what_each_tool_cost_and_what_was_read_again() -> None:
    pages = [
        call("read_file", {"path": "/a.py", "from": n}, "text " * 50, id=f"p{n}", duration_s=1.0) for n in range(3)
    ]
    case = run_of(*pages, call("fetch", {"url": "https://x.org"}, "短", id="u", duration_s=1.0))
    features = by_rules(case).details["features"]
    assert isinstance(features, dict)
    assert features["tool_duration_s"] == 4.0
    assert features["duration_share"] == {"read_file": 0.75, "fetch": 0.25}
    shares = features["token_share"]
    assert isinstance(shares, dict) and list(shares) == ["read_file", "fetch"]
    assert sum(float(str(share)) for share in shares.values()) == pytest.approx(1, abs=1e-3)
    read = features["reads_per_resource"]
    assert isinstance(read, list) and isinstance(read[0], dict)
    assert len(read) == 1 and read[0]["reads"] == 3 and "/a.py" not in str(read)


def test_an_uncaptured_duration_is_none_and_not_zero() -> None:
    features = by_rules(run_of(look("a"))).details["features"]
    assert isinstance(features, dict)
    assert (features["tool_duration_s"], features["duration_share"]) == (None, {})


def test_details_tell_arguments_by_fingerprint_only() -> None:
    verdict = by_rules(run_of(look("a", order_id="secret-W1")))
    assert "secret" not in str(verdict.details)


def concluded(case: RunCase, *changes: tuple[str, str, list[str]]) -> Verdict:
    screening = EVALUATOR.screen(case)
    assert screening.status is Status.NEEDS_JUDGE
    content = StepEfficiencyAnswer.model_validate(
        {
            "explanation": "One file was not needed.",
            "relabelled": [{"call_id": c, "type": t, "why": "because", "evidence": e} for c, t, e in changes],
        }
    )
    return EVALUATOR.conclude(case, screening, JudgeAnswer(content=content, model="m"))


def detour() -> RunCase:
    return run_of(look("a"), call("read_file", {"path": "/README"}, "text", id="x"), answer="99")


def test_a_judge_can_find_a_detour_and_needs_evidence_for_it() -> None:
    verdict = concluded(detour(), ("x", "detour", ["span-x"]))
    assert (verdict.score, verdict.label, verdict.method) == (0.5, "fail", Method.JUDGE)
    assert [one.code for one in verdict.issues] == [IssueCode.DETOUR]
    assert verdict.details["detours"] == [1] and "span-x" in verdict.evidence
    assert concluded(detour(), ("x", "detour", [])).score == 1.0


def test_calls_that_a_judge_made_up_are_ignored() -> None:
    assert concluded(detour(), ("zz", "detour", ["span-x"])).score == 1.0


def test_settled_labels_stay() -> None:
    case = run_of(*(look(f"o{n}", order_id=n) for n in range(19)), look("again", order_id=0), answer="99")
    verdict = concluded(case, ("again", "required", ["span-again"]))
    assert verdict.score == 0.95 and [one.call_id for one in verdict.issues] == ["again"]


def test_a_run_that_rules_already_fail_needs_no_judge() -> None:
    assert EVALUATOR.screen(run_of(look("a"), look("b"))).status is Status.OK
    assert EVALUATOR.screen(run_of(look("a"))).status is Status.OK


def test_the_question_shows_labels_and_what_is_settled() -> None:
    case = run_of(*(look(f"o{n}", order_id=n) for n in range(19)), look("again", order_id=0), answer="99")
    question = EVALUATOR.question(case, EVALUATOR.screen(case))
    assert f"{call_name('again')}: redundant (settled)" in question.findings


def test_a_label_that_the_judge_changed_in_two_ways_stays() -> None:
    assert concluded(detour(), ("x", "detour", ["span-x"]), ("x", "required", ["span-x"])).score == 1.0
    assert concluded(detour(), ("x", "detour", ["span-x"]), ("x", "detour", ["span-x"])).score == 0.5


def test_where_a_run_has_no_places_none_is_asked_for() -> None:
    calls = (replace(look("a"), ref=None), call("read_file", {"path": "/README"}, "text", id="x"))
    case = run_of(*calls, answer="99")
    bare = replace(case, run=replace(case.run, ref=None, turns=tuple(replace(t, ref=None) for t in case.run.turns)))
    assert concluded(bare, ("x", "detour", [])).score == 0.5


def test_a_judge_that_fails_costs_confidence_and_not_the_score() -> None:
    case = detour()
    screening = EVALUATOR.screen(case)
    failure = JudgeFailure(
        status=Status.TIMED_OUT, reason="The judge gave no answer.", model="m", usage=Usage(requests=1)
    )
    verdict = EVALUATOR.conclude_failure(screening, failure)
    assert (verdict.status, verdict.score, verdict.method) == (Status.OK, 1.0, Method.RULE)
    assert verdict.explanation.endswith("By rules alone: The judge gave no answer.")
    assert verdict.usage.requests == 1
    judged = concluded(case)
    assert verdict.confidence is not None and judged.confidence is not None
    assert verdict.confidence < judged.confidence
