"""`spanjudge demo`: judge packaged traces of good and faulty runs and show them, without network or ports.

In: the OTLP requests in `collector/demo_data`, captured once from the travel assistant in `examples`.  Out: the same
trees that the console exporter of a running sidecar prints.  The rules of every evaluator judge with their default
settings; no judge is asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import typer
from rich.console import Console

from collector.commands.replay import judge_traces
from collector.exporters.console import standard_output
from collector.exporters.span_view import read_spans
from collector.exporters.trace_tree import TraceTree
from collector.judging.setup import Plan, configured_judging
from collector.records import Outbound
from collector.saved_traces import SavedTrace, read_saved_traces
from collector.wire import build_request
from evaluators.registry import EVALUATORS
from processors.judging import TraceScores
from processors.reading.readiness import REQUIRED

DATA = Path(__file__).parents[1] / "demo_data"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("demo")(demo)


def demo() -> None:
    """Judge packaged traces of a travel assistant and show them."""
    console = standard_output()
    trees = judged_trees()
    console.print(f"{len(trees)} runs of a travel assistant, judged by rules alone:\n")
    print_trees(console, trees)
    console.print("Each red line is an attribute on its span. A tracing backend finds it by")
    console.print("  eval.tool_selection.label=incorrect")


def print_trees(console: Console, trees: list[TraceTree]) -> None:
    """Print them with a blank line after each, as the console exporter does."""
    for tree in trees:
        console.print(tree)
        console.print()


def judged_trees() -> list[TraceTree]:
    """The packaged traces with their scores, in order of their files."""
    return asyncio.run(_judged_trees())


async def _judged_trees() -> list[TraceTree]:
    plan = Plan(evaluators={name: EVALUATORS[name].settings() for name in REQUIRED})
    traces = read_saved_traces([DATA]).traces
    async with configured_judging(plan) as judge:
        return [
            TraceTree(read_spans(build_request(_scored(trace, scores))))
            for trace, scores in zip(traces, [scores async for scores in judge_traces(judge, traces)], strict=True)
        ]


def _scored(trace: SavedTrace, scores: TraceScores) -> Iterator[Outbound]:
    for record in trace.spans:
        found = scores.spans.get(record.span_id)
        yield Outbound(record.origin, record.span, found.tail if found else b"")
