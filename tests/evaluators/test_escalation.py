"""Escalation: a second judge for what the first one leaves in doubt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from pydantic import BaseModel

from evaluators.cases import CaseKind, Run, RunCase, Turn
from evaluators.escalation import EscalatingJudge, settled
from evaluators.evaluation import Item, evaluate
from evaluators.evaluator import Evaluator, EvaluatorSettings, Screening
from evaluators.issues import IssueCode
from evaluators.judge.question import Answer, JudgeAnswer, JudgeFailure, Question
from evaluators.verdict import Level, Method, Status, Usage, Verdict, issue

RUN = Run(turns=(Turn(index=0, text="done"),), user_inputs=("do it",), final_answer="done", ref="r")
SUSPICION = issue(IssueCode.WRONG_ANSWER, "odd", conclusive=False)


class Told(BaseModel):
    score: float
    confidence: float = 0.8


class Scripted:
    """A judge that gives its answers one after the other; a status is a failure."""

    def __init__(self, model: str, *told: Told | Status) -> None:
        self.model = model
        self.told = list(told)
        self.asked = 0
        self.down = False

    async def ask(self, run: Run, questions: Sequence[Question]) -> list[Answer]:
        self.asked += len(questions)
        return [self._answer(self.told.pop(0)) for _ in questions]

    def _answer(self, told: Told | Status) -> Answer:
        usage = Usage(requests=1, prompt_chars=100)
        if isinstance(told, Status):
            junk = told is Status.JUDGE_ERROR and not self.down
            return JudgeFailure(status=told, reason=f"{self.model} failed", junk=junk, model=self.model, usage=usage)
        return JudgeAnswer(content=told, model=self.model, usage=usage)


class Open(Evaluator[RunCase]):
    """Leaves everything to the judge, with or without a suspicion."""

    name = "open"
    judges = CaseKind.RUN
    level = Level.TRACE
    good_label, bad_label, code_version = "pass", "fail", "1"

    def __init__(self, *, suspected: bool = False) -> None:
        super().__init__(EvaluatorSettings(threshold=0.5))
        self._suspected = suspected

    def criteria(self) -> str:
        return ""

    def screen(self, case: RunCase) -> Screening:
        return Screening(status=Status.NEEDS_JUDGE, issues=(SUSPICION,) if self._suspected else ())

    def question(self, case: RunCase, screening: Screening) -> Question:
        return Question(evaluator=self.name, criteria="", subject="", answer_type=Told)

    def conclude(self, case: RunCase, screening: Screening, answer: JudgeAnswer) -> Verdict:
        assert isinstance(answer.content, Told)
        told = answer.content
        return self.scored(Screening(status=Status.OK), told.score, told.confidence, method=Method.JUDGE)


async def judged(first: Scripted, second: Scripted, *, suspected: bool = False) -> Verdict:
    judge = EscalatingJudge(first, second, below_confidence=0.7)
    [verdict] = await evaluate([Item(Open(suspected=suspected), RunCase(run=RUN), judge)])
    return verdict


async def test_a_sure_verdict_stands_and_the_second_judge_is_not_asked() -> None:
    second = Scripted("large")
    verdict = await judged(Scripted("small", Told(score=0.0)), second)
    assert (verdict.label, verdict.model, second.asked) == ("fail", "small", 0)
    assert "votes" not in verdict.details


@pytest.mark.parametrize(
    ("first", "suspected"),
    [
        (Told(score=1.0, confidence=0.6), False),
        (Told(score=0.0, confidence=0.3), False),
        (Told(score=1.0), True),
        (Status.JUDGE_ERROR, False),
    ],
)
async def test_a_doubtful_verdict_is_left_to_the_second_judge(first: Told | Status, suspected: bool) -> None:
    second = Scripted("large", Told(score=0.25, confidence=0.9))
    verdict = await judged(Scripted("small", first), second, suspected=suspected)
    assert (verdict.score, verdict.label, verdict.model, second.asked) == (0.25, "fail", "large", 1)
    assert verdict.usage.requests == 2


async def test_a_fault_that_rules_suspected_too_is_in_no_doubt() -> None:
    second = Scripted("large")
    await judged(Scripted("small", Told(score=0.0)), second, suspected=True)
    assert second.asked == 0


@pytest.mark.parametrize("failed", [Status.TIMED_OUT, Status.OVER_BUDGET, Status.TOO_LARGE])
async def test_a_judge_that_was_held_up_says_nothing_that_could_be_doubted(failed: Status) -> None:
    second = Scripted("large")
    verdict = await judged(Scripted("small", failed), second)
    assert (verdict.status, second.asked) == (failed, 0)


async def test_a_judge_that_is_down_does_not_send_everything_to_the_next_one() -> None:
    first, second = Scripted("small", Status.JUDGE_ERROR), Scripted("large")
    first.down = True
    verdict = await judged(first, second)
    assert (verdict.status, second.asked) == (Status.JUDGE_ERROR, 0)


async def test_votes_and_their_spread_are_kept_and_disagreement_costs_confidence() -> None:
    verdict = await judged(Scripted("small", Told(score=1.0, confidence=0.5)), Scripted("large", Told(score=0.25)))
    assert verdict.details["spread"] == 0.75
    assert verdict.details["votes"] == [
        {"model": "small", "label": "pass", "score": 1.0, "confidence": 0.5},
        {"model": "large", "label": "fail", "score": 0.25, "confidence": 0.8},
    ]
    assert verdict.confidence == 0.6
    agreed = await judged(Scripted("small", Told(score=1.0, confidence=0.5)), Scripted("large", Told(score=0.75)))
    assert (agreed.confidence, agreed.details["spread"]) == (0.8, 0.25)


async def test_where_the_second_judge_has_no_verdict_the_first_ones_stands_and_says_so() -> None:
    verdict = await judged(Scripted("small", Told(score=1.0, confidence=0.5)), Scripted("large", Status.OVER_BUDGET))
    assert (verdict.status, verdict.model, verdict.confidence) == (Status.OK, "small", 0.5)
    assert verdict.explanation.endswith("A second judge gave no verdict (over_budget).")
    neither = await judged(Scripted("small", Status.JUDGE_ERROR), Scripted("large", Status.TIMED_OUT))
    assert (neither.status, neither.score, neither.usage.requests) == (Status.TIMED_OUT, None, 2)


async def test_a_third_judge_is_asked_where_the_second_one_is_in_doubt_too() -> None:
    third = Scripted("largest", Told(score=1.0, confidence=0.9))
    then = EscalatingJudge(Scripted("large", Told(score=0.5, confidence=0.5)), third, 0.7)
    judge = EscalatingJudge(Scripted("small", Told(score=0.0, confidence=0.1)), then, 0.7)
    [verdict] = await evaluate([Item(Open(), RunCase(run=RUN), judge)])
    votes = verdict.details["votes"]
    assert isinstance(votes, list) and [vote["model"] for vote in votes if isinstance(vote, dict)] == [
        "small",
        "large",
        "largest",
    ]
    assert (verdict.model, verdict.details["spread"], verdict.usage.requests) == ("largest", 1.0, 3)


async def test_only_what_is_in_doubt_is_asked_again() -> None:
    second = Scripted("large", Told(score=1.0))
    first = Scripted("small", Told(score=1.0), Told(score=1.0, confidence=0.5), Told(score=0.0))
    judge = EscalatingJudge(first, second, 0.7)
    verdicts = await evaluate([Item(Open(), RunCase(run=RUN), judge) for _ in range(3)])
    assert [verdict.model for verdict in verdicts] == ["small", "large", "small"]
    assert second.asked == 1


def test_a_measure_without_a_grade_can_be_settled_too() -> None:
    measure = Verdict(evaluator="e", level=Level.TRACE, status=Status.OK, score=0.5, confidence=0.5, model="a")
    verdict = settled(measure, replace(measure, score=0.75, model="b", confidence=0.8))
    assert (verdict.score, verdict.details["spread"], verdict.confidence) == (0.75, 0.25, 0.8)
