"""Plans that an agent keeps with a tool: todo lists, plan tools, plans as JSON.

In goes a call's name and arguments, out come the steps it puts down, with their states.  Lists are known by the tool's
name and by their shape together; a tool of an unknown name has to be unmistakable by shape.  What a tool did is never
looked at.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from evaluators.cases import JsonValue, PlanState, PlanStep, ToolCall
from evaluators.plans.listed import LONGEST_ITEM, MOST_ITEMS, lists_in, named_steps_in
from evaluators.rules.raw_arguments import ArgumentState, read_arguments

_FEWEST_BY_SHAPE = 2


@dataclass(frozen=True, slots=True)
class KeptStep:
    """A step of a list, with the id that the list gives it; None where it gives none."""

    step: PlanStep
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """What a call wrote. `merges`: steps that it doesn't name stay as they are.

    `well_known`: the tool is one that agents keep their own plans with, under a name that nothing else has.
    """

    steps: tuple[KeptStep, ...]
    merges: bool = False
    well_known: bool = False


def keeps_plan(name: str) -> bool:
    """Whether a tool of this name may be one to keep a plan with, so that its calls are no steps of the work."""
    return _TOOLS.fullmatch(_squeezed(name)) is not None or _WELL_KNOWN.fullmatch(_squeezed(name)) is not None


def keeps_own_plan(call: ToolCall) -> bool:
    """Whether a call does nothing but write down the agent's own plan, and so changes nothing in the world."""
    kept = kept_by(call)
    return kept is not None and kept.well_known


def kept_by(call: ToolCall) -> Kept | None:
    """The steps that a call puts down; None when it puts down no plan."""
    read = read_arguments(call)
    if call.truncated or read.state is not ArgumentState.OBJECT:
        return None
    arguments, name = read.value, _squeezed(call.name)
    if name in _ONE_BY_ONE:
        return _one(name, arguments)
    well_known = _WELL_KNOWN.fullmatch(name) is not None
    if well_known or _TOOLS.fullmatch(name) is not None:
        items = _items(arguments)
        if not items:
            return None
        return Kept(tuple(items), merges=arguments.get("merge") is True, well_known=well_known)
    for key, value in arguments.items():
        if key.lower() in _OWN_KEYS and isinstance(value, list) and len(value) >= _FEWEST_BY_SHAPE:
            found = [_item(one) for one in value[:MOST_ITEMS]]
            if all(one is not None and one.step.state is not None for one in found):
                return Kept(tuple(one for one in found if one is not None))
    return None


def steps_in_value(value: Mapping[str, JsonValue]) -> tuple[PlanStep, ...]:
    """The steps of a plan that is a JSON object."""
    return tuple(one.step for one in _items(value))


def _items(arguments: Mapping[str, JsonValue]) -> list[KeptStep]:
    by_key = {_squeezed(key): value for key, value in arguments.items()}
    for key in _KEYS:
        value = by_key.get(key)
        if isinstance(value, dict):
            value = next((inner for inner in value.values() if isinstance(inner, list)), None)
        if isinstance(value, list):
            found = [one for item in value[:MOST_ITEMS] for one in _expanded(item)]
        elif isinstance(value, str):
            found = [KeptStep(step) for step in steps_in_list(value)]
        else:
            continue
        if found:
            return found[:MOST_ITEMS]
    return []


def steps_in_list(text: str) -> list[PlanStep]:
    """The steps of the longest list in a text that is known to be a plan."""
    lists = [list(part.items) for part in lists_in(text)] + [named_steps_in(text)]
    best = max(lists, key=len)
    return [PlanStep(text=item.text, state=item.state) for item in best]


def _expanded(item: JsonValue) -> list[KeptStep]:
    """An item; or, where a planner made a plan for each task, the steps of its own plan."""
    if isinstance(item, dict) and isinstance(plan := item.get("plan"), str) and (steps := steps_in_list(plan)):
        return [KeptStep(step) for step in steps]
    one = _item(item)
    return [one] if one is not None else []


def _item(item: JsonValue) -> KeptStep | None:
    if isinstance(item, str):
        text = item.strip()
        return KeptStep(PlanStep(text=text[:LONGEST_ITEM])) if text else None
    if not isinstance(item, dict):
        return None
    text = next((value.strip() for key in _TEXT_KEYS if isinstance(value := item.get(key), str) and value.strip()), "")
    if not text:
        return None
    given = item.get("id", item.get("taskId"))
    return KeptStep(
        PlanStep(text=text[:LONGEST_ITEM], state=_state(item), owner=_owner(item)),
        str(given) if isinstance(given, str | int) else None,
    )


def _owner(item: Mapping[str, JsonValue]) -> str | None:
    return next((value for key in _OWNER_KEYS if isinstance(value := item.get(key), str) and value), None)


def _state(item: Mapping[str, JsonValue]) -> PlanState | None:
    for key in ("status", "state", "状态"):
        if isinstance(value := item.get(key), str):
            return _STATES.get(_squeezed(value))
    for key in ("completed", "done", "finished", "checked", "is_completed"):
        if isinstance(value := item.get(key), bool):
            return PlanState.COMPLETED if value else PlanState.PENDING
    return None


def _one(name: str, arguments: Mapping[str, JsonValue]) -> Kept | None:
    """Of tools that put down or change one step a call."""
    one = _item({key: value for key, value in arguments.items() if key != "id"} | {"id": arguments.get("taskId")})
    if name == "taskcreate":
        return None if one is None else Kept((one,), merges=True, well_known=True)
    given = arguments.get("taskId")
    if not isinstance(given, str | int):
        return None
    step = one.step if one is not None else PlanStep(text="", state=_state(arguments))
    return Kept((KeptStep(step, str(given)),), merges=True, well_known=True)


def _squeezed(name: str) -> str:
    return re.sub(r"[\W_]+", "", re.split(r"__|[./:]", name)[-1][:100].casefold())


_ONE_BY_ONE = frozenset({"taskcreate", "taskupdate"})
_WELL_KNOWN = re.compile(
    r"todowrite|writetodos|updateplan|managetodolist|updatetodolist|exitplanmode|createreasoningplan|plantasks?"
    r"|writeplan|planwrite|replan|taskcreate|taskupdate"
)
_TOOLS = re.compile(
    r"(?:write|update|create|set|manage|make|submit|save|revise|replace|add|propose|record|define)?(?:the|a)?"
    r"(?:todos?|todolist|plans?|tasklist|checklist|planofaction|plansteps|subtasks)(?:write|update|tool)?"
    r"|planning|planner|planact|planreact|plansteps"
)
_KEYS = (
    *("todos", "todolist", "todo", "plansteps", "plan", "steps", "listofplanspertask", "tasks", "subtasks", "items"),
    *("checklist", "plans", "planofaction", "actions", "计划", "步骤"),
)
_OWN_KEYS = frozenset({"todos", "todo_list", "todolist", "plan", "plan_steps", "plansteps"})
_TEXT_KEYS = (
    *("content", "step", "title", "task", "subject", "description", "text", "name", "activity", "action", "goal"),
    *("details", "instruction", "activeForm", "内容", "步骤", "任务"),
)
_OWNER_KEYS = ("owner", "assignee", "agent", "assigned_to", "agent_name", "负责人")
_STATES: dict[str, PlanState] = {
    **dict.fromkeys(
        (
            *("pending", "todo", "notstarted", "open", "new", "planned", "queued", "waiting", "blocked", "待办"),
            *("未开始", "待处理", "待完成", "未完成"),
        ),
        PlanState.PENDING,
    ),
    **dict.fromkeys(
        ("inprogress", "doing", "active", "started", "running", "current", "ongoing", "进行中", "处理中"),
        PlanState.IN_PROGRESS,
    ),
    **dict.fromkeys(
        ("completed", "complete", "done", "finished", "succeeded", "success", "已完成", "完成"), PlanState.COMPLETED
    ),
    **dict.fromkeys(("cancelled", "canceled", "skipped", "dropped", "obsolete", "已取消", "取消"), PlanState.CANCELLED),
}
