"""Evaluators and judges put to the test on a user's own traces: are faults found that were put into good runs?

In: transcripts, and the evaluators with their judges.  Out: how many faults of each kind were found and by whom, and
how often a judge says something else when it is asked again.  Good is what passed as it was; nothing else is changed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from evaluators.cases import CallsCase, Case, DecisionCase, ResponseCase, Run
from evaluators.evaluation import Item, evaluate
from evaluators.evaluator import Evaluator
from evaluators.judge.question import Judge
from evaluators.probing import FAULTS, Fault, inject
from evaluators.verdict import Method, Status, Verdict
from processors.cases.spans import PLACERS
from processors.transcript import Transcript

TRACES_AT_A_TIME = 8


@dataclass(slots=True)
class Found:
    """What came of the faults of one kind.

    `by_rule` and `by_judge` found it, `missed` passed it, `unscored` couldn't say; `injected` is all of them.
    """

    evaluator: str
    by_rule: int = 0
    by_judge: int = 0
    missed: int = 0
    unscored: int = 0

    @property
    def injected(self) -> int:
        """How many faults there were."""
        return self.by_rule + self.by_judge + self.missed + self.unscored

    def count(self, verdicts: Sequence[Verdict]) -> None:
        """Take what an evaluator said of a run with a fault."""
        failed = [verdict for verdict in verdicts if verdict.passed is False]
        if failed:
            by_judge = all(verdict.method is Method.JUDGE for verdict in failed)
            self.by_judge += by_judge
            self.by_rule += not by_judge
        elif all(verdict.status is Status.OK for verdict in verdicts):
            self.missed += 1
        else:
            self.unscored += 1


@dataclass(slots=True)
class Steadiness:
    """How often a judge was asked the same once more, how often it then said something else, and nothing valid."""

    repeated: int = 0
    flipped: int = 0
    unscored: int = 0

    def count(self, before: Verdict, again: Verdict) -> None:
        """Take two verdicts on the same case."""
        self.repeated += 1
        if again.passed is None:
            self.unscored += 1
        elif again.passed is not before.passed:
            self.flipped += 1


@dataclass(slots=True)
class Probed:
    """The result. `good` counts by evaluator the cases that passed as they were, `judged` all that were judged."""

    faults: dict[Fault, Found] = field(default_factory=dict)
    steadiness: dict[str, Steadiness] = field(default_factory=dict)
    judged: dict[str, int] = field(default_factory=dict)
    good: dict[str, int] = field(default_factory=dict)


async def probe(
    transcripts: Iterable[Transcript],
    evaluators: Iterable[Evaluator[Any]],
    judges: Mapping[str, Judge],
    repeats: int = 1,
) -> Probed:
    """Put faults into the runs of these transcripts, one at a time.

    Args:
        transcripts: of traces that are believed to be good.
        evaluators: those of steps take part.
        judges: by the id that evaluators' settings name; they must not answer from a cache.
        repeats: how often a judge is asked again about what it passed.
    """
    prober = _Prober([one for one in evaluators if one.judges in PLACERS], judges, repeats)
    slots = asyncio.Semaphore(TRACES_AT_A_TIME)

    async def one(transcript: Transcript) -> None:
        async with slots:
            await prober.probe(transcript)

    await asyncio.gather(*map(one, transcripts))
    return prober.result


class _Prober:
    def __init__(self, evaluators: Sequence[Evaluator[Any]], judges: Mapping[str, Judge], repeats: int) -> None:
        self._evaluators = {evaluator.name: evaluator for evaluator in evaluators}
        self._judges = judges
        self._repeats = repeats
        self.result = Probed()

    async def probe(self, transcript: Transcript) -> None:
        good: dict[str, set[int]] = {}
        for name in self._evaluators:
            items = list(self._items(transcript, name))
            verdicts = await evaluate(items)
            good[name] = self._good_turns(name, items, verdicts)
            await self._repeat(name, items, verdicts)
        for place, run in enumerate(transcript.runs):
            for fault in FAULTS:
                await self._inject(transcript, place, run, fault, good)

    async def _inject(
        self, transcript: Transcript, place: int, run: Run, fault: Fault, good: Mapping[str, set[int]]
    ) -> None:
        injected = inject(run, fault)
        if injected is None or injected.turn not in good.get(injected.evaluator, ()):
            return
        runs = (*transcript.runs[:place], injected.run, *transcript.runs[place + 1 :])
        items = [
            item
            for item in self._items(replace(transcript, runs=runs), injected.evaluator)
            if item.case.run is injected.run and _turn_of(item.case) == injected.turn
        ]
        if items:
            found = self.result.faults.setdefault(fault, Found(injected.evaluator))
            found.count(await evaluate(items))

    def _good_turns(self, name: str, items: Sequence[Item], verdicts: Sequence[Verdict]) -> set[int]:
        """The turns of which everything passed; of several runs only what is good in each."""
        passed: dict[int, bool] = {}
        for item, verdict in zip(items, verdicts, strict=True):
            if verdict.status is not Status.NOT_APPLICABLE and (turn := _turn_of(item.case)) is not None:
                passed[turn] = passed.get(turn, True) and verdict.passed is True
        judged = [verdict for verdict in verdicts if verdict.status is Status.OK]
        self.result.judged[name] = self.result.judged.get(name, 0) + len(judged)
        self.result.good[name] = self.result.good.get(name, 0) + sum(verdict.passed is True for verdict in judged)
        return {turn for turn, good in passed.items() if good}

    async def _repeat(self, name: str, items: Sequence[Item], verdicts: Sequence[Verdict]) -> None:
        by_judge = [
            (item, verdict)
            for item, verdict in zip(items, verdicts, strict=True)
            if verdict.status is Status.OK and verdict.method is Method.JUDGE
        ]
        for _ in range(self._repeats if by_judge else 0):
            again = await evaluate([item for item, _ in by_judge])
            steadiness = self.result.steadiness.setdefault(name, Steadiness())
            for (_, before), verdict in zip(by_judge, again, strict=True):
                steadiness.count(before, verdict)

    def _items(self, transcript: Transcript, name: str) -> Iterator[Item]:
        evaluator = self._evaluators[name]
        judge = self._judges.get(evaluator.settings.judge or "")
        for placed in PLACERS[evaluator.judges](transcript, name, True):
            yield Item(evaluator=evaluator, case=placed.case, judge=judge)


def _turn_of(case: Case) -> int | None:
    match case:
        case DecisionCase() | CallsCase() | ResponseCase():
            return None if case.turn is None else case.turn.index
        case _:
            return None
