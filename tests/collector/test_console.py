"""The console exporter as the pipeline uses it."""

from __future__ import annotations

import asyncio
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError
from rich.console import Console

from collector.exporters.console import REMEDY, ConsoleSender, Settings
from collector.exporters.sender import RejectedDataError, Taken, UnsupportedSignalError
from collector.exporters.trace_tree import Verbosity
from collector.records import Signal
from tests.collector.console_spans import bad, good, request, span

NO_HEADERS: dict[str, str] = {}


def sender_into(output: io.StringIO, verbosity: Verbosity = Verbosity.NORMAL) -> ConsoleSender:
    console = Console(file=output, width=120, highlight=False, soft_wrap=True)
    return ConsoleSender(Settings(verbosity=verbosity), console=console, write=lambda text, _: output.write(text))


async def test_a_judged_trace_is_printed_without_being_asked() -> None:
    output = io.StringIO()
    sender = sender_into(output)
    await sender.start()
    assert await sender.send(Signal.TRACES, request(span(2, 1, "step", **good("a"))), NO_HEADERS) == Taken()
    await sender.send(Signal.TRACES, request(span(1, name="run")), NO_HEADERS)
    async with asyncio.timeout(10):
        while "1 check passed" not in output.getvalue():
            await asyncio.sleep(0.05)
    await sender.stop()
    assert output.getvalue().count("run") == 1


async def test_stop_prints_what_is_still_held_back() -> None:
    output = io.StringIO()
    sender = sender_into(output)
    await sender.start()
    await sender.send(Signal.TRACES, request(span(2, 1, **bad("a", "leak", "Why."))), NO_HEADERS)
    await sender.stop()
    assert "✗ a incorrect leak: Why." in output.getvalue()


async def test_unscored_traces_become_one_line() -> None:
    output = io.StringIO()
    sender = sender_into(output)
    await sender.start()
    await sender.send(Signal.TRACES, request(*(span(1, trace_id=f"{n:032x}") for n in range(1, 6))), NO_HEADERS)
    await sender.stop()
    assert output.getvalue() == f"5 traces passed through without a score; {REMEDY}\n"


async def test_content_of_spans_is_never_printed() -> None:
    output = io.StringIO()
    sender = sender_into(output, Verbosity.DETAILED)
    await sender.start()
    judged = span(1, input__value="my secret question", **good("a"), llm__input_messages="private")
    await sender.send(Signal.TRACES, request(judged), NO_HEADERS)
    await sender.stop()
    assert "secret" not in output.getvalue() and "private" not in output.getvalue()


@pytest.mark.parametrize("signal", [Signal.LOGS, Signal.METRICS])
async def test_other_signals_are_refused_with_the_remedy(signal: Signal) -> None:
    with pytest.raises(UnsupportedSignalError, match="take it out of that pipeline"):
        await sender_into(io.StringIO()).send(signal, b"", NO_HEADERS)


async def test_bytes_that_are_no_request_are_rejected_data() -> None:
    with pytest.raises(RejectedDataError):
        await sender_into(io.StringIO()).send(Signal.TRACES, b"\x0a\xff\xff\xff\xff\x0f", NO_HEADERS)


async def test_a_closed_standard_output_stops_printing_and_nothing_else() -> None:
    output = io.StringIO()
    sender = sender_into(output)
    await sender.start()
    output.close()
    assert await sender.send(Signal.TRACES, request(span(1, **good("a"))), NO_HEADERS) == Taken()
    assert await sender.send(Signal.TRACES, request(span(2, **good("a"))), NO_HEADERS) == Taken()
    await sender.stop()


def test_a_standard_output_that_stands_still_delays_neither_sending_nor_the_end(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(STANDSTILL)
    nobody_reads, output = os.pipe()
    try:
        ended = subprocess.run(
            [sys.executable, program], check=False, stdout=output, stderr=subprocess.PIPE, text=True, timeout=60
        )
    finally:
        os.close(output)
        os.close(nobody_reads)
    assert ended.returncode == 0
    assert ended.stderr.strip() == "sent everything"


STANDSTILL = """
import asyncio, logging, sys
sys.path.insert(0, ".")
logging.disable()
from collector.exporters.console import ConsoleSender, Settings
from collector.records import Signal
from tests.collector.console_spans import bad, request, span

async def main():
    sender = ConsoleSender(Settings())
    await sender.start()
    for number in range(1, 2_000):
        spans = request(span(1, trace_id=f"{number:032x}", **bad("a", "leak", "Why. " * 50)))
        await sender.send(Signal.TRACES, spans, {})
    await asyncio.sleep(1)
    print("sent everything", file=sys.stderr)
    await sender.stop()

asyncio.run(main())
"""


def test_an_unknown_setting_is_an_error() -> None:
    with pytest.raises(ValidationError):
        Settings.model_validate({"verbosty": "basic"})
