"""A judge that wasn't shown everything, or that a text speaks to, is believed less, and the verdict says so."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from evaluators.doubts import doubted
from evaluators.judge.question import JudgeAnswer
from evaluators.judge.steering import Kind, Steering
from evaluators.verdict import Level, Status, Verdict


class _Nothing(BaseModel):
    pass


_VERDICT = Verdict(
    evaluator="x",
    level=Level.SPAN,
    status=Status.OK,
    label="correct",
    score=1.0,
    passed=True,
    explanation="All is well.",
    confidence=0.8,
)


def _doubted(left_out: float = 0.0, steering: tuple[Steering, ...] = (), verdict: Verdict = _VERDICT) -> Verdict:
    return doubted(verdict, JudgeAnswer(content=_Nothing(), left_out=left_out, steering=steering))


def test_what_was_shown_whole_and_speaks_to_nobody_is_believed_as_before() -> None:
    assert _doubted() == _VERDICT


def test_the_more_was_left_out_the_less_sure_it_is() -> None:
    confidences = [_doubted(left_out).confidence for left_out in (0.0, 0.1, 0.5, 0.9)]
    assert confidences == [0.8, 0.768, 0.64, 0.512]
    assert _doubted(0.5).details == {"left_out": 0.5}


def test_a_text_that_speaks_to_a_judge_is_named_and_the_score_stays() -> None:
    steering = (Steering(kind=Kind.RESULT, label="the result of c1", ref="ab"),)
    verdict = _doubted(steering=steering)
    assert (verdict.score, verdict.label, verdict.confidence) == (1.0, "correct", 0.48)
    assert verdict.details == {"steering": [{"in": "result", "ref": "ab"}]}
    assert verdict.explanation == "All is well. (In this run a tool's result may address whoever judges it.)"


def test_what_nothing_checked_is_believed_less_and_says_so() -> None:
    verdict = doubted(_VERDICT, JudgeAnswer(content=_Nothing(), unchecked=True))
    assert (verdict.score, verdict.label, verdict.confidence) == (1.0, "correct", 0.64)
    assert verdict.details == {"control": "not_checked"}
    assert verdict.explanation.startswith("All is well. (The model is too weak for control statements")


@pytest.mark.parametrize("kind", list(Kind))
def test_every_kind_of_text_has_words(kind: Kind) -> None:
    assert "In this run" in _doubted(steering=(Steering(kind=kind, label="x", ref=None),)).explanation
