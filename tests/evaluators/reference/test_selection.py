"""tool_correctness with a judge: the smaller of the match and the judge's rating of the selection."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from evaluators.cases import Run, Tool
from evaluators.evaluation import Item, evaluate
from evaluators.judge.question import Answer, JudgeAnswer, JudgeFailure, Question
from evaluators.reference import ToolCorrectness, ToolCorrectnessSettings
from evaluators.reference.selection import SelectionAnswer
from evaluators.verdict import Method, Status, Verdict
from tests.evaluators.reference.calls_of import Spec, case_of, expected, made

FIND: Spec = ("find", {"city": "Lima"})
BOOK: Spec = ("book", {"hotel": "Aurora"})
TOOLS = (Tool(name="find"), Tool(name="book"))


class Rater:
    """Gives every selection one rating, or fails."""

    model = "rater"

    def __init__(self, rating: float | None) -> None:
        self._rating = rating
        self.asked: list[Question] = []

    async def ask(self, run: Run, questions: Sequence[Question]) -> list[Answer]:
        self.asked += questions
        if self._rating is None:
            return [JudgeFailure(status=Status.JUDGE_ERROR, reason="No answer.") for _ in questions]
        content = SelectionAnswer(explanation="Fits.", score=self._rating)
        return [JudgeAnswer(content=content, model=self.model) for _ in questions]


async def rated(
    rater: Rater | None,
    calls: Sequence[Spec] = (FIND,),
    tools: Sequence[Tool] | None = TOOLS,
    settings: ToolCorrectnessSettings | None = None,
) -> Verdict:
    case = case_of(made(*calls), expected(FIND, BOOK), tools=tools)
    [verdict] = await evaluate([Item(ToolCorrectness(settings), case, rater)])
    return verdict


@pytest.mark.parametrize(("rating", "score"), [(1.0, 0.5), (0.5, 0.5), (0.25, 0.25), (0.0, 0.0)])
async def test_the_smaller_of_both_is_the_score(rating: float, score: float) -> None:
    verdict = await rated(Rater(rating))
    assert (verdict.status, verdict.score, verdict.method) == (Status.OK, score, Method.JUDGE)
    assert (verdict.details["match"], verdict.details["selection"]) == (0.5, rating)


async def test_the_question_names_the_tools_on_offer() -> None:
    rater = Rater(1.0)
    await rated(rater)
    assert "find, book" in rater.asked[0].subject


async def test_without_a_judge_or_a_list_of_tools_the_match_is_the_score() -> None:
    rater = Rater(0.0)
    for verdict in (await rated(None), await rated(rater, tools=None), await rated(rater, tools=())):
        assert (verdict.score, verdict.method) == (0.5, Method.REFERENCE)
    assert rater.asked == []


async def test_a_match_of_nothing_needs_no_judge() -> None:
    rater = Rater(1.0)
    assert (await rated(rater, calls=())).score == 0.0
    assert rater.asked == []


async def test_a_judge_that_fails_leaves_no_score() -> None:
    verdict = await rated(Rater(None))
    assert (verdict.status, verdict.score) == (Status.JUDGE_ERROR, None)


async def test_strict_is_strict_about_both() -> None:
    strict = ToolCorrectnessSettings(strict_mode=True, threshold=1.0)
    verdict = await rated(Rater(0.9), calls=(FIND, BOOK), settings=strict)
    assert (verdict.score, verdict.label) == (0.0, "fail")
