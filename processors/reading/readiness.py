"""Which evaluators find in a run what they need, and what the others lack."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from evaluators.cases import Run
from processors.conventions.fact_names import (
    ARGUMENTS,
    FINAL_ANSWER,
    SCHEMAS,
    TOOL_CALLS,
    TOOL_RESULTS,
    TOOLS,
    USER_INPUT,
)

REQUIRED: Mapping[str, tuple[str, ...]] = {
    "tool_selection": (USER_INPUT, TOOLS, TOOL_CALLS),
    "tool_invocation": (USER_INPUT, ARGUMENTS, SCHEMAS),
    "tool_response_handling": (USER_INPUT, TOOL_RESULTS, FINAL_ANSWER),
    "task_completion": (USER_INPUT, FINAL_ANSWER),
    "step_efficiency": (USER_INPUT, TOOL_CALLS, ARGUMENTS),
}
"""The facts without which an evaluator says `missing_input`."""


def lacking(run: Run) -> dict[str, tuple[str, ...]]:
    """Per evaluator the required facts that the run doesn't have; empty where it has all."""
    return {name: missing_of(run, facts) for name, facts in REQUIRED.items()}


def missing_of(run: Run, facts: Iterable[str]) -> tuple[str, ...]:
    """Those of the facts that the run doesn't have."""
    missing = set(run.missing)
    if TOOLS in missing:
        missing.add(SCHEMAS)
    return tuple(fact for fact in facts if fact in missing)
