"""What large traces cost to read and to judge by rules: per kB of what was sent, and whether that grows with the size.

    python -m bench.sizes [SHAPE…]

Each shape of `bench.long_traces` is measured at a size and at four times that size, each in a process of its own.
Printed are the CPU time of reading (bytes to transcript) per kB, that of rules (transcript to scores) per step, both
at the larger size and as a ratio to the smaller one, and the memory that was needed at most, as a multiple of the bytes
of the trace.  Linear means that the ratios stay near 1.  (Where a step's text grows, and not the number of steps, the
ratio of rules is that of the time per kB.)
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.long_traces import SHAPES, TRACE_ID, Trace
from collector import process_memory
from evaluators.registry import EVALUATORS
from processors.judging import TraceInput, TraceJudge, TraceScores
from processors.otlp import Log, Span
from processors.reading.transcribe import transcribe
from processors.transcript import Transcript

_GROWTH = 4


@dataclass(frozen=True, slots=True)
class Cost:
    """What one trace cost.

    `steps` are spans, turns or calls, whichever are most; `peak_bytes` is what judging took at most, beyond the trace.
    """

    size_bytes: int
    spans: int
    steps: int
    reading_s: float
    judging_s: float
    peak_bytes: int

    @property
    def reading_us_per_kb(self) -> float:
        """Of bytes to transcript."""
        return self.reading_s * 1e6 / (self.size_bytes / 1000)

    @property
    def judging_us_per_step(self) -> float:
        """Of transcript to scores."""
        return self.judging_s * 1e6 / self.steps

    @property
    def judging_us_per_kb(self) -> float:
        """Of transcript to scores."""
        return self.judging_s * 1e6 / (self.size_bytes / 1000)


def cost_of(trace: Trace) -> Cost:
    """Judges a trace by rules alone, in this process."""
    read_at_s = 0.0
    steps = len(trace.spans)

    def read(spans: Sequence[Span], logs: Sequence[Log]) -> Transcript:
        nonlocal read_at_s, steps
        transcript = transcribe(TRACE_ID.hex(), spans, logs)
        read_at_s = time.process_time()
        steps = max(steps, sum(max(len(run.turns), len(run.calls)) for run in transcript.runs))
        return transcript

    judge = TraceJudge([entry.create() for entry in EVALUATORS.values()], read=read)
    given = TraceInput(trace_id=TRACE_ID, spans=trace.spans, logs=trace.logs)
    size_bytes = trace.size_bytes
    process_memory.trim()
    # From here on the process notes its greatest size anew.
    Path("/proc/self/clear_refs").write_text("5")
    before = _status_bytes("VmRSS")
    began_s = time.process_time()
    scores: TraceScores = asyncio.run(judge.judge(given))
    ended_s = time.process_time()
    if scores.failure is not None:
        raise RuntimeError(scores.failure)
    return Cost(
        size_bytes=size_bytes,
        spans=len(trace.spans),
        steps=steps,
        reading_s=read_at_s - began_s,
        judging_s=ended_s - read_at_s,
        peak_bytes=_status_bytes("VmHWM") - before,
    )


def _status_bytes(name: str) -> int:
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(name))
    return int(line.split()[1]) * 1024


def _measured(name: str, size: int) -> Cost:
    command = [sys.executable, "-m", "bench.sizes", "--one", name, str(size)]
    return Cost(**json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout))


def _print(name: str) -> None:
    shape = SHAPES[name]
    small, large = _measured(name, shape.size), _measured(name, shape.size * _GROWTH)
    reading = large.reading_us_per_kb / small.reading_us_per_kb
    if shape.by_bytes:
        judging = large.judging_us_per_kb / small.judging_us_per_kb
    else:
        judging = large.judging_us_per_step / small.judging_us_per_step
    print(
        f"{name:14}{large.spans:8,}{large.size_bytes / 1e6:8.1f}{large.reading_us_per_kb:9.1f}  × {reading:4.2f}"
        f"{large.judging_us_per_step:9.0f}  × {judging:4.2f}{large.peak_bytes / large.size_bytes:8.1f}"
        f"   {shape.size * _GROWTH:,} {shape.about}",
        flush=True,
    )


def main(names: Sequence[str] = ()) -> None:
    """Measures the named shapes, or all of them, and prints a table."""
    print(f"{'':14}{'':8}{'':8}{'reading':>9}{'':8}{'rules, µs':>9}{'':8}{'memory':>8}")
    print(f"{'':14}{'spans':>8}{'MB':>8}{'µs / kB':>9}{'':8}{'/ step':>9}{'':8}{'/ bytes':>8}")
    for name in names or SHAPES:
        _print(name)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        process_memory.settle()
        print(json.dumps(asdict(cost_of(SHAPES[sys.argv[2]].build(int(sys.argv[3]))))))
    else:
        main(sys.argv[1:])
