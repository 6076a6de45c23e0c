"""Which values come from nothing the model was told. Mostly: which must not be suspected."""

from typing import Any

import pytest

from evaluators.cases import Message, Role, Run, ToolCall, ToolResult, Turn
from evaluators.rules.argument_grounding import ungrounded, values_of
from evaluators.rules.evidence import Evidence
from evaluators.rules.run_index import index_of


def suspected(said: str, arguments: dict[str, Any], properties: dict[str, Any] | None = None) -> list[str]:
    evidence = Evidence([said])
    return [value.path for value in values_of(arguments, properties or {}) if ungrounded(value, evidence)]


@pytest.mark.parametrize(
    ("said", "arguments"),
    [
        ("Show me the account of user u_4471.", {"user_id": "4471"}),
        ("weather in London please", {"city": "Vancouver"}),
        ("find movies directed by Nitesh Tiwari", {"directed_by": "Tim Burton"}),
        ("order 5 items", {"items": [{"amount": 17}]}),
        ("a $5000 investment for 10 years", {"present_value": 5007}),
        ("his id is 12445", {"user_id": "3"}),
        ("book it for me at the Hilton", {"date": "2026-03-19"}),
        ("查一下上海的天气", {"city": "北京"}),
        ("mail it to anna@example.com", {"recipient": "bob@example.com"}),
        ("Is flight OS 471 on time?", {"flight": "OS 474"}),
    ],
)
def test_a_value_that_nobody_said_is_suspected(said: str, arguments: dict[str, Any]) -> None:
    assert len(suspected(said, arguments)) == 1


@pytest.mark.parametrize(
    ("said", "arguments"),
    [
        ("Show me the account of user u_4471.", {"user_id": "u_4471"}),
        ("Is flight OS471 on time?", {"flight": "OS 471"}),
        ("Is flight os-471 on time?", {"flight": "OS 471"}),
        ("weather tomorrow", {"day": "MAR 15"}),
        ("weather in new york city", {"city": "New York City"}),
        ("weather in São Paulo", {"city": "Sao Paulo"}),
        ("weather in Sao Paulo", {"city": "São Paulo, Brazil"}),
        ("fly to New York", {"destination": "NYC"}),
        ("fly from San Francisco", {"origin": "SFO"}),
        ("get the weather of nyc", {"location": "New York, NY"}),
        ("something in NY next week", {"city": "New York, NY"}),
        ("帮我查一下北京现在的天气", {"city": "北京"}),
        ("帮我查一下北京现在的天气", {"city": "Beijing"}),
        ("weather in Beijing", {"city": "北京"}),
        ("北京市的天气", {"city": "北京市朝阳区"}),
        ("call me at (415) 555-2671", {"phone": "4155552671"}),
        ("tomorrow morning", {"date": "2026-03-15", "time": "09:00"}),
        ("on March 14th", {"date": "2026-03-14"}),
        ("三月十五日", {"date": "2026-03-15"}),
        ("请给我转3万元", {"amount": "30000"}),
        ("金额1.5亿元", {"amount": "150000000"}),
        ("a budget of 20k", {"budget": "20000"}),
        ("a table for twenty-five people", {"people": "25"}),
        ("for twenty minutes", {"duration": 1200}),
        ("at 5% interest", {"rate": 0.05}),
        ("1.5 million dollars", {"amount": 1_500_000}),
        ("1000 and then 250 more", {"amount": 1250}),
        ("3 nights at 133 each", {"total": 399}),
        ("from 2019 to 2024", {"years": 5}),
        ("10 inches wide", {"width_cm": 25.4}),
        ("about 150 pounds", {"weight_kg": 68}),
        ("it is 98.6 degrees", {"celsius": 37.0}),
        ("约三千五百元", {"amount": 3500}),
        ("restaurants nearby", {"limit": 20, "radius": 1000, "sort_by": "rating"}),
        ("how big is the moon", {"query": "Diameter of the Moon in kilometres 2024"}),
        ("write to her", {"body": "Dear Anna, thank you for 12 years"}),
        ("weather in Paris", {"latitude": 48.85, "longitude": 2.35}),
        ("weather in Paris", {"unit": "Celsius", "language": "French", "active": True, "note": None}),
        ("just do it", {"count": 3}),
        ("just do it", {"flag": "abc", "big": 10**400, "odd": float("nan"), "half": "\ud800"}),
    ],
)
def test_what_is_said_another_way_inferred_composed_or_known_is_not_suspected(
    said: str, arguments: dict[str, Any]
) -> None:
    assert suspected(said, arguments) == []


def test_choices_defaults_and_documented_values_are_grounded_but_examples_are_not() -> None:
    said = "what is on in London"
    assert suspected(said, {"kind": "Matinee"}, {"kind": {"enum": ["Matinee", "Evening"]}}) == []
    assert suspected(said, {"hall": "Sarv Cinema"}, {"hall": {"default": "Sarv Cinema"}}) == []
    offered = {"hall": {"description": "Sarv Cinema or Miraj Cinema"}}
    assert suspected(said, {"hall": "Sarv Cinema"}, offered) == []
    example = {"hall": {"description": "Name of the hall, such as Sarv Cinema or Miraj Cinema"}}
    assert suspected(said, {"hall": "Miraj Cinema"}, example) == ["hall"]


def test_earlier_results_and_system_prompts_ground_and_later_ones_do_not() -> None:
    found = ToolCall(id="a", name="find", result=ToolResult(content='{"order_id": "W7729"}'))
    later = ToolCall(id="b", name="find", result=ToolResult(content='{"order_id": "W8800"}'))
    context = (Message(role=Role.USER, text="Cancel my order"),)
    turns = (
        Turn(index=0, calls=(found,), context=context),
        Turn(index=1, calls=(later,), context=context),
    )
    run = Run(turns=turns, user_inputs=("Cancel my order",), system_prompts=("Customer c_31.",))
    evidence = index_of(run).evidence(turns[1])
    arguments = {"customer": "c_31", "first": "W7729", "second": "W8800"}
    assert [value.path for value in values_of(arguments, {}) if ungrounded(value, evidence)] == ["second"]


def test_a_text_that_is_everywhere_is_taken_for_said() -> None:
    assert suspected("1010101" * 10_000, {"code": "10"}) == []


def test_more_than_can_be_searched_grounds_everything() -> None:
    assert suspected("x " * 200_000, {"city": "Vancouver"}) == []
