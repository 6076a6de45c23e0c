"""When two calls are the same call."""

import pytest

from evaluators.cases import Arguments, ToolCall
from evaluators.rules.repetition import argument_fingerprint, outcome_fingerprint, steps_of
from tests.evaluators.runs import call, run_of


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1, "b": {"c": 2, "d": 3}}, {"b": {"d": 3, "c": 2}, "a": 1}),
        ({"n": 5}, {"n": 5.0}),
        ({"a": 1, "b": None}, {"a": 1}),
        ({"city": "Zürich"}, {"city": "Zu\u0308rich "}),
        ({"a": 1}, '{"a": 1}'),
        ({}, ""),
        ("not  json", "not json"),
    ],
)
def test_alike_arguments_have_one_fingerprint(one: Arguments, other: Arguments) -> None:
    assert argument_fingerprint(call("t", one)) == argument_fingerprint(call("t", other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"page": 1}, {"page": 2}),
        ({"id": "5"}, {"id": 5}),
        ({"on": True}, {"on": 1}),
        ({"q": "a"}, {"q": "A"}),
        ({"l": [1, 2]}, {"l": [2, 1]}),
    ],
)
def test_different_arguments_have_different_fingerprints(one: Arguments, other: Arguments) -> None:
    assert argument_fingerprint(call("t", one)) != argument_fingerprint(call("t", other))


def test_what_is_cut_or_unknown_equals_nothing() -> None:
    assert argument_fingerprint(ToolCall(id="c", name="t", arguments={"a": 1}, truncated=True)) is None
    assert argument_fingerprint(ToolCall(id="c", name="t")) is None
    assert outcome_fingerprint(call("t", {}, "long text", truncated=True)) is None
    assert outcome_fingerprint(call("t")) is None


def test_hand_offs_and_output_tools_are_no_steps() -> None:
    case = run_of(
        call("get_weather", id="a"), call("transfer_to_agent", id="b", is_handoff=True), call("final_answer", id="c")
    )
    assert [step.call.id for step in steps_of(case.run)] == ["a"]


def test_hostile_values_still_have_a_fingerprint() -> None:
    assert argument_fingerprint(call("t", {"n": 10**400, "s": "\ud800"})) is not None
