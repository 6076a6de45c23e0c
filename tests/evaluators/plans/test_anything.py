"""Whatever an agent says or hands to a tool is read without an error."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from evaluators.cases import ToolCall, Turn
from evaluators.plans import visible_plans
from evaluators.plans.announced import announced_steps
from evaluators.plans.kept import kept_by
from evaluators.plans.listed import LONGEST_ITEM, MOST_ITEMS
from evaluators.plans.naming import tools_named

WORDS = st.sampled_from(
    [
        "Plan:",
        "1.",
        "2.",
        "- ",
        "[x]",
        "\n",
        " ",
        "first",
        "then",
        "I'll",
        "第一步",
        "然后",
        "先",
        "再",
        "：",
        "Step 1:",
        "{",
        "}",
    ]
)
TEXTS = st.one_of(st.text(max_size=200), st.lists(WORDS, max_size=40).map("".join))
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["todos", "plan", "steps", "content", "status", "id", "merge", "x"]), inner)
    ),
    max_leaves=12,
)
NAMES = st.sampled_from(["write_todos", "Plan", "TaskCreate", "TaskUpdate", "update_plan", "search", "", "a__b.c"])


@given(TEXTS, st.booleans())
def test_any_text_is_read(text: str, opening: bool) -> None:
    steps = announced_steps(text, opening=opening)
    assert len(steps) <= MOST_ITEMS
    assert all(0 < len(step.text) <= LONGEST_ITEM for step in steps)


@given(NAMES, st.dictionaries(st.sampled_from(["todos", "plan", "taskId", "subject", "steps"]), JSON))
def test_any_arguments_are_read(name: str, arguments: dict[str, Any]) -> None:
    kept = kept_by(ToolCall(id="c", name=name, arguments=arguments))
    assert kept is None or len(kept.steps) <= MOST_ITEMS


@settings(max_examples=50)
@given(st.lists(st.tuples(TEXTS, NAMES, JSON), max_size=6))
def test_any_turns_are_read(said: list[tuple[str, str, Any]]) -> None:
    turns = [
        Turn(
            index=at,
            text=text,
            calls=(ToolCall(id=str(at), name=name, arguments=value if isinstance(value, dict) else None),),
        )
        for at, (text, name, value) in enumerate(said)
    ]
    for plan in visible_plans(turns):
        assert plan.steps and 0 <= plan.turn < len(turns)
        assert tools_named(plan.steps[0].text, ["search", "write_todos"]) is not None
