"""tool_selection: what is a choice to be judged, what rules know of it, and what becomes of a judge's answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from evaluators.cases import DecisionCase, Message, Role, Run, Tool, ToolCall, ToolResult, Turn
from evaluators.judge.question import JudgeAnswer
from evaluators.tool_selection import ToolSelection, ToolSelectionSettings
from evaluators.tool_selection.answer import CallsSelectionAnswer, OneCallSelectionAnswer, TurnAnswer
from evaluators.verdict import Status, Verdict

TOOLS = (Tool(name="get_weather"), Tool(name="search_hotels"))
USER = Message(role=Role.USER, text="How is the weather in Lima?")


def call(name: str = "get_weather", *, id: str = "call_1", **more: Any) -> ToolCall:
    return ToolCall(id=id, name=name, arguments=more.pop("arguments", {"city": "Lima"}), **more)


def case(
    *calls: ToolCall,
    text: str | None = None,
    tools: tuple[Tool, ...] | None = TOOLS,
    context: tuple[Message, ...] = (USER,),
    before: tuple[Turn, ...] = (),
    **turn: Any,
) -> DecisionCase:
    decided = Turn(index=len(before), text=text, calls=calls, context=context, tools=tools, ref="llm", **turn)
    said = tuple(one.text for one in context if one.role is Role.USER and one.text)
    return DecisionCase(run=Run(turns=(*before, decided), user_inputs=said or None), turn=decided)


EVALUATOR = ToolSelection(ToolSelectionSettings())


def by_rules(given: DecisionCase) -> Verdict:
    return EVALUATOR.conclude_by_rules(EVALUATOR.screen(given))


@pytest.mark.parametrize(
    "result",
    [
        None,
        ToolResult(error="no tool named 'get_train_times'"),
        ToolResult(content="get_train_times is not a valid tool"),
    ],
)
def test_a_tool_that_was_never_offered_is_conclusive(result: ToolResult | None) -> None:
    verdict = by_rules(case(call("get_train_times", result=result)))
    assert (verdict.status, verdict.label, verdict.score) == (Status.OK, "incorrect", 0.0)
    assert [str(one.code) for one in verdict.issues] == ["unknown_tool"]
    assert verdict.evidence == ("llm",)


@pytest.mark.parametrize(
    "known",
    [
        call(),
        call("functions.get_weather"),
        call("weather__get_weather"),
        call("get-weather"),
        call("web_search"),
        call("anything", provider_executed=True),
    ],
)
def test_other_spellings_and_tools_of_the_provider_are_not_unknown(known: ToolCall) -> None:
    screening = EVALUATOR.screen(case(known))
    assert screening.issues == ()
    assert screening.status in (Status.NEEDS_JUDGE, Status.NOT_APPLICABLE)


@pytest.mark.parametrize("result", [ToolResult(content='{"trains": []}'), ToolResult(error="503 upstream timed out")])
def test_an_unlisted_tool_that_was_executed_proves_the_list_incomplete(result: ToolResult) -> None:
    screening = EVALUATOR.screen(case(call("get_train_times", result=result)))
    assert screening.status is Status.NEEDS_JUDGE
    assert [one.conclusive for one in screening.issues] == [False]


def test_without_a_judge_a_choice_is_never_called_right() -> None:
    verdict = by_rules(case(call()))
    assert (verdict.status, verdict.score, verdict.label) == (Status.NEEDS_JUDGE, None, None)


def test_the_same_call_twice_in_one_turn_is_a_suspicion() -> None:
    screening = EVALUATOR.screen(case(call(), call(id="call_2"), call(id="call_3", arguments={"city": "Rome"})))
    assert [(str(one.code), one.call_id, one.conclusive) for one in screening.issues] == [
        ("wrong_number_of_tools", "call_2", False)
    ]


def test_a_required_value_that_nothing_gives_is_a_suspicion_that_the_user_should_have_been_asked() -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"city": {"type": "string"}, "near": {"type": "string"}},
        "required": ["city"],
    }
    tools = (Tool(name="get_weather", parameters=schema),)
    for arguments, codes in (
        ({"city": "Lima", "near": "Vancouver"}, []),
        ({"city": "Vancouver"}, ["should_have_asked"]),
    ):
        screening = EVALUATOR.screen(case(call(arguments=arguments), tools=tools))
        assert [str(one.code) for one in screening.issues] == codes
        assert screening.status is Status.NEEDS_JUDGE


def test_a_value_that_may_stand_where_a_result_was_cut_is_no_guess() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    found = call("find_user", id="call_0", result=ToolResult(content='{"name": "Ann", "ci', truncated=True))
    before = Turn(index=0, calls=(found,), context=(USER,))
    given = case(
        call(arguments={"city": "Vancouver"}), tools=(Tool(name="get_weather", parameters=schema),), before=(before,)
    )
    assert EVALUATOR.screen(given).issues == ()


TOOL_MESSAGE = Message(role=Role.TOOL, text="sunny", call_id="call_0")


@pytest.mark.parametrize(
    "given",
    [
        case(text="Hello", tools=()),
        case(call(), tool_choice="get_weather"),
        case(call(), tool_choice='{"type": "function", "function": {"name": "get_weather"}}'),
        case(text="Sunny", tool_choice="none"),
        case(call("transfer_to_sales")),
        case(call("handoff", is_handoff=True)),
        case(call("final_answer")),
        case(call("web_search")),
        case(text="Sunny.", context=(USER, TOOL_MESSAGE)),
        case(text="Sunny.", before=(Turn(index=0, calls=(call(id="call_0"),)),)),
        case(text="Sun", partial=True),
        case(error="429 Too Many Requests"),
    ],
)
def test_what_is_no_choice_is_not_applicable(given: DecisionCase) -> None:
    verdict = by_rules(given)
    assert (verdict.status, verdict.score) == (Status.NOT_APPLICABLE, None)
    assert verdict.explanation


@pytest.mark.parametrize(
    "given", [case(call(), context=()), case(call(), tools=None), case(text=None), case(call(name=""))]
)
def test_without_input_offer_or_decision_there_is_nothing_to_judge_by(given: DecisionCase) -> None:
    assert by_rules(given).status is Status.MISSING_INPUT


@pytest.mark.parametrize(
    "given",
    [
        case(text="It is sunny."),
        case(text="It is sunny.", tool_choice="auto"),
        case(call(), tool_choice="required"),
        case(call(), tool_choice='{"type": "auto"}'),
        case(text="And now?", before=(Turn(index=0, text="Hi"),), user_turn=1),
        case(text="Hello", before=(Turn(index=0, error="429"),)),
        case(text="I am the writer.", before=(Turn(index=0, text="Over to you", agent="router"),), agent="writer"),
    ],
)
def test_the_first_answer_to_a_message_is_a_choice_even_without_calls(given: DecisionCase) -> None:
    assert EVALUATOR.screen(given).status is Status.NEEDS_JUDGE


# -- with a judge


def calls_answer(*labels: tuple[str, str, list[str]], turn: tuple[str, list[str]] = ("correct", [])) -> JudgeAnswer:
    content = {
        "calls": [
            {"call_id": call_id, "explanation": f"About {call_id}.", "label": label, "issues": issues}
            for call_id, label, issues in labels
        ],
        "turn": {"explanation": "About the turn.", "label": turn[0], "issues": turn[1]},
    }
    return JudgeAnswer(content=CallsSelectionAnswer.model_validate(content), model="m")


def judged(given: DecisionCase, replied: JudgeAnswer) -> Verdict:
    return EVALUATOR.conclude(given, EVALUATOR.screen(given), replied)


ONE = case(call())
TWO = case(call(), call("search_hotels", id="call_2"))


def test_every_call_and_the_turn_are_asked_about() -> None:
    question = EVALUATOR.question(TWO, EVALUATOR.screen(TWO))
    assert question.call_ids == ("call_1", "call_2")
    assert question.answer_type is CallsSelectionAnswer
    one, none = case(call()), case(text="Sunny")
    assert EVALUATOR.question(one, EVALUATOR.screen(one)).answer_type is OneCallSelectionAnswer
    assert EVALUATOR.question(none, EVALUATOR.screen(none)).answer_type is TurnAnswer


def test_a_turn_without_calls_isnt_told_what_only_a_call_can_have() -> None:
    one, none = case(call()), case(text="Sunny")
    told = EVALUATOR.question(none, EVALUATOR.screen(none)).criteria
    assert "Faults of the turn" in told and "Faults of a call" not in told
    assert set(told.split("\n\n")) < set(EVALUATOR.question(one, EVALUATOR.screen(one)).criteria.split("\n\n"))


@pytest.mark.parametrize(
    ("replied", "score", "codes"),
    [
        (calls_answer(("call_1", "correct", []), ("call_2", "correct", [])), 1.0, []),
        (calls_answer(("call_1", "correct", []), ("call_2", "incorrect", ["unneeded_tool"])), 0.5, ["unneeded_tool"]),
        (calls_answer(("call_1", "incorrect", []), ("call_2", "correct", [])), 0.5, []),
        (
            calls_answer(
                ("call_1", "correct", []), ("call_2", "correct", []), turn=("incorrect", ["missing_tool_call"])
            ),
            0.6667,
            ["missing_tool_call"],
        ),
    ],
)
def test_the_score_counts_calls_and_a_fault_of_the_turn_like_one_more(
    replied: JudgeAnswer, score: float, codes: list[str]
) -> None:
    verdict = judged(TWO, replied)
    assert verdict.score == score
    assert verdict.label == ("correct" if score == 1.0 else "incorrect")
    assert [str(one.code) for one in verdict.issues] == codes


@pytest.mark.parametrize(
    ("label", "issues", "call", "score"),
    [
        ("correct", [], ("correct", ()), 1.0),
        ("incorrect", ["wrong_tool"], ("incorrect", ("wrong_tool",)), 0.0),
        ("incorrect", [], ("incorrect", ()), 0.0),
        ("incorrect", ["missing_tool_call"], ("correct", ()), 0.5),
        ("incorrect", ["unneeded_tool", "wrong_number_of_tools"], ("incorrect", ("unneeded_tool",)), 0.0),
    ],
)
def test_of_a_turn_with_one_call_the_codes_tell_whether_call_or_turn_is_at_fault(
    label: str, issues: list[str], call: tuple[str, tuple[str, ...]], score: float
) -> None:
    said = {"call_id": "call_1", "explanation": "So.", "label": label, "issues": issues}
    verdict = judged(ONE, JudgeAnswer(content=OneCallSelectionAnswer.model_validate({"calls": [said]}), model="m"))
    assert [(one.label, one.issues) for one in verdict.calls] == [call]
    assert (verdict.score, verdict.explanation) == (score, "So.")
    assert [str(one.code) for one in verdict.issues] == issues


@pytest.mark.parametrize("issues", [["unsafe_tool"], ["suboptimal_tool"]])
def test_a_choice_that_is_called_correct_with_a_fault_named_is_no_answer(issues: list[str]) -> None:
    with pytest.raises(ValidationError, match="label is correct, but issues names a fault"):
        calls_answer(("call_1", "correct", issues))


def test_a_turn_that_is_called_correct_with_a_fault_named_is_no_answer() -> None:
    with pytest.raises(ValidationError, match="label is correct, but issues names a fault"):
        calls_answer(("call_1", "correct", []), turn=("correct", ["missing_tool_call"]))


def test_what_was_offered_to_an_agent_at_no_turn_that_was_seen_is_not_held_against_it_for_sure() -> None:
    seen = case(call("get_train_times"))
    unseen = replace(seen.turn, ref=None)
    screening = EVALUATOR.screen(DecisionCase(run=replace(seen.run, turns=(), loose_calls=unseen.calls), turn=unseen))
    assert (screening.status, [one.conclusive for one in screening.issues]) == (Status.NEEDS_JUDGE, [False])


def test_a_turn_without_calls_is_judged_as_a_whole() -> None:
    for label, score in (("correct", 1.0), ("incorrect", 0.0)):
        turn = {"explanation": "It knew nothing.", "label": label, "issues": []}
        replied = JudgeAnswer(content=TurnAnswer.model_validate(turn))
        verdict = judged(case(text="It is sunny."), replied)
        assert (verdict.score, verdict.label) == (score, label)


def test_where_a_call_was_demanded_it_is_not_called_unneeded() -> None:
    given = case(call(), tool_choice="required")
    verdict = judged(given, calls_answer(("call_1", "incorrect", ["unneeded_tool"])))
    assert (verdict.score, verdict.issues) == (1.0, ())
    verdict = judged(given, calls_answer(("call_1", "incorrect", ["unneeded_tool", "unsafe_tool"])))
    assert (verdict.score, [one.code for one in verdict.issues]) == (0.0, ["unsafe_tool"])
    assert verdict.calls[0].issues == ("unsafe_tool",)


@pytest.mark.parametrize(
    "result",
    [
        ToolResult(content="done"),
        ToolResult(error="timed out"),
        ToolResult(error="city must be a string"),
        ToolResult(error="403 forbidden"),
        ToolResult(error="Order not found"),
    ],
)
def test_what_only_a_tool_that_exists_can_say_proves_that_the_list_is_not_whole(result: ToolResult) -> None:
    made = ToolCall(id="call_1", name="get_train_times", arguments={}, result=result)
    found = by_rules(case(made))
    assert found.status is Status.NEEDS_JUDGE
    assert [str(one.code) for one in found.issues] == ["unknown_tool"]


@pytest.mark.parametrize("said", ["Unknown tool: get_train_times", "KeyError: 'get_train_times'", "boom"])
def test_what_denies_the_tool_or_says_nothing_of_it_proves_nothing(said: str) -> None:
    made = ToolCall(id="call_1", name="get_train_times", arguments={}, result=ToolResult(error=said))
    assert by_rules(case(made)).score == 0.0
