"""Runs in which something is delivered."""

from __future__ import annotations

from typing import Any

from evaluators.cases import JsonValue, Run, RunCase, ToolCall, ToolResult, Turn

TASK = "Write the module."


def write(
    path: str, content: str, *, id: str = "c1", tool: str = "write_file", error: str | None = None, **more: Any
) -> ToolCall:
    """A call that writes a file."""
    arguments = {"path": path, "content": content, **more}
    return ToolCall(id=id, name=tool, arguments=arguments, result=ToolResult(content="ok", error=error), ref=f"s-{id}")


def delivery(*calls: ToolCall, answer: str | None = "Done.", user: str | None = TASK, **options: JsonValue) -> RunCase:
    """A run with these calls; options as a case may bring them."""
    turns = (
        Turn(index=0, calls=calls, agent="coder-7", ref="t0"),
        Turn(index=1, text=answer, agent="coder-7", answers=tuple(call.id for call in calls), ref="t1"),
    )
    run = Run(
        turns=turns,
        user_inputs=None if user is None else (user,),
        final_answer=answer,
        answered=answer is not None,
        ref="run",
    )
    return RunCase(run=run, options=options)
