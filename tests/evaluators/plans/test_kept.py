"""Which calls write a plan down, and what they say of it."""

from __future__ import annotations

from typing import Any

import pytest

from evaluators.cases import PlanState, ToolCall
from evaluators.plans.kept import kept_by

TWO = ["look it up", "tell it"]
TODOS = [{"content": "look it up", "status": "completed"}, {"content": "tell it", "status": "pending"}]
LISTS = [
    pytest.param("write_todos", {"todos": TODOS}, id="LangChain"),
    pytest.param("TodoWrite", {"todos": [{**todo, "activeForm": "…"} for todo in TODOS]}, id="Claude Code"),
    pytest.param("todo_write", {"merge": False, "todos": [{"id": "1", **todo} for todo in TODOS]}, id="Cursor"),
    pytest.param("update_plan", {"plan": [{"step": s, "status": "in_progress"} for s in TWO]}, id="Codex"),
    pytest.param("write_todos", {"todos": [{"description": s, "status": "pending"} for s in TWO]}, id="Gemini"),
    pytest.param("manage_todo_list", {"todoList": [{"id": 1, "title": s} for s in TWO]}, id="Copilot"),
    pytest.param("update_todo_list", {"todos": "[x] look it up\n[ ] tell it"}, id="Roo"),
    pytest.param("ExitPlanMode", {"plan": "## Plan\n1. look it up\n2. tell it"}, id="plan mode"),
    pytest.param("Plan", {"steps": TWO}, id="structured output"),
    pytest.param("agent__create_plan", {"plan": {"steps": TWO}}, id="namespace and wrapper"),
    pytest.param("notes", {"plan": TODOS}, id="another name, unmistakable shape"),
    pytest.param("更新计划", {"todos": [{"内容": s, "状态": "进行中"} for s in TWO]}, id="Chinese"),
]
NO_LISTS: list[Any] = [
    pytest.param("create_issues", {"issues": [{"title": "a", "status": "open"}]}, id="issues of a tracker"),
    pytest.param("set_plan", {"plan": "premium"}, id="a tariff"),
    pytest.param("create_plan", {"plan": {"name": "Pro", "price": 9}}, id="a tariff with fields"),
    pytest.param("search", {"steps": TWO}, id="steps of another tool"),
    pytest.param("notes", {"plan": TWO}, id="another name, no states"),
    pytest.param("write_todos", {"todos": []}, id="empty"),
    pytest.param("write_todos", "not JSON", id="no object"),
]


@pytest.mark.parametrize(("name", "arguments"), LISTS)
def test_lists_of_steps_are_plans(name: str, arguments: dict[str, Any]) -> None:
    kept = kept_by(ToolCall(id="c", name=name, arguments=arguments))
    assert kept is not None
    assert [one.step.text for one in kept.steps] == TWO


@pytest.mark.parametrize(("name", "arguments"), NO_LISTS)
def test_other_lists_are_none(name: str, arguments: Any) -> None:
    assert kept_by(ToolCall(id="c", name=name, arguments=arguments)) is None


@pytest.mark.parametrize(
    ("told", "state"),
    [
        ({"status": "Done"}, PlanState.COMPLETED),
        ({"status": "not-started"}, PlanState.PENDING),
        ({"state": "IN_PROGRESS"}, PlanState.IN_PROGRESS),
        ({"status": "cancelled"}, PlanState.CANCELLED),
        ({"status": "已完成"}, PlanState.COMPLETED),
        ({"completed": False}, PlanState.PENDING),
        ({"status": "purple"}, None),
        ({}, None),
    ],
)
def test_states_are_known_in_many_words(told: dict[str, Any], state: PlanState | None) -> None:
    kept = kept_by(ToolCall(id="c", name="write_todos", arguments={"todos": [{"content": "look it up", **told}]}))
    assert kept is not None and kept.steps[0].step.state is state


def test_a_list_that_was_cut_is_none() -> None:
    assert kept_by(ToolCall(id="c", name="write_todos", arguments={"todos": TODOS}, truncated=True)) is None
