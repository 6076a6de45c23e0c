"""Small runs for tests: calls with results, turns, and the cases made of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from evaluators.cases import Message, ResponseCase, Role, Run, RunCase, ToolCall, ToolResult, Turn


def call(
    name: str,
    arguments: Mapping[str, Any] | str | None = None,
    result: Any = None,
    *,
    error: str | None = None,
    id: str = "c1",
    **more: Any,
) -> ToolCall:
    """A call with its result: text as it is, anything else as JSON; neither result nor error: not captured."""
    came_back = None
    if result is not None or error is not None:
        content = result if isinstance(result, str) or result is None else json.dumps(result, ensure_ascii=False)
        timing = {key: more.pop(key) for key in ("started_s", "duration_s", "truncated") if key in more}
        came_back = ToolResult(content=content, error=error, **timing)
    return ToolCall(id=id, name=name, arguments={} if arguments is None else arguments, result=came_back, **more)


def response(
    answer: str | None,
    *calls: ToolCall,
    user: str = "Please help.",
    system: str = "You are a helpful assistant.",
    next_calls: tuple[ToolCall, ...] = (),
    later: tuple[Turn, ...] = (),
    **more: Any,
) -> ResponseCase:
    """A turn that saw the results of `calls` and answered, after one user message."""
    context = (Message(role=Role.SYSTEM, text=system), Message(role=Role.USER, text=user))
    asked = Turn(index=0, calls=calls, context=context, ref="t0")
    turn = Turn(index=1, text=answer, calls=next_calls, context=context, answers=tuple(c.id for c in calls), ref="t1")
    run = Run(turns=(asked, turn, *later), user_inputs=(user,), system_prompts=(system,), final_answer=answer, **more)
    return ResponseCase(run=run, calls=calls, turn=turn, later=later)


def run_of(*calls: ToolCall, user: str = "Please help.", answer: str | None = "Done.", **more: Any) -> RunCase:
    """A run that made its calls one after another, each in a turn of its own, and then answered."""
    turns = [Turn(index=at, calls=(made,), ref=f"t{at}") for at, made in enumerate(calls)]
    turns.append(Turn(index=len(turns), text=answer, ref="last"))
    fields: dict[str, Any] = {
        "turns": tuple(turns),
        "user_inputs": (user,),
        "final_answer": answer,
        "answered": answer is not None,
        "ref": "run",
    } | more
    return RunCase(run=Run(**fields))
