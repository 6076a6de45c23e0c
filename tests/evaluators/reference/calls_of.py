"""Short ways to write calls, expected calls and cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evaluators.cases import JsonValue, Reference, ReferenceCall, Run, RunCase, Tool, ToolCall, ToolResult, Turn
from evaluators.evaluation import judge_by_rules
from evaluators.evaluator import Evaluator
from evaluators.verdict import Verdict

Spec = tuple[str, Mapping[str, JsonValue] | None]


def made(*specs: Spec, **changes: Any) -> tuple[ToolCall, ...]:
    """Calls c0, c1, … of a run."""
    return tuple(
        ToolCall(id=f"c{at}", name=name, arguments=arguments, **changes) for at, (name, arguments) in enumerate(specs)
    )


def expected(*specs: Spec) -> tuple[ReferenceCall, ...]:
    return tuple(ReferenceCall(name=name, arguments=arguments) for name, arguments in specs)


def case_of(
    calls: Sequence[ToolCall], reference: Sequence[ReferenceCall] | None, *, tools: Sequence[Tool] | None = None
) -> RunCase:
    """A run that made these calls; `reference` None: nobody knows what was expected."""
    turn = Turn(index=0, calls=tuple(calls), tools=None if tools is None else tuple(tools))
    run = Run(turns=(turn,), user_inputs=("Book it.",), final_answer="Done.", answered=True, ref="run")
    known = None if reference is None else Reference(tool_calls=tuple(reference))
    return RunCase(run=run, reference=known)


def judged(evaluator: Evaluator[Any], calls: Sequence[Spec], reference: Sequence[Spec]) -> Verdict:
    return judge_by_rules(evaluator, case_of(made(*calls), expected(*reference)))


def result(text: str | None = None, error: str | None = None) -> ToolResult:
    return ToolResult(content=text, error=error)
