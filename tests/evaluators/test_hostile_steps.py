"""Whatever a step contains, the rules about calls and choices come back with a status and raise nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.cases import CallsCase, DecisionCase, Message, Role, Run, Tool, ToolCall, ToolResult, Turn
from evaluators.registry import EVALUATORS
from evaluators.verdict import Status, Verdict

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "items": {"type": "array", "items": {"type": "string"}},
        "count": {"type": "integer"},
        "date": {"type": "string", "description": "YYYY-MM-DD"},
    },
    "required": ["date"],
}


def judge(arguments: Any, *, said: str = "on 2026-03-20", schema: Any = SCHEMA, result: Any = None) -> list[Verdict]:
    call = ToolCall(id="1", name="f", arguments=arguments, result=result)
    tools = (Tool(name="f", description="Does it.", parameters=schema),)
    turn = Turn(index=0, calls=(call,), context=(Message(role=Role.USER, text=said),), tools=tools)
    run = Run(turns=(turn,), user_inputs=(said,))
    cases = {
        "tool_invocation": CallsCase(run=run, calls=(call,), turn=turn),
        "tool_selection": DecisionCase(run=run, turn=turn),
    }
    verdicts = []
    for name, case in cases.items():
        evaluator = EVALUATORS[name].create()
        screening = evaluator.screen(case)
        if screening.status is Status.NEEDS_JUDGE:
            evaluator.question(case, screening)
        verdicts.append(evaluator.conclude_by_rules(screening))
    return verdicts


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"items": ["abc"] * 100_000}, "x"),
        ({f"k{number}": number for number in range(100_000)}, "x"),
        ({"k" * 100_000: 1}, "x"),
        ({"items": ["4111 1111 1111 1111 " * 5_000], "count": 10101}, "10 1010 " * 200_000),
        ({"date": "上海", "count": 77}, "今天天气很好,我想去北京。" * 50_000),
        (json.loads('{"date":' + "[" * 900 + "]" * 900 + "}"), "x"),
        ('{"date": "' + '\\"' * 300_000, "x"),
        ({"date": "\ud800", "count": 10**400, "\udfff": float("nan")}, "\ud800"),
        ({"count": float("inf"), "latitude": float("-inf"), "min_a": float("nan"), "max_a": 1}, "x"),
    ],
    ids=["items", "names", "name", "digits", "chinese", "depth", "text", "surrogates", "infinite"],
)
def test_absurd_arguments_are_judged_like_any_others(arguments: Any, said: str) -> None:
    for verdict in judge(arguments, said=said):
        assert all(len(one.detail) < 1_000 for one in verdict.issues)
        assert len(verdict.issues) < 50


texts = st.text(max_size=12) | st.sampled_from(
    ["2026-03-20", "{", "[1", "<b>", "4111 1111 1111 1111", "YOUR_KEY", "12"]
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=12,
)
objects = st.dictionaries(
    st.sampled_from(["date", "items", "count", "min_x", "max_x", "lat"]) | texts, values, max_size=5
)


@given(
    arguments=objects | texts | st.none(),
    said=texts,
    schema=st.none() | st.just(SCHEMA) | st.dictionaries(st.sampled_from(["type", "properties", "required"]), values),
    error=st.none() | texts,
)
def test_no_step_raises(arguments: Any, said: str, schema: Any, error: str | None) -> None:
    result = None if error is None else ToolResult(content=error, error=error)
    for verdict in judge(arguments, said=said, schema=schema, result=result):
        assert (verdict.status is Status.OK) == (verdict.score is not None)
