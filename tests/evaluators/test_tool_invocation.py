"""tool_invocation: what rules decide, suspect and leave alone, and what becomes of a judge's answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from evaluators.cases import CallsCase, Message, Role, Run, Tool, ToolCall, ToolResult, Turn
from evaluators.evaluator import Screening
from evaluators.judge.question import JudgeAnswer
from evaluators.registry import EVALUATORS
from evaluators.tool_invocation import ToolInvocation, ToolInvocationSettings
from evaluators.tool_invocation.answer import InvocationAnswer
from evaluators.verdict import Status, Verdict

FLIGHTS = Tool(
    name="search_flights",
    description="Finds flights.",
    parameters={
        "type": "object",
        "properties": {
            "origin": {"type": "string", "description": "IATA code of the airport"},
            "destination": {"type": "string", "description": "IATA code of the airport"},
            "date": {"type": "string", "description": "YYYY-MM-DD"},
        },
        "required": ["origin", "destination", "date"],
    },
)
WEATHER = Tool(
    name="get_weather",
    parameters={
        "type": "object",
        "properties": {"city": {"type": "string"}, "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]}},
        "required": ["city"],
    },
)
RIGHT: dict[str, Any] = {"origin": "SFO", "destination": "SEA", "date": "2026-03-20"}
SAID = "Flights from SFO to SEA on 2026-03-20, and the weather in Lima."


def call(arguments: Any, *, id: str = "call_1", name: str = "search_flights", **more: Any) -> ToolCall:
    return ToolCall(id=id, name=name, arguments=arguments, **more)


def case(
    *calls: ToolCall, tools: tuple[Tool, ...] | None = (FLIGHTS, WEATHER), said: str | None = SAID, **turn: Any
) -> CallsCase:
    context = (Message(role=Role.USER, text=said),) if said is not None else ()
    decided = Turn(index=0, calls=calls, context=context, tools=tools, ref="llm", **turn)
    run = Run(turns=(decided,), user_inputs=(said,) if said is not None else None)
    return CallsCase(run=run, calls=calls, turn=decided)


def screen(given: CallsCase) -> Screening:
    return ToolInvocation(ToolInvocationSettings()).screen(given)


def by_rules(given: CallsCase) -> Verdict:
    evaluator = ToolInvocation(ToolInvocationSettings())
    return evaluator.conclude_by_rules(evaluator.screen(given))


def codes(screening: Screening, *, conclusive: bool) -> list[str]:
    return [str(one.code) for one in screening.issues if one.conclusive is conclusive]


FAILED = ToolResult(error="invalid arguments: date 'tomorrow' does not match YYYY-MM-DD")


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (call({**RIGHT, "max_stops": 0}), "unexpected_argument"),
        (call({"origin": "SFO", "destination": "SEA"}), "missing_argument"),
        (call({**RIGHT, "date": 20260320}), "wrong_type"),
        (call({"city": "Lima", "unit": "kelvin"}, name="get_weather"), "not_in_enum"),
        (call('{"city": "Lima", "unit": ', name="get_weather"), "invalid_json"),
        (call("[1, 2]"), "wrong_type"),
        (call({**RIGHT, "date": "tomorrow"}, result=FAILED), "bad_format"),
        (call({"city": "Lima; card 4111 1111 1111 1111"}, name="get_weather"), "sensitive_value"),
        (call({**RIGHT, "origin": "YOUR_ORIGIN"}), "wrong_value"),
    ],
)
def test_a_conclusive_finding_decides_without_a_judge(wrong: ToolCall, code: str) -> None:
    verdict = by_rules(case(wrong))
    assert (verdict.status, verdict.label, verdict.score) == (Status.OK, "incorrect", 0.0)
    assert code in [str(one.code) for one in verdict.issues if one.conclusive]
    assert verdict.confidence == 1.0
    assert verdict.calls[0].label == "incorrect"


@pytest.mark.parametrize(
    ("doubtful", "code"),
    [
        (call({**RIGHT, "date": "20 March 2026"}), "bad_format"),
        (call({"city": "Vancouver"}, name="get_weather"), "ungrounded_value"),
        (call({**RIGHT}, result=ToolResult(error="flight not found")), "wrong_value"),
        (call({**RIGHT}, result=ToolResult(error="An error occurred while running the tool.")), "wrong_value"),
        (call({**RIGHT, "state": {}}, from_model=False), "unexpected_argument"),
        (call({"input": "SFO to SEA"}, from_model=False), "missing_argument"),
        (call({**RIGHT, "date": 20260320}, from_model=False), "wrong_type"),
        (call('{"city": "Li', name="get_weather", result=ToolResult(content="sunny")), "invalid_json"),
        (call({"origin": "SFO"}, truncated=True), "missing_argument"),
    ],
)
def test_a_suspicion_needs_a_judge(doubtful: ToolCall, code: str) -> None:
    screening = screen(case(doubtful))
    assert screening.status is Status.NEEDS_JUDGE
    assert screening.fallback_score is None
    assert codes(screening, conclusive=True) == []
    assert code in codes(screening, conclusive=False)
    assert by_rules(case(doubtful)).score is None


def test_what_the_tool_s_own_span_lacks_is_missing_all_the_same() -> None:
    verdict = by_rules(case(call({"origin": "SFO"}, from_model=False)))
    assert (verdict.label, {str(one.code) for one in verdict.issues}) == ("incorrect", {"missing_argument"})


@pytest.mark.parametrize(
    "right",
    [
        call(RIGHT),
        call(RIGHT, name="functions.search_flights"),
        call(RIGHT, result=ToolResult(error="503 Service Unavailable")),
        call(RIGHT, result=ToolResult(error="permission denied")),
        call({"city": "Lima", "unit": None}, name="get_weather"),
        call({**RIGHT, "state": None}, from_model=False),
        call('{"city": "Lima"}', name="get_weather"),
    ],
)
def test_a_call_in_which_no_rule_finds_anything_is_right_with_little_confidence(right: ToolCall) -> None:
    verdict = by_rules(case(right))
    assert (verdict.status, verdict.label, verdict.score) == (Status.OK, "correct", 1.0)
    assert verdict.confidence == 0.6
    assert verdict.issues == ()


@pytest.mark.parametrize(
    ("given", "status"),
    [
        (case(call(RIGHT, name="get_train_times")), Status.NOT_APPLICABLE),
        (case(call({}, name="transfer_to_sales")), Status.NOT_APPLICABLE),
        (case(call({}, name="handover", is_handoff=True)), Status.NOT_APPLICABLE),
        (case(call({"q": "x"}, name="web_search")), Status.NOT_APPLICABLE),
        (case(call(RIGHT), error="429"), Status.NOT_APPLICABLE),
        (case(call(None)), Status.MISSING_INPUT),
        (case(call(RIGHT), said=None), Status.MISSING_INPUT),
        (case(call(RIGHT), tools=None), Status.MISSING_INPUT),
        (case(call({"x": 1}, name="f"), tools=(Tool(name="f", description="Does something."),)), Status.MISSING_INPUT),
    ],
)
def test_what_can_not_be_judged_has_a_status_and_no_score(given: CallsCase, status: Status) -> None:
    verdict = by_rules(given)
    assert (verdict.status, verdict.score, verdict.label) == (status, None, None)
    assert verdict.explanation


def test_a_description_of_the_arguments_is_enough_for_a_judge_but_not_for_a_rule() -> None:
    described = Tool(name="f", description="Does it.\n\nArgs:\n    city: the city's name")
    screening = screen(case(call({"city": "Lima"}, name="f"), tools=(described,)))
    assert (screening.status, screening.fallback_score) == (Status.NEEDS_JUDGE, None)


def test_the_tool_s_own_complaint_is_enough_without_a_schema() -> None:
    verdict = by_rules(case(call({"date": "tomorrow"}, result=FAILED), tools=None))
    assert verdict.label == "incorrect"


def test_a_call_whose_turn_was_not_captured_is_checked_against_the_run_s_tools() -> None:
    seen = case(call(RIGHT))
    loose = call({"origin": "SFO"}, id="loose")
    given = CallsCase(run=replace(seen.run, loose_calls=(loose,)), calls=(loose,))
    assert by_rules(given).label == "incorrect"


def test_the_score_of_a_parallel_turn_is_the_share_of_right_calls() -> None:
    right = call(RIGHT, id="call_1")
    wrong = call({"city": 5}, id="call_2", name="get_weather")
    unknown = call({}, id="call_3", name="get_train_times")
    verdict = by_rules(case(right, wrong, unknown))
    assert (verdict.score, verdict.label) == (0.5, "incorrect")
    assert [(one.call_id, one.label) for one in verdict.calls] == [("call_1", "correct"), ("call_2", "incorrect")]


def test_arguments_of_a_turn_that_was_cut_off_prove_nothing() -> None:
    screening = screen(case(call('{"city": "Li', name="get_weather"), partial=True))
    assert codes(screening, conclusive=True) == []
    assert screening.fallback_score is None


def test_tools_that_take_text_may_be_given_text() -> None:
    patch = Tool(name="apply_patch", description="Applies a patch.")
    ask = Tool(name="ask", parameters={"type": "object", "properties": {"input": {"type": "string"}}})
    for tool, text in ((patch, "*** Begin Patch"), (ask, "what is the weather in Lima")):
        assert codes(screen(case(call(text, name=tool.name), tools=(tool,))), conclusive=True) == []


def test_issues_carry_no_secrets() -> None:
    key = "sk-a7Kd93Lm2PqR8sT4vWx1Yz6B0cDe"
    screening = screen(case(call({**RIGHT, "date": key, key: "4111 1111 1111 1111"})))
    told = " ".join(one.detail for one in screening.issues)
    assert told
    assert key not in told
    assert "4111 1111" not in told


# -- with a judge


def answer(*labels: tuple[str, str, list[str]], **more: Any) -> JudgeAnswer:
    calls = [
        {"call_id": call_id, "explanation": f"Because of {call_id}.", "label": label, "issues": issues}
        for call_id, label, issues in labels
    ]
    return JudgeAnswer(content=InvocationAnswer.model_validate({"calls": calls}), model="m", **more)


def judged(given: CallsCase, replied: JudgeAnswer) -> Verdict:
    evaluator = ToolInvocation(ToolInvocationSettings())
    return evaluator.conclude(given, evaluator.screen(given), replied)


TWO = case(
    call(RIGHT, id="call_1"),
    call({"city": "Vancouver"}, id="call_2", name="get_weather"),
    call({}, id="call_3", name="transfer_to_sales"),
)


def test_a_judge_is_asked_about_every_call_that_can_be_judged_and_told_the_suspicions() -> None:
    evaluator = EVALUATORS["tool_invocation"].create()
    question = evaluator.question(TWO, evaluator.screen(TWO))
    assert question.call_ids == ("call_1", "call_2")
    assert len(question.findings) == 1
    assert "ungrounded_value" in question.findings[0]
    assert question.criteria == evaluator.criteria()


def test_a_confirmed_suspicion_becomes_an_issue_and_the_score_is_per_call() -> None:
    verdict = judged(TWO, answer(("call_1", "correct", []), ("call_2", "incorrect", ["ungrounded_value"])))
    assert (verdict.score, verdict.label) == (0.5, "incorrect")
    [found] = verdict.issues
    assert found.conclusive
    assert found.call_id == "call_2"
    assert "Vancouver" in found.detail


@pytest.mark.parametrize(
    ("result", "codes"),
    [
        (ToolResult(content='{"id": "u_1"}'), ["ungrounded_value"]),
        (ToolResult(content='{"id": "u_1", "na', truncated=True), []),
        (ToolResult(content=None), []),
        (None, []),
    ],
)
def test_a_value_is_missed_only_where_all_that_the_model_had_seen_is_known(
    result: ToolResult | None, codes: list[str]
) -> None:
    said = Message(role=Role.USER, text="Show the profile.")
    before = Turn(index=0, calls=(ToolCall(id="c0", name="find", arguments={}, result=result),), context=(said,))
    tool = Tool(name="get_user", parameters={"type": "object", "properties": {"user_id": {"type": "string"}}})
    made = ToolCall(id="c1", name="get_user", arguments={"user_id": "u_99173"})
    turn = Turn(index=1, calls=(made,), context=(said,), tools=(tool,), ref="llm")
    run = Run(turns=(before, turn), user_inputs=("Show the profile.",))
    evaluator = ToolInvocation(ToolInvocationSettings())
    screening = evaluator.screen(CallsCase(run=run, calls=(made,), turn=turn))
    assert [str(one.code) for one in screening.issues] == codes
    assert evaluator.conclude_by_rules(screening).status is Status.NEEDS_JUDGE


def test_where_a_value_comes_from_is_not_asked_of_what_a_framework_put_there() -> None:
    arguments = {"city": "Vancouver", "thread_id": "t-4711"}
    found = screen(case(call(arguments, name="get_weather", from_model=False))).issues
    assert [(str(one.code), "city" in one.detail) for one in found] == [
        ("unexpected_argument", False),
        ("ungrounded_value", True),
    ]


def test_a_rejected_suspicion_is_dropped() -> None:
    assert ToolInvocation().screen(TWO).issues
    verdict = judged(TWO, answer(("call_1", "correct", []), ("call_2", "correct", [])))
    assert (verdict.score, verdict.label, verdict.issues) == (1.0, "correct", ())


def test_a_call_that_is_called_correct_with_a_fault_named_is_no_answer() -> None:
    with pytest.raises(ValidationError, match="label is correct, but issues names a fault"):
        answer(("call_1", "correct", []), ("call_2", "correct", ["wrong_value"]))


def test_a_judge_who_names_no_code_is_taken_at_its_label_and_none_is_made_up() -> None:
    verdict = judged(TWO, answer(("call_1", "incorrect", []), ("call_2", "correct", [])))
    assert (verdict.label, verdict.score, verdict.issues) == ("incorrect", 0.5, ())
    assert verdict.explanation == "Because of call_1."


def test_confidence_falls_when_the_judge_did_not_see_everything() -> None:
    replied = (("call_1", "correct", []), ("call_2", "correct", []))
    whole, cut = judged(TWO, answer(*replied)), judged(TWO, answer(*replied, input_cut=True))
    assert whole.confidence is not None
    assert cut.confidence is not None
    assert cut.confidence < whole.confidence


def test_a_choice_in_other_capitals_that_the_tool_took_is_a_suspicion() -> None:
    arguments = {"city": "Lima", "unit": "Celsius"}
    taken = call(arguments, name="get_weather", result=ToolResult(content='{"temp": 20}'))
    refused = call(arguments, name="get_weather", result=ToolResult(error="unit must be celsius or fahrenheit"))
    assert screen(case(taken)).status is Status.NEEDS_JUDGE
    assert screen(case(refused)).score == 0.0


@pytest.mark.parametrize(
    "branch", [{"type": "object"}, {"type": "object", "properties": {}, "additionalProperties": False}]
)
def test_a_value_that_the_tool_took_breaks_no_schema_that_says_only_object(branch: dict[str, Any]) -> None:
    undescribed = Tool(name="f", parameters={"type": "object", "properties": {"branch": branch}})
    described = Tool(
        name="f",
        parameters={
            "type": "object",
            "properties": {"branch": {"type": "object", "properties": {"name": {"type": "string"}}}},
        },
    )
    taken = call({"branch": "Lima"}, name="f", result=ToolResult(content='{"open": true}'))
    refused = call({"branch": "Lima"}, name="f", result=ToolResult(error="branch must be an object"))
    failed = call({"branch": "Lima"}, name="f", result=ToolResult(error="the branch in Lima is closed"))
    assert not screen(case(taken, tools=(undescribed,))).issues
    assert by_rules(case(taken, tools=(undescribed,))).label == "correct"
    assert "wrong_type" in codes(screen(case(failed, tools=(undescribed,))), conclusive=False)
    assert not codes(screen(case(failed, tools=(undescribed,))), conclusive=True)
    assert screen(case(refused, tools=(undescribed,))).score == 0.0
    assert screen(case(taken, tools=(described,))).score == 0.0


@pytest.mark.parametrize(
    "result",
    [
        ToolResult(error="Error running tool (non-fatal)"),
        ToolResult(content="An error occurred while running the tool. Please try again."),
        ToolResult(content="Error executing tool search_flights"),
        ToolResult(error=""),
    ],
)
def test_a_call_that_failed_without_saying_why_is_never_correct_by_rule(result: ToolResult) -> None:
    failed = screen(case(call(RIGHT, result=result)))
    assert failed.status is Status.NEEDS_JUDGE and failed.fallback_score is None


HIDDEN = ToolResult(content="An error occurred. Please try again.", error="Error details are redacted.")
TOOK = ToolResult(content='{"flights": 3}')
TOMORROW = {**RIGHT, "date": "tomorrow"}


def retried(first: ToolResult | None, arguments: Any, second: ToolResult | None) -> CallsCase:
    """A call for tomorrow, and the tool's next call."""
    given = case(call(TOMORROW, result=first), said="Flights from SFO to SEA tomorrow.")
    return replace(given, later=(call(arguments, id="call_2", result=second),))


def test_a_form_is_wrong_for_certain_if_the_tool_failed_and_took_the_next_call_in_the_form_that_was_asked_for() -> None:
    screening = screen(retried(HIDDEN, RIGHT, TOOK))
    assert codes(screening, conclusive=True) == ["bad_format"]
    assert screening.status is Status.OK
    assert screening.score == 0


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(retried(TOOK, RIGHT, TOOK), id="the tool took it"),
        pytest.param(retried(HIDDEN, TOMORROW, TOOK), id="the tool took it the second time"),
        pytest.param(retried(HIDDEN, {**RIGHT, "date": "Sunday"}, TOOK), id="the tool took another such form"),
        pytest.param(retried(HIDDEN, RIGHT, HIDDEN), id="the tool failed again"),
        pytest.param(retried(HIDDEN, RIGHT, None), id="nobody knows what came of the next call"),
        pytest.param(retried(ToolResult(error="upstream timed out"), RIGHT, TOOK), id="it failed for another reason"),
        pytest.param(replace(retried(HIDDEN, RIGHT, TOOK), later=()), id="there was no next call"),
        pytest.param(
            replace(retried(HIDDEN, RIGHT, TOOK), calls=(call(TOMORROW, result=HIDDEN, truncated=True),)), id="cut"
        ),
    ],
)
def test_what_a_next_call_doesnt_show_stays_a_suspicion(given: CallsCase) -> None:
    screening = screen(given)
    assert "bad_format" in codes(screening, conclusive=False)
    assert not codes(screening, conclusive=True)


def test_values_are_missed_in_what_the_user_said_only_if_that_was_captured() -> None:
    elsewhere = call({"city": "Quito"}, name="get_weather")
    assert "ungrounded_value" in codes(screen(case(elsewhere)), conclusive=False)
    unheard = case(elsewhere, said=None)
    assert screen(unheard).status is Status.MISSING_INPUT
    assert not screen(unheard).issues


def test_json_that_a_framework_found_broken_wasnt_executed() -> None:
    told = ToolResult(content="AI_InvalidToolInputError: Invalid input: AI_JSONParseError: JSON parsing failed")
    screening = screen(case(call('{"origin": "SFO", "date":', result=told)))
    assert codes(screening, conclusive=True) == ["invalid_json"]


def test_what_a_tool_says_of_broken_json_is_about_the_json() -> None:
    said = ToolResult(error="Invalid input: Unexpected end of JSON input")
    screening = screen(case(call('{"origin": "SFO", "date":', result=said, from_model=False)))
    assert codes(screening, conclusive=True) == ["invalid_json"]
