"""Tool correctness as DeepEval publishes it: how much of the expected calls was made.

Source: DeepEval 4.3.1, `ToolCorrectness`.  Kept as published, known faults included: extra calls cost nothing unless
`should_exact_match`; calls are paired greedily, in the order of the reference; and a call that was used is known by its
value, so that of two equal calls only one counts.  Where the peer fails on arguments that are null on one side, there
is no score.  With a judge and a list of offered tools the score is min(match, rating of the selection).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from pydantic import Field

from evaluators.cases import JsonValue, RunCase
from evaluators.evaluator import EvaluatorSettings, Screening
from evaluators.judge.question import JudgeAnswer, Question
from evaluators.reference.calls import Call
from evaluators.reference.metric import Measured, ReferenceMetric, Unmeasured, counted
from evaluators.reference.selection import CRITERIA, SelectionAnswer, offered_tools, selection_question
from evaluators.rules.inputs import has_user_input
from evaluators.rules.judged import judged_confidence
from evaluators.verdict import Method, Status, Verdict

Json = Mapping[str, JsonValue]
_NULL_ON_ONE_SIDE = "The arguments of a call are null on one side only, and the metric is not defined there."


class ToolCorrectnessSettings(EvaluatorSettings):
    """What is compared, and how."""

    threshold: float | None = Field(
        default=None, ge=0.0, le=1.0, description="Lowest score that passes; without one there is a score alone."
    )
    judge: str | None = Field(
        default=None,
        description="Id of the judge extension that rates the selection of tools as well; without one, no rating.",
    )
    evaluation_params: tuple[Literal["name", "args", "output"], ...] = Field(
        default=("name",), description="What is compared; name always is."
    )
    should_exact_match: bool = Field(
        default=False, description="Score 1 if both lists are equal position by position, else 0."
    )
    should_consider_ordering: bool = Field(default=False, description="Calls count only in the order of the reference.")
    strict_mode: bool = Field(default=False, description="Score 0 unless it is 1.")


class ToolCorrectness(ReferenceMetric):
    """Likeness of matched calls / expected calls; nothing expected is 1 if nothing was called, else 0."""

    name = "tool_correctness"

    def __init__(self, settings: ToolCorrectnessSettings | None = None) -> None:
        super().__init__(settings or ToolCorrectnessSettings())
        self._matching = settings or ToolCorrectnessSettings()

    def criteria(self) -> str:
        """What a judge is asked about the selection."""
        return CRITERIA

    def screen(self, case: RunCase) -> Screening:
        """The score; open if a judge could lower it by its rating of the selection."""
        found = super().screen(case)
        run = case.run
        ratable = bool(offered_tools(run)) and has_user_input(run, run.turns[0] if run.turns else None)
        if found.status is not Status.OK or not found.score or not ratable:
            return found
        return Screening(
            status=Status.NEEDS_JUDGE,
            fallback_score=found.score,
            fallback_confidence=found.confidence,
            evidence=found.evidence,
            reason=found.reason,
            details=found.details,
        )

    def question(self, case: RunCase, screening: Screening) -> Question:
        """How well the tools were selected."""
        return selection_question(self.name, case.run)

    def conclude(self, case: RunCase, screening: Screening, answer: JudgeAnswer) -> Verdict:
        """The smaller of both scores."""
        content = answer.content
        if not isinstance(content, SelectionAnswer):
            raise TypeError(f"{self.name}: the answer is a {type(content).__name__}")
        match = screening.fallback_score or 0.0
        told = Screening(
            status=Status.OK,
            evidence=(*screening.evidence, *answer.evidence),
            details={**screening.details, "match": match, "selection": content.score},
        )
        score = self._strict(min(match, content.score))
        confidence = judged_confidence(cut=answer.input_cut or case.run.truncated)
        explanation = f"{screening.reason} Selection {content.score:g}: {content.explanation}"
        return self.scored(told, score, confidence, method=Method.JUDGE, explanation=explanation)

    @property
    def compares_arguments(self) -> bool:
        """Unless names alone are compared."""
        return "args" in self._matching.evaluation_params

    def measure(self, made: Sequence[Call], expected: Sequence[Call]) -> Measured | Unmeasured:
        """The published score without the model's part."""
        if not expected:
            return Measured(score=float(not made), reason=f"No calls were expected, {len(made)} were made.")
        made = [replace(call, told=call.output) for call in made]
        expected = [replace(call, told=call.output) for call in expected]
        try:
            if self._matching.should_exact_match:
                score = self._exact(made, expected)
            elif self._matching.should_consider_ordering:
                score = self._in_order(made, expected) / len(expected)
            else:
                score = self._in_any_order(made, expected) / len(expected)
        except _NullOnOneSideError:
            return Unmeasured(reason=_NULL_ON_ONE_SIDE)
        score = min(score, 1.0)
        reason = f"{score:.0%} of the expected calls were made ({counted(len(made), len(expected))})."
        return Measured(score=self._strict(score), reason=reason)

    def _strict(self, score: float) -> float:
        return 0.0 if self._matching.strict_mode and score < 1 else score

    def _exact(self, made: Sequence[Call], expected: Sequence[Call]) -> float:
        compared = self._matching.evaluation_params
        return float(
            len(made) == len(expected)
            and all(
                one.name == other.name
                and ("args" not in compared or one.arguments == other.arguments)
                and ("output" not in compared or one.told == other.told)
                for one, other in zip(made, expected, strict=True)
            )
        )

    def _in_order(self, made: Sequence[Call], expected: Sequence[Call]) -> float:
        """The heaviest common subsequence."""
        before = [0.0] * (len(made) + 1)
        for wanted in expected:
            row = [0.0]
            for at, call in enumerate(made, 1):
                likeness = self._likeness(wanted, call)
                row.append(max(before[at], row[-1], before[at - 1] + likeness if likeness > 0 else 0.0))
            before = row
        return before[-1]

    def _in_any_order(self, made: Sequence[Call], expected: Sequence[Call]) -> float:
        used = [False] * len(made)
        total = 0.0
        for wanted in expected:
            best, best_call = 0.0, None
            for at, call in enumerate(made):
                likeness = 0.0 if used[at] else self._likeness(wanted, call)
                if likeness > best:
                    best, best_call = likeness, call
            total += best
            if best_call is not None:
                used = [was or _is_equal(best_call, call) for was, call in zip(used, made, strict=True)]
        return total

    def _likeness(self, expected: Call, made: Call) -> float:
        if expected.name != made.name:
            return 0.0
        compared = self._matching.evaluation_params
        likeness = 1.0
        if "args" in compared and expected.arguments != made.arguments:
            if expected.arguments is None or made.arguments is None:
                raise _NullOnOneSideError
            likeness = _shared(expected.arguments, made.arguments)
        return 0.0 if "output" in compared and expected.told != made.told else likeness


class _NullOnOneSideError(Exception):
    """Arguments are null on one side and an object on the other."""


def _shared(expected: Json, made: Json) -> float:
    """The share of equal values among the keys of both, inner objects by their own share."""
    if expected == made:
        return 1.0
    keys = len(expected.keys() | made.keys())
    score = 0.0
    for key in expected.keys() & made.keys():
        one, other = expected[key], made[key]
        if one == other:
            score += 1 / keys
        elif isinstance(one, dict) and isinstance(other, dict):
            score += _shared(one, other) / keys
    return score


def _is_equal(one: Call, other: Call) -> bool:
    return (one.name, one.arguments, one.told) == (other.name, other.arguments, other.told)
