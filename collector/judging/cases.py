"""Cases in files judged with the evaluators and judges of a plan, for the commands that work on such files."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from collector.judging.setup import Plan, escalating, make_evaluators, make_judges
from evaluators.case_files.lines import BadLine, NamedCase, read_cases
from evaluators.cases import Case, RunCase
from evaluators.evaluation import Item, evaluate
from evaluators.evaluator import Evaluator, EvaluatorSettings
from evaluators.judge.question import Judge
from evaluators.judge.settings import JudgeSettings
from evaluators.needs import needed_items
from evaluators.reference.lookup import References
from evaluators.registry import CASE_OPTIONS, EVALUATORS
from evaluators.usage import total
from evaluators.verdict import Verdict

CASES_AT_A_TIME = 16
_FOR_ALL = "--judge"
"""Id of a judge that goes before those that the configuration names."""


def with_judge(plan: Plan, settings: JudgeSettings) -> Plan:
    """The plan with one judge for all evaluators, in the place of those that their settings name."""
    return replace(plan, judges={**plan.judges, _FOR_ALL: settings})


def evaluators_for_cases(plan: Plan) -> dict[str, Evaluator[Any]]:
    """All that lines may name: the shipped ones, as configured or with their defaults, and the configuration's own."""
    shipped = {name: entry.create() for name, entry in EVALUATORS.items()}
    return {**shipped, **{made.name: made for made in make_evaluators(plan)}}


def read_cases_for(evaluators: Mapping[str, Evaluator[Any]], lines: Iterable[bytes]) -> list[NamedCase | BadLine]:
    """The cases of the lines of a file, for these evaluators."""
    return list(read_cases(lines, {name: one.judges for name, one in evaluators.items()}, CASE_OPTIONS))


async def judge_cases(
    cases: Iterable[NamedCase], evaluators: Mapping[str, Evaluator[Any]], plan: Plan
) -> AsyncGenerator[tuple[NamedCase, Verdict], None]:
    """Each case with its verdict, in order, as soon as it and those before it have theirs.

    A run without a reference of its own has that of the configured file.
    """
    clients = make_judges(plan, patient=True)
    judges = escalating(plan, clients)
    references = References(plan.references.entries if plan.references is not None else ())
    slots = asyncio.Semaphore(CASES_AT_A_TIME)

    async def judge_one(case: NamedCase) -> tuple[NamedCase, Verdict]:
        evaluator = _with_options(evaluators[case.evaluator], case)
        item = Item(evaluator, _with_reference(case.case, references), _judge_of(evaluator.settings, judges))
        needed = needed_items(item, evaluators, lambda one: _judge_of(one.settings, judges))
        async with slots:
            verdict, *others = await evaluate([item, *needed])
        return case, _with_cost(verdict, others)

    tasks = [asyncio.create_task(judge_one(case)) for case in cases]
    try:
        for task in tasks:
            yield await task
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for client in clients.values():
            await client.close()


def _with_options(evaluator: Evaluator[Any], case: NamedCase) -> Evaluator[Any]:
    """The evaluator with the settings that a case brings along in the place of its own."""
    if case.options is None:
        return evaluator
    given = {name: getattr(case.options, name) for name in case.options.model_fields_set}
    return EVALUATORS[case.evaluator].create(evaluator.settings.model_copy(update=given))


def _with_reference(case: Case, references: References) -> Case:
    if not isinstance(case, RunCase) or case.reference is not None:
        return case
    return replace(case, reference=references.find(case.run))


def _with_cost(verdict: Verdict, sources: Sequence[Verdict]) -> Verdict:
    """A derived verdict with what those that it is derived from cost: nobody else tells it."""
    if not sources:
        return verdict
    models = {source.model for source in sources if source.model is not None}
    return replace(
        verdict,
        usage=total(one.usage for one in (verdict, *sources)),
        model=models.pop() if len(models) == 1 else None,
    )


def _judge_of(settings: EvaluatorSettings, judges: Mapping[str, Judge]) -> Judge | None:
    return judges.get(_FOR_ALL) or judges.get(settings.judge or "")
