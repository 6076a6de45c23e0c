"""`spanjudge evaluate`: judge cases in a file, without telemetry.

In: a file with one case per line (`evaluators.case_files.lines`).  Out: one result per line and case, in the order of
the cases.  Exit status 1 when a line was no case or something couldn't be read or written; the rest is judged all the
same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import typer

from collector.commands.case_options import (
    DEFAULT_MODEL,
    CasesConfigOption,
    JudgeModelOption,
    JudgeOption,
    plan_or_exit,
)
from collector.commands.reporting import report
from collector.judging.cases import evaluators_for_cases, judge_cases, read_cases_for
from collector.judging.setup import Plan
from evaluators.case_files.lines import BadLine, NamedCase, result_line
from evaluators.evaluator import Evaluator


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("evaluate")(evaluate_cases)


def evaluate_cases(
    cases: Annotated[Path, typer.Argument(help="File with one case per line.", metavar="CASES", show_default=False)],
    output: Annotated[
        Path, typer.Option(help="Where the results go, one line per case.", metavar="FILE", show_default=False)
    ],
    judge: JudgeOption = None,
    judge_model: JudgeModelOption = DEFAULT_MODEL,
    config: CasesConfigOption = None,
) -> None:
    """Judge cases in a file, without telemetry.

    A case is a JSON object on a line of its own, and so is its result; docs/commands.md describes both.
    """
    plan = plan_or_exit(config, judge, judge_model)
    if output.exists() and cases.exists() and output.samefile(cases):
        report((), [f"--output {output}: is the file of cases itself; name another"])
        raise typer.Exit(2)
    evaluators = evaluators_for_cases(plan)
    try:
        with cases.open("rb") as lines:
            read = read_cases_for(evaluators, lines)
    except OSError as error:
        report(plan.notes, [f"{cases}: can't be read: {error.strerror}"])
        raise typer.Exit(1) from error
    named = [one for one in read if isinstance(one, NamedCase)]
    faults = [f"{cases}:{one.line}: {one.fault}" for one in read if isinstance(one, BadLine)]
    try:
        # Opened first: what can't be written must not cost the answers of a judge.
        with output.open("wb") as target:
            asyncio.run(_write_all(named, evaluators, plan, target))
    except OSError as error:
        faults.append(f"{output}: can't be written: {error.strerror}")
    report(plan.notes, faults)
    if faults:
        raise typer.Exit(1)


async def _write_all(
    cases: Iterable[NamedCase], evaluators: Mapping[str, Evaluator[Any]], plan: Plan, target: BinaryIO
) -> None:
    """Write each result when it is there: what has been paid for outlives a Ctrl-C."""
    async with aclosing(judge_cases(cases, evaluators, plan)) as judged:
        async for case, verdict in judged:
            target.write(result_line(case, verdict))
