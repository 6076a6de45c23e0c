"""`spanjudge transcript`: what was understood of saved traces, before anything is judged.

In: files and folders with saved traces.  Out: a view per trace and a summary of all, or with `--json` one JSON object a
line; with `--summary` the summary alone.  Exit status 1 when something could not be read; the rest is shown all the
same.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from collector.commands.reporting import json_line, report, show, what_was_passed_over
from collector.commands.survey_view import SurveyView
from collector.commands.trace_options import SavedTracesArgument
from collector.commands.transcript_view import transcript_tree
from collector.saved_traces import SavedTrace, read_saved_traces
from processors.otlp import Log, Span, decode_log, decode_span
from processors.pieces import Pieces
from processors.reading.transcribe import transcribe, transcribe_trace
from processors.survey import Survey
from processors.survey_json import survey_json
from processors.trace_jobs import TraceInput
from processors.transcript import Transcript
from processors.transcript_json import transcript_json
from processors.whole_runs import WholeRuns


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("transcript")(transcript)


def transcript(
    paths: SavedTracesArgument,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per trace and line; with --summary one in all.")
    ] = False,
    summary: Annotated[
        bool, typer.Option("--summary", help="Print only what each evaluator finds in all traces, and what is missing.")
    ] = False,
    last: Annotated[
        int | None, typer.Option("--last", min=1, help="Look only at the N traces that ended last.", metavar="N")
    ] = None,
) -> None:
    """Show what was understood of saved traces, what is missing in them, and how to switch it on."""
    saved = read_saved_traces(paths)
    traces = saved.traces if last is None else _latest(saved.traces, last)
    survey = Survey()
    runs = WholeRuns(transcribe_trace, Pieces(max_bytes=None))
    runs.expect(map(_input, traces))
    for trace in traces:
        spans = _spans(trace)
        understood = runs.describe(_input(trace), spans, _logs(trace))
        if summary or not as_json:
            survey.add(understood, spans)
        if not summary and as_json:
            sys.stdout.buffer.write(json_line(transcript_json(understood)))
        elif not summary and (understood.runs or len(traces) == 1):  # the others are in the summary
            show(transcript_tree(understood))
    if summary and as_json:
        sys.stdout.buffer.write(json_line(survey_json(survey)))
    elif not as_json and (summary or len(traces) > 1):  # of a single trace, its view says all
        show(*(() if summary else ("",)), SurveyView(survey))
    sys.stdout.flush()
    report(what_was_passed_over(saved), saved.failures)
    if saved.failures:
        raise typer.Exit(1)


def read(trace: SavedTrace) -> Transcript:
    """What was understood of a trace."""
    return transcribe(trace.trace_id.hex(), _spans(trace), _logs(trace))


def _input(trace: SavedTrace) -> TraceInput:
    return TraceInput(
        trace_id=trace.trace_id,
        spans=[(span.origin.resource, span.origin.scope, span.span) for span in trace.spans],
        logs=[(log.origin.resource, log.origin.scope, log.record) for log in trace.logs],
    )


def _logs(trace: SavedTrace) -> list[Log]:
    return [decode_log(log.origin.resource, log.origin.scope, log.record) for log in trace.logs]


def _spans(trace: SavedTrace) -> list[Span]:
    return [decode_span(span.origin.resource, span.origin.scope, span.span) for span in trace.spans]


def _latest(traces: Sequence[SavedTrace], number: int) -> list[SavedTrace]:
    """The traces that ended last, in order of the input. Inputs aren't always in order of time."""
    ended = [max(max(span.start_ns, span.end_ns) for span in _spans(trace)) for trace in traces]
    places = sorted(range(len(traces)), key=lambda place: ended[place])
    return [traces[place] for place in sorted(places[-number:])]
