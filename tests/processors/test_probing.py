"""Evaluators and judges put to the test on traces that are good."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from evaluators.cases import Case, CaseKind, Run
from evaluators.evaluator import Screening
from evaluators.judge.question import Answer, JudgeAnswer, JudgeFailure, Question
from evaluators.probing import Fault
from evaluators.verdict import Level, Method, Status, Verdict
from processors.probing import Found, Steadiness, probe
from processors.transcript import Transcript
from tests.evaluators.probing.test_faults import RUN
from tests.processors.steps import Stated, Stating

GOOD = Transcript(trace_id="t", runs=(RUN,), enclosing={"t": "r"})
EVERY_FAULT = dict.fromkeys(Fault, 1)


class Knowing(Stating):
    """Passes the good run and no other, by rule or by what a judge says."""

    level = Level.SPAN

    def __init__(self, *, by_judge: bool = False, blind: bool = False) -> None:
        super().__init__(judge="j" if by_judge else None)
        self._by_judge = by_judge
        self._blind = blind

    def screen(self, case: Case) -> Screening:
        if self._by_judge:
            return Screening(status=Status.NEEDS_JUDGE)
        return Screening(status=Status.OK, score=1.0 if self._blind or case.run is RUN else 0.0)

    def conclude(self, case: Case, screening: Screening, answer: JudgeAnswer) -> Verdict:
        assert isinstance(answer.content, Stated)
        score = 1.0 if answer.content.label == "correct" else 0.0
        return self.scored(Screening(status=Status.OK), score, 0.8, method=Method.JUDGE)


class Selection(Knowing):
    name, judges = "tool_selection", CaseKind.DECISION


class Invocation(Knowing):
    name, judges = "tool_invocation", CaseKind.CALLS


class Handling(Knowing):
    name, judges = "tool_response_handling", CaseKind.RESPONSE


ALL = (Selection, Invocation, Handling)


class Reader:
    """A judge that knows the good run; blind it passes everything, fickle it fails what it passed before."""

    model = "reader"

    def __init__(self, *, blind: bool = False, fickle: bool = False, down_for_faults: bool = False) -> None:
        self._blind, self._fickle, self._down = blind, fickle, down_for_faults
        self._passed = 0

    async def ask(self, run: Run, questions: Sequence[Question]) -> list[Answer]:
        if self._down and run is not RUN:
            return [JudgeFailure(status=Status.JUDGE_ERROR, reason="down") for _ in questions]
        good = self._blind or (run is RUN and not (self._fickle and self._passed >= len(ALL)))
        self._passed += run is RUN
        return [
            JudgeAnswer(content=Stated(label="correct" if good else "incorrect"), model="reader") for _ in questions
        ]


async def test_what_finds_every_fault_is_said_to_find_every_fault() -> None:
    by_rule = await probe([GOOD], [one() for one in ALL], {})
    assert {fault: found.by_rule for fault, found in by_rule.faults.items()} == EVERY_FAULT
    by_judge = await probe([GOOD], [one(by_judge=True) for one in ALL], {"j": Reader()})
    assert {fault: found.by_judge for fault, found in by_judge.faults.items()} == EVERY_FAULT
    assert all(steady.repeated and not steady.flipped for steady in by_judge.steadiness.values())


async def test_what_passes_everything_misses_every_fault() -> None:
    probed = await probe([GOOD], [one(blind=True) for one in ALL], {})
    assert {fault: found.missed for fault, found in probed.faults.items()} == EVERY_FAULT
    probed = await probe([GOOD], [one(by_judge=True) for one in ALL], {"j": Reader(blind=True)})
    assert {fault: found.missed for fault, found in probed.faults.items()} == EVERY_FAULT


async def test_no_verdict_is_neither_found_nor_missed() -> None:
    probed = await probe([GOOD], [one(by_judge=True) for one in ALL], {"j": Reader(down_for_faults=True)})
    assert {fault: found.unscored for fault, found in probed.faults.items()} == EVERY_FAULT


async def test_a_judge_that_says_something_else_when_asked_again_flips() -> None:
    probed = await probe([GOOD], [Selection(by_judge=True)], {"j": Reader()}, repeats=3)
    assert probed.steadiness == {"tool_selection": Steadiness(repeated=3)}
    probed = await probe([GOOD], [one(by_judge=True) for one in ALL], {"j": Reader(fickle=True)})
    assert sum(steady.flipped for steady in probed.steadiness.values()) > 0


async def test_into_what_is_not_good_as_it_is_no_fault_is_put() -> None:
    probed = await probe([GOOD], [Selection(by_judge=True)], {"j": Reader(fickle=True, down_for_faults=True)})
    assert probed.good == {"tool_selection": 1}
    bad = await probe([GOOD], [Selection(by_judge=True)], {})
    assert (bad.faults, bad.good) == ({}, {"tool_selection": 0})


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ([(Status.OK, True), (Status.OK, False)], "by_rule"),
        ([(Status.OK, True), (Status.NEEDS_JUDGE, None)], "unscored"),
        ([(Status.OK, True)], "missed"),
    ],
)
def test_a_fault_is_found_if_any_verdict_on_its_turn_fails(
    told: list[tuple[Status, bool | None]], expected: str
) -> None:
    verdicts = [
        Verdict(evaluator="e", level=Level.SPAN, status=status)
        if passed is None
        else Verdict(evaluator="e", level=Level.SPAN, status=status, label="x", score=float(passed), passed=passed)
        for status, passed in told
    ]
    found = Found("e")
    found.count(verdicts)
    assert getattr(found, expected) == 1 == found.injected
