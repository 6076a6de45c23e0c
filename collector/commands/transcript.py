"""`spanjudge transcript`: what was understood of saved traces, before anything is judged.

In: files and folders with OTLP requests.  Out: a view per trace, or with `--json` one JSON object a line.
Exit status 1 when something could not be read; the rest is shown all the same.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from collector.commands.reporting import report, what_was_passed_over
from collector.commands.transcript_view import transcript_tree
from collector.saved_traces import SavedTrace, read_saved_traces
from processors.conventions.values import as_text
from processors.otlp import decode_log, decode_span
from processors.reading.transcribe import transcribe
from processors.transcript import Transcript
from processors.transcript_json import transcript_json


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("transcript")(transcript)


def transcript(
    paths: Annotated[
        list[Path],
        typer.Argument(
            help="Files with OTLP requests (.pb, .json, .jsonl, also .gz), or folders.",
            metavar="PATH",
            show_default=False,
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per trace and line.")] = False,
) -> None:
    """Show what was understood of saved traces, what is missing in them, and how to switch it on."""
    saved = read_saved_traces(paths)
    console = Console(highlight=False)
    for trace in saved.traces:
        understood = read(trace)
        if as_json:
            sys.stdout.buffer.write(f"{as_text(transcript_json(understood))}\n".encode())
        else:
            console.print(transcript_tree(understood))
    sys.stdout.flush()
    report(what_was_passed_over(saved), saved.failures)
    if saved.failures:
        raise typer.Exit(1)


def read(trace: SavedTrace) -> Transcript:
    """What was understood of a trace."""
    return transcribe(
        trace.trace_id.hex(),
        [decode_span(span.origin.resource, span.origin.scope, span.span) for span in trace.spans],
        [decode_log(log.origin.resource, log.origin.scope, log.record) for log in trace.logs],
    )
