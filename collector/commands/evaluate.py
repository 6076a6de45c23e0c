"""`spanjudge evaluate`: judge cases in a file, without telemetry.

In: a file with one case per line (`evaluators.files`).  Out: one result per line and case, in the order of the cases.
Exit status 1 when a line was no case or something couldn't be read or written; the rest is judged all the same.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import SecretStr, ValidationError

from collector.commands.config_options import load_or_exit
from collector.commands.reporting import report
from collector.judging.setup import Plan, make_evaluators, plan_of
from evaluators.evaluation import Item, evaluate
from evaluators.evaluator import Evaluator, EvaluatorSettings
from evaluators.files import BadLine, NamedCase, read_cases, result_line
from evaluators.judge.client import OpenAIJudge
from evaluators.judge.settings import JudgeSettings
from evaluators.registry import CASE_OPTIONS, EVALUATORS

CASES_AT_A_TIME = 16
DEFAULT_MODEL = "gpt-4.1-mini"
_FROM_COMMAND_LINE = "--judge"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("evaluate")(evaluate_cases)


def evaluate_cases(
    cases: Annotated[Path, typer.Argument(help="File with one case per line.", metavar="CASES", show_default=False)],
    output: Annotated[
        Path, typer.Option(help="Where the results go, one line per case.", metavar="FILE", show_default=False)
    ],
    judge: Annotated[
        str | None,
        typer.Option(
            help="OpenAI-compatible endpoint that decides what rules leave open. Its key: OPENAI_API_KEY.",
            metavar="URL",
        ),
    ] = None,
    judge_model: Annotated[str, typer.Option(help="Model to ask there.", metavar="NAME")] = DEFAULT_MODEL,
    config: Annotated[
        list[str] | None,
        typer.Option(help="Configuration to take evaluators and judges from; repeatable.", metavar="F"),
    ] = None,
) -> None:
    """Judge cases in a file."""
    plan = plan_of(load_or_exit(config, None)) if config else Plan(evaluators={})
    if judge is not None:
        plan = _with_judge(plan, judge, judge_model)
    if output.exists() and cases.exists() and output.samefile(cases):
        report((), [f"--output {output}: is the file of cases itself; name another"])
        raise typer.Exit(2)
    evaluators = _evaluators(plan)
    try:
        with cases.open("rb") as lines:
            kinds = {name: one.judges for name, one in evaluators.items()}
            read = list(read_cases(lines, kinds, CASE_OPTIONS))
    except OSError as error:
        report(plan.notes, [f"{cases}: can't be read: {error.strerror}"])
        raise typer.Exit(1) from error
    named = [one for one in read if isinstance(one, NamedCase)]
    faults = [f"{cases}:{one.line}: {one.fault}" for one in read if isinstance(one, BadLine)]
    try:
        # Opened first: what can't be written must not cost the answers of a judge.
        with output.open("wb") as target:
            target.writelines(asyncio.run(_judge_all(named, evaluators, plan)))
    except OSError as error:
        faults.append(f"{output}: can't be written: {error.strerror}")
    report(plan.notes, faults)
    if faults:
        raise typer.Exit(1)


def _evaluators(plan: Plan) -> dict[str, Evaluator[Any]]:
    """All that lines may name: the shipped ones, as configured or with their defaults, and the configuration's own."""
    shipped = {name: entry.create() for name, entry in EVALUATORS.items()}
    return {**shipped, **{made.name: made for made in make_evaluators(plan)}}


async def _judge_all(cases: Iterable[NamedCase], evaluators: Mapping[str, Evaluator[Any]], plan: Plan) -> list[bytes]:
    clients = {judge_id: OpenAIJudge(settings) for judge_id, settings in plan.judges.items()}
    slots = asyncio.Semaphore(CASES_AT_A_TIME)

    async def judge_one(case: NamedCase) -> bytes:
        evaluator = _with_options(evaluators[case.evaluator], case)
        client = _judge_of(evaluator.settings, clients)
        async with slots:
            [verdict] = await evaluate([Item(evaluator, case.case, client)])
        return result_line(case, verdict)

    try:
        return await asyncio.gather(*(judge_one(case) for case in cases))
    finally:
        for client in clients.values():
            await client.close()


def _with_options(evaluator: Evaluator[Any], case: NamedCase) -> Evaluator[Any]:
    """The evaluator with the settings that a case brings along in the place of its own."""
    if case.options is None:
        return evaluator
    given = {name: getattr(case.options, name) for name in case.options.model_fields_set}
    return EVALUATORS[case.evaluator].create(evaluator.settings.model_copy(update=given))


def _judge_of(settings: EvaluatorSettings, clients: Mapping[str, OpenAIJudge]) -> OpenAIJudge | None:
    """The judge from the command line goes before the one that the configuration names."""
    return clients.get(_FROM_COMMAND_LINE) or clients.get(settings.judge or "")


def _with_judge(plan: Plan, url: str, model: str) -> Plan:
    key = SecretStr(os.environ.get("OPENAI_API_KEY", ""))
    try:
        settings = JudgeSettings(model=model, base_url=url, api_key=key)
    except ValidationError as error:
        wrong = {"base_url": "--judge", "model": "--judge-model", "api_key": "OPENAI_API_KEY"}
        found = error.errors(include_input=False)
        report((), [f"{wrong[str(one['loc'][0])]}: {one['msg'].removeprefix('Value error, ')}" for one in found])
        raise typer.Exit(2) from error
    return Plan(evaluators=plan.evaluators, judges={**plan.judges, _FROM_COMMAND_LINE: settings}, notes=plan.notes)
