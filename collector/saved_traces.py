"""Saved telemetry gathered by trace, for commands that work on files instead of a stream.

In: paths of files and folders.  Out: every span in the order of the input, the traces with their spans and log records
over all files, and what couldn't be read.  Nothing waits and nothing is judged here; bytes stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from collector.intake import MalformedRequestError
from collector.receivers.files import Payload, Problem, read_paths
from collector.records import LogRecord, Signal, SpanRecord
from collector.wire import Origins, Rejection, slice_logs, slice_spans


@dataclass(slots=True)
class SavedTrace:
    """A trace over all files: its spans and the log records that name it, each in order of the input."""

    trace_id: bytes
    spans: list[SpanRecord] = field(default_factory=list)
    logs: list[LogRecord] = field(default_factory=list)


@dataclass(slots=True)
class SavedTraces:
    """What was read.

    `spans`     every span that could be taken, in order of the input.
    `traces`    traces that have a span, in order of first sight.
    `failures`  one message per input, or item of it, that couldn't be read; each names file and place.
    `notes`     one message per file that was passed over because it isn't meant to be read, and one on log records that
                belong to no trace.
    """

    spans: list[SpanRecord] = field(default_factory=list)
    traces: list[SavedTrace] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def read_saved_traces(paths: Iterable[Path]) -> SavedTraces:
    """Read everything under these paths; what can't be read costs itself alone."""
    saved = SavedTraces()
    origins = Origins()
    strays = 0
    by_id: dict[bytes, SavedTrace] = {}
    noted: dict[str, list[Problem]] = {}
    for found in read_paths(paths):
        if not isinstance(found, Payload):
            if found.skipped:
                noted.setdefault(found.message, []).append(found)
            else:
                saved.failures.append(str(found))
            continue
        rejected: list[Rejection] = []
        try:
            if found.signal is Signal.TRACES:
                spans = slice_spans(found.request, (), origins, limits=None)
                rejected = spans.rejected
                saved.spans += spans.records
                for span in spans.records:
                    by_id.setdefault(span.trace_id, SavedTrace(span.trace_id)).spans.append(span)
            elif found.signal is Signal.LOGS:
                logs = slice_logs(found.request, (), origins, limits=None)
                rejected = logs.rejected
                for log in logs.records:
                    if log.trace_id:
                        by_id.setdefault(log.trace_id, SavedTrace(log.trace_id)).logs.append(log)
                    else:
                        strays += 1
        except MalformedRequestError as error:
            saved.failures.append(f"{_place(found)}: {error}")
        saved.failures += [f"{_place(found)}: {rejection.reason}" for rejection in rejected]
    if strays:
        records = "log record names" if strays == 1 else "log records name"
        saved.notes.append(f"{strays} {records} no trace: what model calls and tools wrote there is of no use")
    saved.traces = [trace for trace in by_id.values() if trace.spans]
    saved.notes += [_note(problems) for problems in noted.values()]
    return saved


def _note(problems: list[Problem]) -> str:
    first, more = problems[0], len(problems) - 1
    return f"{first} (and so {more} more)" if more else str(first)


def _place(payload: Payload) -> str:
    return f"{payload.path}, {payload.position}" if payload.position else str(payload.path)
