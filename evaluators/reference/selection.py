"""The question of tool correctness to a judge: were these the best tools to call? Asked in words of our own.

Source of the meaning: DeepEval 4.3.1, `ToolCorrectness` with `available_tools`, which takes the smaller of the match
with the reference and this rating.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, Field

from evaluators.cases import Run, Tool
from evaluators.judge.question import Question

CRITERIA = (
    "How well do the tools that were called, as a whole, fit what the user asked for, given the tools on offer? Don't "
    "rate arguments, results or order.\n"
    "1: every needed tool was called, and none that serves nothing. 0.75: one superfluous call. 0.5: the goal can be "
    "reached, but a plainly better tool was passed over, or several calls serve nothing. 0.25: a needed tool is "
    "missing. 0: the tools don't serve what was asked for. Numbers between are fine."
)


class SelectionAnswer(BaseModel):
    """The rating, after its reason."""

    explanation: str = Field(description="At most two sentences on what fits and what doesn't.")
    score: float = Field(ge=0.0, le=1.0)


def selection_question(evaluator: str, run: Run) -> Question:
    """The question about a run whose offered tools are known."""
    offered = ", ".join(dict.fromkeys(tool.name for tool in offered_tools(run) or ()))
    return Question(
        evaluator=evaluator,
        criteria=CRITERIA,
        subject=f"The whole run. Tools on offer in it: {offered or 'none'}.",
        answer_type=SelectionAnswer,
    )


def offered_tools(run: Run) -> Sequence[Tool] | None:
    """All tools that were offered in a run; None where no list was captured."""
    lists = [turn.tools for turn in run.turns if turn.tools is not None]
    return [tool for tools in lists for tool in tools] if lists else None
