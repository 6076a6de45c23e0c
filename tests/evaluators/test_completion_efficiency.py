"""Outcome and cost of a run as one label."""

from __future__ import annotations

import pytest

from evaluators.cases import RunCase, SourceVerdict
from evaluators.completion_efficiency import CompletionEfficiency
from evaluators.evaluation import judge_by_rules
from evaluators.status import Status
from tests.evaluators.runs import run_of

EVALUATOR = CompletionEfficiency()


def case(*sources: tuple[str, bool | None, Status]) -> RunCase:
    told = tuple(
        SourceVerdict(evaluator=name, status=status, passed=passed, confidence=0.7 if passed else 0.9, ref="run")
        for name, passed, status in sources
    )
    return RunCase(run=run_of().run, sources=told)


@pytest.mark.parametrize(
    ("done", "lean", "label"),
    [
        (True, True, "done_and_lean"),
        (True, False, "done_but_wasteful"),
        (False, True, "not_done_but_lean"),
        (False, False, "neither"),
    ],
)
def test_the_two_verdicts_make_one_of_four_labels(done: bool, lean: bool, label: str) -> None:
    verdict = judge_by_rules(
        EVALUATOR, case(("task_completion", done, Status.OK), ("step_efficiency", lean, Status.OK))
    )
    assert (verdict.status, verdict.label, verdict.score, verdict.passed) == (Status.OK, label, None, None)
    assert verdict.confidence == (0.7 if done or lean else 0.9)
    assert verdict.evidence == ("run",)


@pytest.mark.parametrize(
    ("sources", "status"),
    [
        ([("task_completion", True, Status.OK)], Status.MISSING_INPUT),
        ([], Status.MISSING_INPUT),
        (
            [("task_completion", None, Status.NEEDS_JUDGE), ("step_efficiency", True, Status.OK)],
            Status.NEEDS_JUDGE,
        ),
        (
            [("task_completion", True, Status.OK), ("step_efficiency", None, Status.NOT_APPLICABLE)],
            Status.NOT_APPLICABLE,
        ),
    ],
)
def test_without_both_there_is_no_label(sources: list[tuple[str, bool | None, Status]], status: Status) -> None:
    verdict = judge_by_rules(EVALUATOR, case(*sources))
    assert (verdict.status, verdict.label) == (status, None)
