"""From cases to verdicts: rules first, then the judge for what is open, one request per run and level.

This is the only place that knows both the evaluators and a judge.  Whoever has cases calls `evaluate`; it never raises
for what a case contains or a judge does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evaluators.cases import CallsCase, Case, DecisionCase, ResponseCase, Run, RunCase, SourceVerdict, Turn
from evaluators.doubts import doubted
from evaluators.escalation import EscalatingJudge, settled
from evaluators.evaluator import CaseT, Evaluator, Screening
from evaluators.judge.question import Judge, JudgeAnswer, JudgeFailure, Question
from evaluators.rules.run_index import forget
from evaluators.verdict import Level, Method, Status, Verdict

# others on the event loop get their turn after so many
_SCREENED_IN_ONE_GO = 16


@dataclass(frozen=True, slots=True)
class Item:
    """A case and the evaluator that is to judge it, with the judge for what the rules leave open.

    `excluded` says why it isn't to be judged at all.  `declines` is asked about a case that its judge would have to
    decide, and may say why it isn't to be asked: the verdict then is what rules alone may say, or else that it was
    sampled out.
    """

    evaluator: Evaluator[Any]
    case: Case
    judge: Judge | None = None
    excluded: str | None = None
    declines: Callable[[Screening], str | None] | None = None


def judge_by_rules(evaluator: Evaluator[CaseT], case: CaseT) -> Verdict:
    """What rules alone say of a case; never raises for what it contains."""
    return evaluator.conclude_by_rules(evaluator.screen(case))


@dataclass(frozen=True, slots=True)
class Screened:
    """Items that the rules have looked at. `verdicts` has None for each that waits for its judge."""

    items: Sequence[Item]
    screenings: Sequence[Screening]
    verdicts: Sequence[Verdict | None]


async def evaluate(items: Sequence[Item]) -> list[Verdict]:
    """Judge every item.

    Args:
        items: any number of cases; those of one `Run` object (by identity), one level and one judge share one request.
            Evaluators that derive their verdicts from others' are given what comes of the other items of that run.

    Returns:
        One verdict per item, in order.
    """
    first = [item for item in items if not item.evaluator.needs]
    verdicts = dict(zip(map(id, first), await ask_judges(await screen(first)), strict=True))
    said: dict[int, list[SourceVerdict]] = {}
    for item in first:
        said.setdefault(id(item.case.run), []).append(source_of(verdicts[id(item)], place_of(item.case)))
    return [verdicts.get(id(item)) or derive(item, said.get(id(item.case.run), ())) for item in items]


def derive(item: Item, sources: Iterable[SourceVerdict]) -> Verdict:
    """The verdict of an evaluator that needs others' verdicts.

    Args:
        item: it, and a run.
        sources: what others said of this run and its steps; what the evaluator doesn't need is left out.

    Returns:
        A verdict whose revision also stands for those of its sources, and that is uncalibrated if one of them is.
    """
    given = tuple(source for source in sources if source.evaluator in item.evaluator.needs)
    assert isinstance(item.case, RunCase)
    screening = _screened(replace(item, case=replace(item.case, sources=given)))
    verdict = item.evaluator.conclude_by_rules(screening)
    return replace(
        verdict,
        revision=item.evaluator.revision("+".join(sorted({source.revision for source in given}))),
        uncalibrated=verdict.status is Status.OK and any(source.uncalibrated for source in given),
    )


def source_of(verdict: Verdict, ref: str | None) -> SourceVerdict:
    """A verdict as others can be derived from it; `ref` is where it stands."""
    return SourceVerdict(
        evaluator=verdict.evaluator,
        status=verdict.status,
        score=verdict.score,
        passed=verdict.passed,
        confidence=verdict.confidence,
        ref=ref,
        revision=verdict.revision,
        uncalibrated=verdict.uncalibrated,
    )


def place_of(case: Case) -> str | None:
    """The ref on which a verdict on the case stands."""
    match case:
        case DecisionCase(turn=turn) | ResponseCase(turn=Turn() as turn):
            return turn.ref
        case CallsCase(calls=calls, turn=step):
            return next((call.ref for call in calls if call.ref is not None), step.ref if step is not None else None)
        case _:
            return case.run.ref


async def screen(items: Sequence[Item]) -> Screened:
    """Judge what rules can judge, and what no judge is there for."""
    screenings: list[Screening] = []
    verdicts: list[Verdict | None] = []
    for at, item in enumerate(items):
        if at and at % _SCREENED_IN_ONE_GO == 0:
            await asyncio.sleep(0)
        screening = _screened(item)
        screenings.append(screening)
        verdicts.append(_without_judge(item, screening))
    for run in {id(item.case.run): item.case.run for item in items}.values():
        forget(run)
    return Screened(items, screenings, verdicts)


def _screened(item: Item) -> Screening:
    if item.excluded is not None:
        return Screening(status=Status.SAMPLED_OUT, reason=item.excluded)
    return item.evaluator.screen(item.case)


def _without_judge(item: Item, screening: Screening) -> Verdict | None:
    """The verdict of an item that no judge has to decide; None when one has to."""
    if screening.status is Status.NEEDS_JUDGE and item.judge is not None:
        reason = item.declines(screening) if item.declines is not None else None
        if reason is None:
            return None
        if screening.fallback_score is None:
            return item.evaluator.unscored(screening, Status.SAMPLED_OUT, reason)
    return item.evaluator.conclude_by_rules(screening)


async def ask_judges(screened: Screened) -> list[Verdict]:
    """The verdicts on all items, those that the rules left open by their judges."""
    items, screenings, verdicts = screened.items, screened.screenings, list(screened.verdicts)
    groups: dict[tuple[int, Level, int], list[int]] = {}
    for at, (item, verdict) in enumerate(zip(items, verdicts, strict=True)):
        if verdict is None:
            key = (id(item.case.run), item.evaluator.level, id(item.judge))
            groups.setdefault(key, []).append(at)

    async def ask(places: list[int]) -> None:
        judge = items[places[0]].judge
        assert judge is not None
        answered = await _ask(judge, items[places[0]].case.run, [(items[at], screenings[at]) for at in places])
        for at, verdict in zip(places, answered, strict=True):
            verdicts[at] = verdict

    await asyncio.gather(*(ask(places) for places in groups.values()))
    for run in {id(item.case.run): item.case.run for item in items}.values():
        forget(run)
    return [verdict for verdict in verdicts if verdict is not None]


async def _ask(judge: Judge, run: Run, open_items: list[tuple[Item, Screening]]) -> list[Verdict]:
    """The verdicts by a judge's answers, and where these leave doubts by those of the judge that comes after it."""
    if not isinstance(judge, EscalatingJudge):
        return [verdict for verdict, _ in await _ask_one(judge, run, open_items)]
    given = await _ask_one(judge.first, run, open_items)
    verdicts = [verdict for verdict, _ in given]
    doubtful = [
        at
        for at, ((_, screening), (verdict, junk)) in enumerate(zip(open_items, given, strict=True))
        if judge.doubts(verdict, screening, junk=junk)
    ]
    if doubtful:
        again = await _ask(judge.second, run, [open_items[at] for at in doubtful])
        for at, verdict in zip(doubtful, again, strict=True):
            verdicts[at] = settled(verdicts[at], verdict)
    return verdicts


async def _ask_one(judge: Judge, run: Run, open_items: list[tuple[Item, Screening]]) -> list[tuple[Verdict, bool]]:
    """The verdicts by a judge's answers, each with whether the judge answered and nothing was of use."""
    questions = [item.evaluator.question(item.case, screening) for item, screening in open_items]
    answers = await judge.ask(run, questions)
    verdicts = []
    for (item, screening), question, answer in zip(open_items, questions, answers, strict=True):
        if isinstance(answer, JudgeAnswer) and not _is_complete(question, answer):
            answer = JudgeFailure(
                status=Status.JUDGE_ERROR,
                reason="The judge answered about other calls than it was asked about.",
                junk=True,
                model=answer.model,
                usage=answer.usage,
            )
        if isinstance(answer, JudgeFailure):
            verdicts.append((item.evaluator.conclude_failure(screening, answer), answer.junk))
            continue
        verdict = doubted(item.evaluator.conclude(item.case, screening, answer), answer)
        judged = replace(
            verdict,
            method=Method.JUDGE,
            model=answer.model,
            usage=answer.usage,
            judge_trace_id=answer.trace_id,
            revision=item.evaluator.revision(answer.model, answer.manner),
            details={**verdict.details, "cached": True} if answer.cached else verdict.details,
        )
        verdicts.append((judged, False))
    return verdicts


def _is_complete(question: Question, answer: JudgeAnswer) -> bool:
    """Whether an answer has one entry for each call that was asked about, and no other."""
    if not question.call_ids:
        return True
    answered = [one.call_id for one in getattr(answer.content, "calls", ())]
    return sorted(answered) == sorted(set(question.call_ids))
