"""The console exporter: prints each judged trace as a tree.

In go serialised trace requests, out come lines on standard output.  The spans of a trace may come in several requests;
it is printed when its top span has been seen and nothing more of it came for a moment, or when nothing came for some
seconds.  Traces without a score are only counted.

It never prints what agents, users or tools said (explanations hold short redacted quotes at most), never waits on a
slow terminal within `send`, and never fails the pipeline: what can't be shown is counted and said so.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import time
from collections.abc import Callable, Mapping

from pydantic import Field
from rich.console import Console
from rich.text import Text

from collector.exporters.printing_thread import PrintingThread, write_to_standard_output
from collector.exporters.sender import RejectedDataError, Taken, UnsupportedSignalError
from collector.exporters.settings import ExporterSettings
from collector.exporters.span_view import UnreadableRequestError, read_spans
from collector.exporters.trace_gathering import GatheredTrace, Gathering
from collector.exporters.trace_tree import TraceTree, Verbosity
from collector.records import Signal

UNSCORED_NOTE_INTERVAL_S = 10.0
REMEDY = "processors::assemble::emit_unscored: true shows why"
PLAIN_WIDTH = 120
STOP_WITHIN_S = 3.0
PACE_S = 0.1
"""The shortest time between two looks at what is due, however many requests come."""

log = logging.getLogger(__name__)


class Settings(ExporterSettings):
    """Settings of a `console` exporter."""

    verbosity: Verbosity = Field(
        default=Verbosity.NORMAL,
        description=(
            "basic: one line per judged trace. normal: the trace as a tree, faults with code and reason. "
            "detailed: also score, method, model, confidence and span id of every verdict."
        ),
    )


def standard_output() -> Console:
    """Standard output as it is: coloured and as wide as the terminal, or plain lines where it is a file or a pipe."""
    console = Console(highlight=False, soft_wrap=True)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = PLAIN_WIDTH
    return console


class ConsoleSender:
    """Prints judged traces; a `Sender` for traces.

    Args:
        settings: its settings.
        console: decides on width and colours.
        write: takes the finished text and its encoding; may block.
        clock: seconds that only go forward.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        console: Console | None = None,
        write: Callable[[str, str], object] = write_to_standard_output,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._console = console or standard_output()
        self._write_text = write
        self._clock = clock
        self._thread = PrintingThread()
        self._gathering = Gathering()
        self._noted_unscored_s = -UNSCORED_NOTE_INTERVAL_S
        self._wake = asyncio.Event()
        self._printer: asyncio.Task[None] | None = None
        self._broken = False

    async def start(self) -> None:
        """Start to print what `send` brings."""
        self._printer = asyncio.create_task(self._print_when_due(), name="console exporter")

    async def send(self, signal: Signal, request: bytes, headers: Mapping[str, str]) -> Taken:
        """Take the spans of a request for printing.

        Returns:
            0: nothing is ever rejected in part.

        Raises:
            UnsupportedSignalError: for logs and metrics.
            RejectedDataError: the bytes are no trace request.
        """
        if signal is not Signal.TRACES:
            raise UnsupportedSignalError(
                f"the console exporter shows traces, not {signal}: take it out of that pipeline"
            )
        try:
            spans = read_spans(request)
        except UnreadableRequestError as error:
            raise RejectedDataError(f"console: {error}") from error
        self._gathering.add(spans, self._clock())
        self._wake.set()
        return Taken()

    async def stop(self) -> None:
        """Print everything that is still held back."""
        if self._printer is not None:
            self._printer.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._printer
            self._printer = None
        try:
            async with asyncio.timeout(STOP_WITHIN_S):
                await self._print(self._gathering.take_all())
                await self._note_unscored(self._clock(), last=True)
        except TimeoutError:
            log.warning("standard output takes nothing: the console exporter leaves the last traces unprinted")
        self._thread.stop()

    async def _print_when_due(self) -> None:
        while True:
            now_s = self._clock()
            await self._print(self._gathering.take_due(now_s))
            await self._note_unscored(now_s)
            due_s = self._gathering.next_due_s
            if self._gathering.unscored_traces:
                note_s = self._noted_unscored_s + UNSCORED_NOTE_INTERVAL_S
                due_s = note_s if due_s is None else min(due_s, note_s)
            wait_s = None if due_s is None else max(0.0, due_s - self._clock())
            self._wake.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), wait_s)
            await asyncio.sleep(PACE_S)

    async def _print(self, traces: list[GatheredTrace]) -> None:
        for trace in traces:
            tree = TraceTree(trace.spans, self._settings.verbosity, trace.omitted, trace.continued)
            await self._write(tree, blank_line=self._settings.verbosity is not Verbosity.BASIC)

    async def _note_unscored(self, now_s: float, *, last: bool = False) -> None:
        if not last and now_s < self._noted_unscored_s + UNSCORED_NOTE_INTERVAL_S:
            return
        unscored, unshown = self._gathering.take_counts()
        if unscored:
            self._noted_unscored_s = now_s
            words = "trace passed" if unscored == 1 else "traces passed"
            await self._write(Text(f"{unscored} {words} through without a score; {REMEDY}", style="dim"))
        if unshown:
            await self._write(
                Text(f"{unshown} judged traces not shown: more came than could be printed", style="yellow")
            )

    async def _write(self, what: TraceTree | Text, *, blank_line: bool = False) -> None:
        if self._broken:
            return
        try:
            await self._thread.run(lambda: self._write_now(what, blank_line))
        except (OSError, ValueError) as error:
            self._broken = True
            log.warning("standard output is closed (%s): the console exporter prints no more", type(error).__name__)

    def _write_now(self, what: TraceTree | Text, blank_line: bool) -> None:
        with self._console.capture() as captured:
            self._console.print(what)
            if blank_line:
                self._console.print()
        self._write_text(captured.get(), self._console.encoding)
