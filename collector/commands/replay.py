"""`spanjudge replay`: judge saved traces.

In: files and folders with OTLP requests.  Out: a table, verdicts as JSON lines, and the spans with their scores as one
OTLP request.  A trace may be spread over any number of files; it is judged when the input has ended.  Exit status 1
when something could not be read or judged; the rest is processed all the same.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import AbstractAsyncContextManager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from collector.commands.config_options import ConfigOption, SetOption, load_or_exit
from collector.commands.estimate_view import estimate_view
from collector.commands.reporting import json_line, report, show, what_was_passed_over
from collector.commands.trace_options import SavedTracesArgument
from collector.commands.verdict_table import VerdictTable
from collector.exporters.console import standard_output
from collector.judging.setup import Plan, configured_judging, plan_of, trace_judge
from collector.records import Outbound, SpanRecord
from collector.saved_traces import SavedTrace, read_saved_traces
from collector.wire import build_request
from evaluators.judge.estimating import EstimatingJudge
from processors.judging import TraceInput, TraceJudge, TraceScores
from processors.verdicts.verdict_json import verdict_json

TRACES_AT_A_TIME = 8


class Format(StrEnum):
    """What is printed on standard output."""

    TABLE = "table"
    JSONL = "jsonl"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("replay")(replay)


def replay(
    paths: SavedTracesArgument,
    config: ConfigOption = None,
    sets: SetOption = None,
    verdicts: Annotated[
        str | None, typer.Option(help="Write one JSON object per verdict here; - is standard output.", metavar="FILE")
    ] = None,
    otlp_out: Annotated[
        Path | None, typer.Option(help="Write the spans with their scores here, as one OTLP request.", metavar="FILE")
    ] = None,
    output: Annotated[
        Format, typer.Option("--format", help="Print tables, or the verdicts as JSON lines.")
    ] = Format.TABLE,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Ask no judge; tell what asking would take in tokens and money.")
    ] = False,
) -> None:
    """Judge saved traces and print what was found.

    Tables show each evaluator's verdicts and every fault with its reason; --verdicts writes all of it.
    """
    if output is Format.JSONL and verdicts is None:
        verdicts = "-"
    plan = plan_of(load_or_exit(config, sets))
    if estimate:
        if verdicts is not None or otlp_out is not None:
            report(
                (), ["--estimate judges nothing that could be written; leave --verdicts, --otlp-out and --format out"]
            )
            raise typer.Exit(2)
        if run_estimate(plan, paths):
            raise typer.Exit(1)
        return
    if run_replay(configured_judging(plan), paths, verdicts, otlp_out, notes=plan.notes):
        raise typer.Exit(1)


def run_replay(
    judging: AbstractAsyncContextManager[TraceJudge],
    paths: Iterable[Path],
    verdicts: str | None,
    otlp_out: Path | None,
    notes: Iterable[str] = (),
) -> int:
    """Judge what is saved under the paths, write what was asked for, print the rest.

    Args:
        judging: gives the judge and closes its clients.
        paths: files and folders.
        verdicts: where JSON lines go; "-" is standard output, which then carries nothing else.
        otlp_out: where the scored spans go.
        notes: what else is to be told.

    Returns:
        How many things went wrong; each was told on standard error.
    """
    saved = read_saved_traces(paths)
    failures = list(saved.failures)
    table = VerdictTable()
    tails: dict[tuple[bytes, bytes], bytes] = {}

    async def judge_all(lines: BinaryIO | None) -> None:
        async with judging as judge:
            async for scores in judge_traces(judge, saved.traces):
                table.add(scores.verdicts)
                if scores.failure:
                    failures.append(f"trace {scores.trace_id.hex()} was left unscored: {scores.failure}")
                if otlp_out:
                    tails.update({(scores.trace_id, span_id): one.tail for span_id, one in scores.spans.items()})
                if lines:
                    lines.writelines(json_line(verdict_json(placed)) for placed in scores.verdicts)
            for session in await judge.sessions.judge_over(None) if judge.sessions is not None else ():
                table.add(session.verdicts)
                if lines:
                    lines.writelines(json_line(verdict_json(placed)) for placed in session.verdicts)

    try:
        # Opened first: what can't be written must not cost the answers of a judge.
        with _opened(verdicts) as lines, _opened(str(otlp_out) if otlp_out else None) as request:
            asyncio.run(judge_all(lines))
            if request:
                request.write(build_request(_scored(saved.spans, tails)))
    except OSError as error:
        if error.filename is None and verdicts == "-":
            raise
        failures.append(f"{error.filename or verdicts or otlp_out}: can't be written: {error.strerror or error}")
    else:
        if saved.traces and verdicts != "-":
            table.print(standard_output())
    report([*notes, *what_was_passed_over(saved)], failures)
    return len(failures)


def run_estimate(plan: Plan, paths: Iterable[Path]) -> int:
    """Print what judging what is saved under the paths would take.

    Returns:
        How many things couldn't be read; each was told on standard error.
    """
    saved = read_saved_traces(paths)
    judges = {judge_id: EstimatingJudge(settings) for judge_id, settings in plan.judges.items()}

    async def ask_all() -> None:
        judge = trace_judge(plan, judges)
        async for _ in judge_traces(judge, saved.traces):
            pass
        if judge.sessions is not None:
            await judge.sessions.judge_over(None)

    asyncio.run(ask_all())
    show(*estimate_view({judge_id: one.estimate for judge_id, one in judges.items()}, plan.judges))
    report([*plan.notes, *what_was_passed_over(saved)], saved.failures)
    return len(saved.failures)


async def judge_traces(judge: TraceJudge, traces: Iterable[SavedTrace]) -> AsyncIterator[TraceScores]:
    """Scores in order of the traces; a few traces at a time, so that their waits for a model overlap."""
    running: list[asyncio.Task[TraceScores]] = []
    inputs = [_input(trace) for trace in traces]
    judge.expect(inputs)
    for trace in inputs:
        if len(running) == TRACES_AT_A_TIME:
            yield await running.pop(0)
        running.append(asyncio.create_task(judge.judge(trace)))
    for task in running:
        yield await task


def _input(trace: SavedTrace) -> TraceInput:
    return TraceInput(
        trace_id=trace.trace_id,
        spans=[(record.origin.resource, record.origin.scope, record.span) for record in trace.spans],
        logs=[(record.origin.resource, record.origin.scope, record.record) for record in trace.logs],
    )


def _scored(spans: Iterable[SpanRecord], tails: dict[tuple[bytes, bytes], bytes]) -> Iterator[Outbound]:
    for record in spans:
        yield Outbound(record.origin, record.span, tails.get((record.trace_id, record.span_id), b""))


@contextlib.contextmanager
def _opened(target: str | None) -> Iterator[BinaryIO | None]:
    if target is None:
        yield None
    elif target == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    else:
        with Path(target).open("wb") as file:
            yield file
