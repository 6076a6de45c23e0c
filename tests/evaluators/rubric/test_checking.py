"""What the conditions of rubrics say of a case: true, false, or unknown where something wasn't captured."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evaluators.cases import Role, RunCase, SessionCase, ToolCall, ToolResult, Turn
from evaluators.rubric.checking import check
from evaluators.rubric.conditions import Condition
from evaluators.rubric.material import material_of
from evaluators.rubric.model import Rubric
from evaluators.sessions import session_case
from tests.evaluators.rubric.travel import (
    ALL_TOOLS,
    ASK_BACK,
    ASKED,
    DRAFT,
    GUIDES,
    MAP,
    PLAN,
    REPLY,
    REVIEW,
    as_run,
    drafted,
    planned,
    run_that,
)

RUBRIC = Rubric.model_validate(
    {
        "name": "r",
        "title": "R",
        "question": "?",
        "asks_back": "insufficient_information",
        "inputs": [{"name": name, "required": False} for name in DRAFT],
        "patterns": {
            "distance": r"\d+(?:\.\d+)?\s*(?:km|公里)",
            "marking": "待实时确认",
            "waiver": "别问",
            "slow": "(a+)+$",
        },
        "checks": [{"id": "c", "text": "c", "severity": "major"}],
        "questions": {"kind": {"text": "?", "one_of": ["code", "text"]}},
    }
)
WITH_MAP = as_run(run_that(*ALL_TOOLS))
BEFORE = ((Role.USER, ASKED), (Role.ASSISTANT, json.dumps(ASK_BACK, ensure_ascii=False)))


def holds(condition: dict[str, Any], case: RunCase | SessionCase, chosen: dict[str, str] | None = None) -> bool | None:
    return check(Condition.model_validate(condition), material_of(case, RUBRIC), chosen).truth


def plan_with(text: str, **more: Any) -> RunCase:
    return as_run(run_that(*ALL_TOOLS, said=drafted(answer=text), **more))


def unopened(said: Any) -> RunCase:
    """A run of which nobody knows what its first turn was told."""
    return as_run(run_that(turns=(Turn(index=0, text=json.dumps(said)),)))


def field(name: str, state: str) -> dict[str, Any]:
    return {"name": name, "is": state}


@pytest.mark.parametrize("name", ["amap-agent", "AMAP_AGENT", "AmapAgent", "amap*", "*agent"])
def test_names_are_compared_by_their_letters_alone(name: str) -> None:
    assert holds({"called": name}, WITH_MAP) is True


@pytest.mark.parametrize("name", ["transit", "map", "*transit*"])
def test_other_names_are_other_tools(name: str) -> None:
    assert holds({"called": name}, WITH_MAP) is False


def using(call: ToolCall) -> RunCase:
    run = run_that(said=DRAFT)
    return as_run(run_that(turns=(Turn(index=0, calls=(call,), context=run.turns[0].context), *run.turns)))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("transfer_to_amap_agent", None),
        ("transfer-to-AmapAgent", None),
        ("maps.amap-agent", {}),
        ("functions.amap_agent", {}),
        ("mcp__maps__amap_agent", {}),
        ("mcp__amap__agent", {}),
        ("amap.agent", {}),
        ("amapAgent", {}),
        ("task", {"subagent_type": "amap-agent", "prompt": "核实"}),
    ],
)
def test_an_agent_counts_as_used_however_it_was_asked(name: str, arguments: dict[str, Any] | None) -> None:
    assert holds({"called": "amap-agent"}, using(ToolCall(id="1", name=name, arguments=arguments))) is True


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("ask_amap_agent", {}),
        ("mcp_maps_amap_agent_v2", {}),
        ("task", {"prompt": "请 amap-agent 核实距离"}),
        ("run", {"config": {"worker": "amap_agent"}}),
        ("run", "not JSON: amap-agent"),
    ],
)
def test_where_a_name_only_occurs_its_use_is_unknown(name: str, arguments: Any) -> None:
    assert holds({"called": "amap-agent"}, using(ToolCall(id="1", name=name, arguments=arguments))) is None
    assert holds({"called": "amap-agent"}, using(ToolCall(id="1", name="search", arguments={"q": "maps"}))) is False


def test_an_agent_counts_as_used_by_its_own_turns() -> None:
    run = run_that(said=DRAFT)
    own = Turn(index=1, text="68 公里", agent="amap-agent")
    turns = (run.turns[0], own)
    assert holds({"called": "amap-agent"}, as_run(run_that(turns=turns))) is True


def test_that_something_was_never_used_is_unknown_where_calls_were_not_captured() -> None:
    never = {"called": "amap-agent"}
    assert holds(never, as_run(run_that(said=DRAFT))) is False
    assert holds(never, as_run(run_that(said=DRAFT, missing=("tool_calls",)))) is None
    of_words_alone = ((Role.USER, ASKED), (Role.ASSISTANT, "成都周边的路线我已核实。"))
    assert holds(never, as_run(run_that(said=DRAFT, before=of_words_alone))) is None
    assert holds(never, as_run(run_that(said=DRAFT, before=BEFORE))) is False


@pytest.mark.parametrize(
    ("state", "value", "holding"),
    [
        ("filled", "x", True),
        ("filled", " ", False),
        ("empty", [], True),
        ("empty", {"a": ""}, True),
        ("empty", [0], False),
        ("empty", False, False),
        ("true", True, True),
        ("true", "true", False),
        ("false", False, True),
        ("present", [], True),
        ("absent", [], False),
        ("filled", ..., None),
        ("empty", ..., None),
        ("present", ..., False),
        ("absent", ..., True),
    ],
)
def test_a_field_is_what_it_is_and_nothing_where_it_is_not_there(state: str, value: Any, holding: bool | None) -> None:
    said = {name: one for name, one in DRAFT.items() if name != "content_insights"}
    if value is not ...:
        said["content_insights"] = value
    assert holds({"field": field("content_insights", state)}, as_run(run_that(*ALL_TOOLS, said=said))) is holding


@pytest.mark.parametrize(
    ("text", "more", "holding"),
    [
        ("约 12 公里", {}, True),
        ("约１２公里", {}, True),
        ("12 KM", {}, True),
        ("不远", {}, False),
        ("12 公里（待实时确认）", {"without": "marking"}, False),
        ("12 公里（待实时确认）\n30 公里", {"without": "marking"}, True),
        ("全程 20 公里以内", {"said_by_user": False}, False),
        ("全程 20 公里以内，到店 3 公里", {"said_by_user": False}, True),
    ],
)
def test_a_text_holds_a_pattern(text: str, more: dict[str, Any], holding: bool) -> None:
    case = plan_with(text, user="想走 20 公里")
    assert holds({"contains": {"text": "answer", "pattern": "distance", **more}}, case) is holding


def test_what_a_cut_text_does_not_hold_is_unknown() -> None:
    wanted = {"contains": {"text": "answer", "pattern": "distance"}}
    assert holds(wanted, plan_with("不远", truncated=True)) is None
    assert holds(wanted, plan_with("12 公里", truncated=True)) is True


def test_a_pattern_that_takes_too_long_matches_nothing() -> None:
    assert holds({"contains": {"text": "answer", "pattern": "slow"}}, plan_with("a" * 60 + "!")) is False


def test_numbers_in_a_list_are_no_thousands() -> None:
    wanted = {"text": "answer", "pattern": "distance", "records": ["route_validation"]}
    for recorded, holding in (([100, 200], False), ([15, 40, 200], False), ([100200], True)):
        case = as_run(run_that(*ALL_TOOLS, said=drafted(answer="200 公里", route_validation=recorded)))
        assert holds({"unrecorded": wanted}, case) is holding


@pytest.mark.parametrize(
    ("text", "holding"),
    [
        ("68 公里", False),
        ("６８公里", False),
        ("70 公里", True),
        ("68.0 公里", False),
        ("1,000 公里", True),
        ("很远", False),
    ],
)
def test_a_number_is_recorded_where_it_stands_in_the_records(text: str, holding: bool) -> None:
    wanted = {"text": "answer", "pattern": "distance", "records": ["route_validation", "results", "user"]}
    assert holds({"unrecorded": wanted}, plan_with(text)) is holding


@pytest.mark.parametrize(
    ("first", "then", "tools", "holding"),
    [
        ("zhihu_guide_material", "amap-agent", ALL_TOOLS, True),
        ("amap-agent", "zhihu_guide_material", ALL_TOOLS, False),
        ("zhihu_guide_material", "amap-agent", (GUIDES,), False),
        ("answered.answer", "review-agent", ALL_TOOLS, False),
        ("output.answer", "amap-agent", (GUIDES, ("review-agent", {"draft": DRAFT}, "通过"), MAP), True),
        ("answered.answer", "amap-agent", (GUIDES, ("review-agent", {"draft": DRAFT}, "通过"), MAP), False),
    ],
)
def test_order_is_that_of_first_uses(first: str, then: str, tools: Any, holding: bool) -> None:
    assert holds({"before": {"first": first, "then": then}}, planned(*tools)) is holding


def test_a_plan_that_was_given_before_the_review_is_out_of_order_and_a_question_is_none() -> None:
    order = {"before": {"first": "answered.answer", "then": "review-agent"}}
    asks = ASK_BACK | {"answer": "请问哪天出发？"}
    later = run_that(REVIEW, user="再查一遍")
    assert holds(order, session_case([run_that(GUIDES, MAP), later])) is True
    assert holds(order, session_case([run_that(said=asks), later])) is False


@pytest.mark.parametrize(
    ("tools", "holding"),
    [
        ((MAP, MAP), True),
        ((MAP, GUIDES, MAP), True),
        ((MAP, ("amap-agent", {"task": "返程"}, "70 公里")), False),
        ((MAP,), False),
    ],
)
def test_the_same_query_twice_is_a_repeat(tools: Any, holding: bool) -> None:
    assert holds({"repeated": "amap*"}, as_run(run_that(*tools))) is holding


def test_a_query_after_one_that_failed_is_none() -> None:
    def asked(number: int, result: ToolResult) -> Turn:
        call = ToolCall(id=f"{number}", name="amap-agent", arguments={"task": "x"}, result=result)
        return Turn(index=number, calls=(call,))

    failed, answered = ToolResult(error="timeout"), ToolResult(content="68 公里")
    assert holds({"repeated": "amap-agent"}, as_run(run_that(turns=(asked(0, failed), asked(1, answered))))) is False
    assert holds({"repeated": "amap-agent"}, as_run(run_that(turns=(asked(0, answered), asked(1, answered))))) is True


@pytest.mark.parametrize(
    ("case", "in_a_row", "first", "opening"),
    [
        pytest.param(as_run(run_that(said=ASK_BACK)), False, True, True, id="asked once"),
        pytest.param(planned(*ALL_TOOLS), False, True, True, id="asked, then planned"),
        pytest.param(
            session_case([run_that(said=ASK_BACK), run_that(said=ASK_BACK, user=REPLY)]),
            True,
            True,
            True,
            id="asked twice",
        ),
        pytest.param(
            as_run(run_that(said=ASK_BACK, user=REPLY, before=BEFORE)), True, True, False, id="asked again, by history"
        ),
        pytest.param(
            as_run(run_that(*ALL_TOOLS, user=REPLY, before=(*BEFORE, (Role.USER, REPLY), BEFORE[1]))),
            False,
            True,
            False,
            id="what history did is not this case's",
        ),
        pytest.param(as_run(run_that(*ALL_TOOLS)), False, False, True, id="planned at once"),
        pytest.param(unopened(ASK_BACK), None, None, None, id="asks, and nobody knows what was before"),
        pytest.param(unopened(DRAFT), False, None, None, id="doesn't ask, and nobody knows what was before"),
        pytest.param(
            as_run(run_that(said=ASK_BACK, user=REPLY, before=((Role.USER, ASKED), (Role.ASSISTANT, "哪天？")))),
            None,
            None,
            False,
            id="the answer before is no JSON",
        ),
    ],
)
def test_exchanges_tell_what_was_asked_before(
    case: RunCase | SessionCase, in_a_row: bool | None, first: bool | None, opening: bool | None
) -> None:
    asks = field("insufficient_information", "true")
    assert holds({"in_a_row": asks}, case) is in_a_row
    assert holds({"first_answer": asks}, case) is first
    assert holds({"opening": True}, case) is opening


@pytest.mark.parametrize(
    ("said", "bare", "holding"),
    [
        (json.dumps(DRAFT), True, True),
        (f"```json\n{json.dumps(DRAFT)}\n```", False, True),
        (f"Here it is: {json.dumps(DRAFT)}", False, True),
        (PLAN, False, False),
    ],
)
def test_an_output_is_an_object_holds_one_or_is_text(said: str, bare: bool, holding: bool) -> None:
    case = as_run(run_that(*ALL_TOOLS, said=said))
    assert holds({"output": "bare_json"}, case) is bare
    assert holds({"output": "json"}, case) is holding
    assert holds({"output": "text"}, case) is not holding


@pytest.mark.parametrize(
    ("text", "limits", "holding"),
    [
        ("### a\n1\n2\n3", {"more_than": 2}, True),
        ("### a\n1\n\n2", {"more_than": 2}, False),
        ("### a\n1\n## day\n2\n3", {"more_than": 2}, False),
        ("### a\n1\n### b\n1\n2", {"fewer_than": 2}, True),
        ("no headings", {"fewer_than": 2}, False),
    ],
)
def test_sections_are_counted_in_lines_that_say_something(text: str, limits: dict[str, int], holding: bool) -> None:
    assert holds({"sections": {"text": "answer", **limits}}, plan_with(text)) is holding


UNKNOWN = {"field": field("content_insights", "filled")}
TRUE, FALSE = {"called": "amap-agent"}, {"called": "nobody"}


@pytest.mark.parametrize(
    ("condition", "holding"),
    [
        ({"all": [TRUE, UNKNOWN]}, None),
        ({"all": [FALSE, UNKNOWN]}, False),
        ({"any": [TRUE, UNKNOWN]}, True),
        ({"any": [FALSE, UNKNOWN]}, None),
        ({"not": UNKNOWN}, None),
        ({"not": FALSE}, True),
    ],
)
def test_combinations_know_what_is_unknown(condition: dict[str, Any], holding: bool | None) -> None:
    said = {name: one for name, one in DRAFT.items() if name != "content_insights"}
    assert holds(condition, as_run(run_that(*ALL_TOOLS, said=said))) is holding


def test_what_the_judge_was_asked_is_unknown_until_it_answered() -> None:
    asked = {"asked": {"kind": "code"}}
    assert holds(asked, WITH_MAP) is None
    assert holds(asked, WITH_MAP, {"kind": "code"}) is True
    assert holds(asked, WITH_MAP, {"kind": "text"}) is False


@pytest.mark.parametrize(
    "condition", [{}, {"called": "a", "repeated": "a"}, {"calls": "a"}, {"sections": {"text": "answer"}}]
)
def test_a_condition_says_one_thing_that_is_known(condition: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        Condition.model_validate(condition)
