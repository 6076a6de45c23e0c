"""Which evaluators find in a run what they need, and what the others lack."""

from __future__ import annotations

from collections.abc import Mapping

from evaluators.cases import Run
from processors.reading import absent

REQUIRED: Mapping[str, tuple[str, ...]] = {
    "tool_selection": (absent.USER_INPUT, absent.TOOLS, absent.TOOL_CALLS),
    "tool_invocation": (absent.USER_INPUT, absent.ARGUMENTS, absent.SCHEMAS),
    "tool_response_handling": (absent.USER_INPUT, absent.TOOL_RESULTS, absent.FINAL_ANSWER),
    "task_completion": (absent.USER_INPUT, absent.FINAL_ANSWER),
    "step_efficiency": (absent.USER_INPUT, absent.ARGUMENTS),
}
"""The facts without which an evaluator says `missing_input`."""


def lacking(run: Run) -> dict[str, tuple[str, ...]]:
    """Per evaluator the required facts that the run doesn't have; empty where it has all."""
    missing = set(run.missing)
    if absent.TOOLS in missing:
        missing.add(absent.SCHEMAS)
    return {name: tuple(fact for fact in facts if fact in missing) for name, facts in REQUIRED.items()}
