"""`spanjudge probe`: does the configured judge find faults that are put into one's own good traces?

In: saved traces and a configuration.  Out: a table of faults by kind, found and missed, and how often a judge says
something else when asked again.  Nothing is written anywhere; the judges that the configuration names are asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from collector.commands.config_options import ConfigOption, SetOption, load_or_exit
from collector.commands.probe_view import probe_view
from collector.commands.reporting import report, show, what_was_passed_over
from collector.judging.setup import Plan, escalating, make_evaluators, make_judges, plan_of, transcript_of
from collector.saved_traces import SavedTrace, read_saved_traces
from processors.probing import Probed, probe
from processors.transcript import Transcript

MOST_TRACES = 50


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("probe")(probe_traces)


def probe_traces(
    paths: Annotated[
        list[Path],
        typer.Argument(help="Files with saved traces of good runs, or folders.", metavar="PATH", show_default=False),
    ],
    config: ConfigOption = None,
    sets: SetOption = None,
    limit: Annotated[int, typer.Option(min=1, help="Traces to take at most.", metavar="N")] = MOST_TRACES,
    repeats: Annotated[
        int, typer.Option(min=0, help="How often a judge is asked again about what it decided.", metavar="N")
    ] = 1,
) -> None:
    """Put known faults into good traces and see whether they are found.

    Each fault costs a question to the judges that the configuration names, and so does each repetition.
    """
    plan = without_caches(plan_of(load_or_exit(config, sets)))
    saved = read_saved_traces(paths)
    probed = asyncio.run(_probe(list(_transcripts(saved.traces[:limit])), plan, repeats))
    show(*probe_view(probed))
    notes = [*plan.notes, *what_was_passed_over(saved)]
    if not plan.judges:
        notes.append("no judge is configured: only what rules find is found")
    report(notes, saved.failures)
    if saved.failures:
        raise typer.Exit(1)


def without_caches(plan: Plan) -> Plan:
    """The plan with judges that think anew each time."""
    judges = {judge_id: one.model_copy(update={"cache": None}) for judge_id, one in plan.judges.items()}
    return replace(plan, judges=judges)


def _transcripts(traces: list[SavedTrace]) -> Iterator[Transcript]:
    for trace in traces:
        yield transcript_of(
            [(record.origin.resource, record.origin.scope, record.span) for record in trace.spans],
            [(record.origin.resource, record.origin.scope, record.record) for record in trace.logs],
        )


async def _probe(transcripts: list[Transcript], plan: Plan, repeats: int) -> Probed:
    clients = make_judges(plan, patient=True)
    try:
        return await probe(transcripts, make_evaluators(plan), escalating(plan, clients), repeats)
    finally:
        for client in clients.values():
            await client.close()
