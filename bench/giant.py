"""What one trace of 50,000 spans does to small ones beside it: how long these take from arrival to leaving with scores.

    python -m bench.giant

Small agent traces arrive at a steady rate, first alone and then beside the large one, at a real assembler with a real
judging process.  Printed are the times from the last arrival to leaving, beyond the quiet period that all wait,
and the longest turn of the event loop, which is what an acknowledgement may have to wait; both also as ratios.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import uvloop
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from bench.long_traces import SHAPES, TRACE_ID, Trace
from collector.holding.assembler import Assembler
from collector.holding.live_trace import Chunk
from collector.holding.settings import Settings
from collector.holding.store import Budget, MemoryStore
from collector.judging.jobs import EvaluationSpan, Judged
from collector.judging.process import JudgingProcess
from collector.judging.setup import Plan
from collector.records import LogRecord, Origin, Outbound, SpanRecord
from evaluators.registry import EVALUATORS

GIANT_SPANS = 50_000
SMALL_STEPS = 5
SMALL_PER_S = 10
LASTS_S = 40.0
GIANT_AT_S = 2.0
_SPANS_PER_REQUEST = 500
_TICK_S = 0.01
_QUIET_S = 0.5


@dataclass
class Outlet:
    """Where spans leave: notes when the first span of each trace did."""

    left_s: dict[bytes, float] = field(default_factory=dict)
    wants_evaluations: bool = False
    news: asyncio.Event = field(default_factory=asyncio.Event)

    async def until(self, traces: int) -> None:
        """Wait until spans of so many traces have left."""
        while len(self.left_s) < traces:
            self.news.clear()
            await self.news.wait()

    def leave(self, spans: Sequence[Outbound]) -> None:
        """Note the time."""
        for one in spans:
            self.left_s.setdefault(one.span[2:18], time.monotonic())
        self.news.set()

    def unreadable(self, spans: int) -> None:
        """Everything is in memory."""

    def evaluations(self, spans: Sequence[EvaluationSpan], origin: Origin, *, late: bool) -> None:
        """Nobody asked for them."""


@dataclass(frozen=True, slots=True)
class Found:
    """Seconds beyond the quiet period, of each small trace; the longest turn of the loop, in seconds."""

    delays_s: list[float]
    longest_turn_s: float

    @property
    def median_s(self) -> float:
        """In the middle."""
        return statistics.median(self.delays_s)

    @property
    def p99_s(self) -> float:
        """Of a hundred the last but one."""
        return statistics.quantiles(self.delays_s, n=100)[98]


def records_of(trace: Trace, trace_id: bytes) -> list[SpanRecord]:
    """A trace's spans as they are taken in, under another id."""
    origins: dict[tuple[bytes, bytes], Origin] = {}
    records = []
    for resource, scope, serialised in trace.spans:
        span = Span.FromString(serialised)
        span.trace_id = trace_id
        origin = origins.setdefault((resource, scope), Origin(resource, "", scope, ""))
        records.append(SpanRecord(trace_id, span.span_id, span.parent_span_id, None, origin, span.SerializeToString()))
    return records


async def measure(*, giant: bool) -> Found:
    """Let small traces come, with or without a large one beside them."""
    timing = Settings.model_validate(
        {"quiet_period": f"{_QUIET_S}s", "idle_timeout": "60s", "max_hold": "120s", "hold": "100s", "late_window": "1s"}
    )
    budget = Budget(1 << 30)
    spans: MemoryStore[Chunk] = MemoryStore(budget)
    logs: MemoryStore[LogRecord] = MemoryStore(budget)
    outlet = Outlet()
    made: list[Assembler] = []

    def judged(result: Judged) -> None:
        made[0].judged(result, time.monotonic())

    process = JudgingProcess(Plan(evaluators={name: one.create().settings for name, one in EVALUATORS.items()}), judged)
    assembler = Assembler(timing, spans, logs, outlet, process)
    made.append(assembler)
    small = SHAPES["genai"].build(SMALL_STEPS)
    smalls = {
        number.to_bytes(16): records_of(small, number.to_bytes(16)) for number in range(1, int(LASTS_S * SMALL_PER_S))
    }
    large = records_of(SHAPES["wide"].build(GIANT_SPANS), TRACE_ID) if giant else []
    turns: list[float] = []
    await process.start()

    async def keep_time() -> None:
        while True:
            before_s = time.monotonic()
            await asyncio.sleep(_TICK_S)
            assembler.tick(time.monotonic())
            turns.append(time.monotonic() - before_s - _TICK_S)

    async def send_large() -> None:
        await asyncio.sleep(GIANT_AT_S)
        for at in range(0, len(large), _SPANS_PER_REQUEST):
            assembler.add(TRACE_ID, large[at : at + _SPANS_PER_REQUEST], time.monotonic())
            await asyncio.sleep(0.002)

    beside = [asyncio.create_task(keep_time())]
    # The first one is for nothing: it waits until the process is there.
    assembler.add(b"w" * 16, records_of(small, b"w" * 16), time.monotonic())
    await outlet.until(1)
    beside.append(asyncio.create_task(send_large()))
    arrived_s: dict[bytes, float] = {}
    for trace_id, records in smalls.items():
        assembler.add(trace_id, records, time.monotonic())
        arrived_s[trace_id] = time.monotonic()
        await asyncio.sleep(1 / SMALL_PER_S)
    await outlet.until(len(smalls) + 1 + giant)
    for task in beside:
        task.cancel()
    await process.stop()
    return Found([outlet.left_s[one] - since_s - _QUIET_S for one, since_s in arrived_s.items()], max(turns))


def main() -> None:
    """Measure, and print a table."""
    alone, beside = uvloop.run(measure(giant=False)), uvloop.run(measure(giant=True))
    print(f"ms, small traces beside one of {GIANT_SPANS:,} spans")
    print(f"{'':14}{'alone':>9}{'beside':>9}")
    rows = [
        ("median", alone.median_s, beside.median_s),
        ("p99", alone.p99_s, beside.p99_s),
        ("longest turn", alone.longest_turn_s, beside.longest_turn_s),
    ]
    for name, alone_s, beside_s in rows:
        print(f"{name:14}{alone_s * 1e3:9.1f}{beside_s * 1e3:9.1f}  × {beside_s / alone_s:.2f}", flush=True)


if __name__ == "__main__":
    main()
