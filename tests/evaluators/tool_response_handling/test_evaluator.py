"""From a turn to its verdict: what is judged at all, what rules say, and what becomes of a judge's answer."""

from dataclasses import replace
from typing import Any

import pytest

from evaluators.cases import ResponseCase, Run, ToolCall, Turn
from evaluators.issues import IssueCode
from evaluators.judge.question import JudgeAnswer
from evaluators.tool_response_handling import ToolResponseHandling
from evaluators.tool_response_handling.answer import HandledCall, ToolResponseHandlingAnswer
from evaluators.verdict import Method, Status, Verdict
from tests.evaluators.runs import call, response, run_of

WEATHER = {"temperature": 58, "unit": "fahrenheit"}
RIGHT, WRONG = "It is 58°F.", "It is 80°F."
EVALUATOR = ToolResponseHandling()


def by_rules(case: ResponseCase) -> Verdict:
    return EVALUATOR.conclude_by_rules(EVALUATOR.screen(case))


def test_a_fault_that_rules_can_prove_is_incorrect_and_a_good_answer_is_never_called_correct() -> None:
    bad = by_rules(response(WRONG, call("get_weather", {}, WEATHER)))
    assert (bad.status, bad.label, bad.score, bad.method) == (Status.OK, "incorrect", 0.0, Method.RULE)
    assert [(one.call_id, one.label) for one in bad.calls] == [("c1", "incorrect")]
    good = by_rules(response(RIGHT, call("get_weather", {}, WEATHER)))
    assert (good.status, good.label, good.score) == (Status.NEEDS_JUDGE, None, None)


@pytest.mark.parametrize(
    ("case", "status"),
    [
        pytest.param(response(RIGHT, call("transfer_to_x", is_handoff=True)), Status.NOT_APPLICABLE, id="hand-off"),
        pytest.param(response(RIGHT, call("pay", awaiting_approval=True)), Status.NOT_APPLICABLE, id="approval"),
        pytest.param(response(RIGHT, call("get_weather")), Status.MISSING_INPUT, id="result not captured"),
        pytest.param(response(None, call("get_weather", {}, WEATHER)), Status.MISSING_INPUT, id="no later output"),
    ],
)
def test_what_is_not_judged_has_a_status_and_no_score(case: ResponseCase, status: Status) -> None:
    verdict = by_rules(case)
    assert (verdict.status, verdict.score, verdict.label) == (status, None, None)
    assert verdict.explanation


def test_without_a_user_input_nothing_is_judged() -> None:
    case = response(WRONG, call("get_weather", {}, WEATHER))
    assert case.turn is not None
    unknown = replace(case, run=replace(case.run, user_inputs=None), turn=replace(case.turn, context=None))
    assert by_rules(unknown).status is Status.MISSING_INPUT


@pytest.mark.parametrize("name", ["final_answer", "submit_answer"])
def test_what_an_output_tool_is_given_is_the_answer(name: str) -> None:
    delivered = call(name, {"answer": WRONG}, id="c2")
    told = response("", call("get_weather", {}, WEATHER), next_calls=(delivered,))
    assert by_rules(told).label == "incorrect"
    with_notes = replace(delivered, arguments={"answer": WRONG, "confidence": "high"})
    structured = response("", call("get_weather", {}, WEATHER), next_calls=(with_notes,))
    assert by_rules(structured).status is Status.NEEDS_JUDGE


def test_the_runs_answer_is_that_of_its_last_turn_where_the_turns_text_was_not_captured() -> None:
    case = response(None, call("get_weather", {}, WEATHER))
    answered = replace(case, run=replace(case.run, final_answer=WRONG))
    assert by_rules(answered).label == "incorrect"
    further = Turn(index=2, text=None)
    longer = replace(answered, run=replace(answered.run, turns=(*answered.run.turns, further)))
    assert by_rules(longer).status is Status.MISSING_INPUT


def test_an_error_is_not_missed_in_the_answer_if_the_same_call_succeeded_later() -> None:
    failed, again = call("look", {"x": 1}, error="timed out"), call("look", {"x": 1}, WEATHER, id="c2")
    elsewhere = call("look", {"x": 2}, WEATHER, id="c2")

    def codes(*calls: ToolCall) -> set[IssueCode]:
        run = Run(loose_calls=calls, user_inputs=("How warm?",), final_answer=RIGHT)
        return {found.code for found in EVALUATOR.screen(ResponseCase(run=run, calls=calls, turn=None)).issues}

    assert codes(failed, again) == set()
    assert codes(failed, elsewhere) == {IssueCode.ERROR_IGNORED, IssueCode.NOT_RETRIED}
    assert codes(replace(again, id="c0"), failed) == {IssueCode.ERROR_IGNORED, IssueCode.NOT_RETRIED}


def test_a_failed_model_request_has_no_answer_to_judge() -> None:
    case = response(None, call("get_weather", {}, WEATHER))
    assert case.turn is not None
    assert by_rules(replace(case, turn=replace(case.turn, error="500"))).status is Status.NOT_APPLICABLE


def test_results_of_a_run_without_captured_turns_are_judged_by_its_final_answer() -> None:
    made = call("get_weather", {}, WEATHER | {"api_key": "tr0ub4dor7"})
    run = Run(loose_calls=(made,), user_inputs=("How warm is it?",), final_answer="58°F, by the way: tr0ub4dor7.")
    assert by_rules(ResponseCase(run=run, calls=(made,), turn=None)).label == "incorrect"
    unknown = replace(run, final_answer=None)
    assert by_rules(ResponseCase(run=unknown, calls=(made,), turn=None)).status is Status.MISSING_INPUT


def test_a_number_may_come_from_a_prompt_that_was_not_captured() -> None:
    case = response(WRONG, call("get_weather", {}, WEATHER))
    assert case.turn is not None
    verdict = by_rules(replace(case, turn=replace(case.turn, context=None)))
    assert verdict.status is Status.NEEDS_JUDGE and not any(one.conclusive for one in verdict.issues)


def test_results_that_no_turn_saw_are_not_judged_by_another_turns_text() -> None:
    made = call("get_weather", {}, WEATHER)
    run = Run(turns=(Turn(index=0, calls=(made,)),), user_inputs=("How warm is it?",), final_answer=WRONG)
    assert by_rules(ResponseCase(run=run, calls=(made,), turn=None)).status is Status.MISSING_INPUT


def test_a_cut_stream_is_not_blamed_for_half_a_number() -> None:
    case = response("It costs $1,2", call("get_price", {}, {"price_usd": 1299.5}))
    assert case.turn is not None
    assert by_rules(replace(case, turn=replace(case.turn, partial=True))).status is Status.NEEDS_JUDGE


@pytest.mark.parametrize(
    ("answer", "codes"),
    [
        ("There are no flights on that day.", {IssueCode.ERROR_MISREPORTED, IssueCode.NOT_RETRIED}),
        ("那天没有航班。", {IssueCode.ERROR_MISREPORTED, IssueCode.NOT_RETRIED}),
        ("All is well, enjoy your flight!", {IssueCode.ERROR_IGNORED, IssueCode.NOT_RETRIED}),
        ("The search failed, please try later.", {IssueCode.NOT_RETRIED}),
        ("抱歉,查询失败。", {IssueCode.NOT_RETRIED}),
    ],
)
def test_how_an_error_is_told_is_a_matter_for_the_judge(answer: str, codes: set[IssueCode]) -> None:
    result = '{"error": {"code": "rate_limit", "message": "429 Too Many Requests"}}'
    verdict = by_rules(response(answer, call("search_flights", {}, result)))
    assert verdict.status is Status.NEEDS_JUDGE
    assert {found.code for found in verdict.issues} == codes
    assert not any(found.conclusive for found in verdict.issues)


def test_a_retry_in_a_later_turn_is_one() -> None:
    later = (Turn(index=2, calls=(call("search_flights", id="c2"),)),)
    case = response("It failed, I try again.", call("search_flights", {}, error="timed out"), later=later)
    assert by_rules(case).issues == ()


def test_the_question_names_the_turn_the_calls_and_the_suspicions() -> None:
    case = response("Order 12345678 is on its way.", call("get_order", {"id": 1}, {"order": 87654321}))
    question = EVALUATOR.question(case, EVALUATOR.screen(case))
    assert question.call_ids == ("c1",)
    assert question.subject == "turn 2"
    assert any("12345678" in finding for finding in question.findings)


def answer(*handled: tuple[str, str, list[str]]) -> JudgeAnswer:
    calls: list[Any] = [
        HandledCall.model_validate({"call_id": id, "explanation": "because", "label": label, "issues": issues})
        for id, label, issues in handled
    ]
    return JudgeAnswer(content=ToolResponseHandlingAnswer(calls=calls), model="m")


def two() -> ResponseCase:
    return response(RIGHT, call("get_weather", {}, WEATHER), call("get_time", {}, {"hour": 9}, id="c2"))


def concluded(*handled: tuple[str, str, list[str]]) -> Verdict:
    case = two()
    return EVALUATOR.conclude(case, EVALUATOR.screen(case), answer(*handled))


def test_the_score_is_the_share_of_calls_handled_correctly() -> None:
    verdict = concluded(("c1", "correct", []), ("c2", "incorrect", ["meaning_reversed"]))
    assert (verdict.score, verdict.label, verdict.method) == (0.5, "incorrect", Method.JUDGE)
    assert [one.label for one in verdict.calls] == ["correct", "incorrect"]
    assert [(one.code, one.call_id) for one in verdict.issues] == [(IssueCode.MEANING_REVERSED, "c2")]


def test_all_correct_is_correct() -> None:
    verdict = concluded(("c1", "correct", []), ("c2", "correct", []))
    assert (verdict.score, verdict.label, verdict.passed, verdict.issues) == (1.0, "correct", True, ())


@pytest.mark.parametrize("label", ["correct", "incorrect"])
def test_an_honest_failure_that_nobody_retried_is_correct_with_a_minor_issue(label: str) -> None:
    verdict = concluded(("c1", label, ["not_retried"]), ("c2", "correct", []))
    assert (verdict.label, [one.code for one in verdict.issues]) == ("correct", [IssueCode.NOT_RETRIED])


@pytest.mark.parametrize(("failures", "codes"), [(1, ["not_retried"]), (2, [])])
def test_what_failed_again_when_it_was_retried_was_retried(failures: int, codes: list[str]) -> None:
    calls = [call("get_rate", {"of": "EUR"}, error="timed out", id=f"c{at}") for at in range(failures)]
    case = run_of(*calls, answer="Sorry, the service timed out.").run
    turn = replace(case.turns[-1], answers=(calls[-1].id,))
    given = ResponseCase(run=replace(case, turns=(*case.turns[:-1], turn)), calls=(calls[-1],), turn=turn)
    assert [str(one.code) for one in EVALUATOR.screen(given).issues] == codes


@pytest.mark.parametrize(("cut", "codes"), [(False, ["misread_value"]), (True, [])])
def test_what_may_stand_where_a_result_was_cut_is_not_even_suspected(cut: bool, codes: list[str]) -> None:
    given = response("It costs $155.", call("get_price", {"of": "x"}, {"price": 133, "currency": "USD"}, truncated=cut))
    assert [str(one.code) for one in EVALUATOR.screen(given).issues] == codes


def test_a_leak_fails_whatever_the_score() -> None:
    verdict = concluded(("c1", "incorrect", ["leak"]), ("c2", "correct", []))
    assert verdict.passed is False


def test_a_result_that_is_called_well_handled_with_a_fault_named_is_no_answer() -> None:
    with pytest.raises(ValueError, match="label is correct, but issues names a fault"):
        answer(("c1", "correct", ["leak"]))


def test_an_unknown_code_is_junk() -> None:
    with pytest.raises(ValueError, match="issues"):
        answer(("c1", "incorrect", ["ugly"]))


def test_suspicions_that_the_judge_does_not_share_are_gone() -> None:
    case = response("Order 12345678 is on its way.", call("get_order", {"id": 1}, {"order": 87654321}))
    screening = EVALUATOR.screen(case)
    assert screening.issues
    assert EVALUATOR.conclude(case, screening, answer(("c1", "correct", []))).issues == ()


def test_a_hostile_tool_name_and_id_are_only_text() -> None:
    made = ToolCall(id="\x00", name="x" * 10_000, arguments="\ud800", result=call("t", {}, WEATHER).result)
    assert by_rules(response(WRONG, made)).status in (Status.OK, Status.NEEDS_JUDGE)
