"""A giant among small traces, and a load that lasts: nobody waits long, and afterwards memory is what it was."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from opentelemetry.proto.trace.v1.trace_pb2 import Span

from bench.long_traces import SHAPES
from tests.chaos import accounts
from tests.chaos.otlp_bytes import SpanBytes
from tests.chaos.scenarios.scenario import Scenario
from tests.chaos.stage import Scale, Stage, stage
from tests.chaos.traffic import Sent, request_of

_GIANT_SPANS = 50_000
_GIANT_ID = b"giant" + bytes(10) + b"1"
_SPANS_PER_REQUEST = 500


async def giant(folder: Path, scale: Scale, seed: int) -> Stage:
    """Small traces alone, then beside one of 50,000 spans."""
    async with stage(folder, scale, seed, assemble={"hold": "30s", "max_hold": "120s"}) as on:
        spans = _giant_spans()
        async with on.load(share=0.15, agents=1.0) as load:
            await asyncio.sleep(5.0)
            alone_from_s = time.monotonic()
            await asyncio.sleep(40.0)
            beside_from_s = time.monotonic()
            for at in range(0, len(spans), _SPANS_PER_REQUEST):
                part = spans[at : at + _SPANS_PER_REQUEST]
                await load.send_aside(Sent(request_of(part), part))
            sent_s = time.monotonic()
            await asyncio.sleep(max(40.0 - (sent_s - beside_from_s), 10.0))
        await on.conclude()
        for key in [key for key in on.ledger.entries if key[0] == _GIANT_ID]:
            del on.ledger.entries[key]
        alone_s = on.ledger.waits_s(on.backend.name, alone_from_s, beside_from_s)
        beside_s = on.ledger.waits_s(on.backend.name, beside_from_s)
        ratio = _p99(beside_s) / _p99(alone_s)
        on.figure("the giant was sent in", f"{sent_s - beside_from_s:.1f} s")
        on.figure(
            "small ones from acknowledgement to backend, p99",
            f"{_p99(alone_s):.2f} s alone, {_p99(beside_s):.2f} s beside it: × {ratio:.2f}",
        )
        on.check("others' p99 is at most doubled", ratio <= 2.0)
        return on


def _giant_spans() -> list[SpanBytes]:
    spans = []
    for _, _, data in SHAPES["wide"].build(_GIANT_SPANS).spans:
        span = Span.FromString(data)
        span.trace_id = _GIANT_ID
        spans.append(SpanBytes(_GIANT_ID, span.span_id, span.SerializeToString()))
    return spans


def _p99(sorted_s: list[float]) -> float:
    return sorted_s[len(sorted_s) * 99 // 100]


async def soak(folder: Path, scale: Scale, seed: int) -> Stage:
    """The same load for minutes; memory is compared with what it was after the first part of it."""
    async with stage(folder, scale, seed) as on:
        async with on.load():
            await asyncio.sleep(45.0)
        await _rest(on)
        baseline_mib = on.process.rss_mib()
        began_s = time.monotonic()
        async with on.load():
            await asyncio.sleep(300.0)
        await _rest(on)
        after_mib = on.process.rss_mib()
        on.figure(
            "memory after warming up, at most, and in the end",
            f"{baseline_mib:.0f}, {on.watch.highest_rss_mib(began_s):.0f}, {after_mib:.0f} MiB",
        )
        on.figure(
            "journal in the end", f"{on.process.journal_mib():.1f} MiB, at most {on.watch.highest_journal_mib():.1f}"
        )
        on.check("memory is back at its baseline (20 % and 16 MiB)", after_mib <= baseline_mib * 1.2 + 16)
        await on.conclude()
        return on


async def _rest(on: Stage) -> None:
    """Until nothing is held, queued or kept for late spans, and memory was given back."""
    gauges = "processor_held_spans", "exporter_queue_spans", "processor_held_bytes"
    on.check(
        "gauges are back at 0",
        await on.until(lambda samples: not any(accounts.total(samples, gauge) for gauge in gauges)),
    )
    await asyncio.sleep(15.0)


SCENARIOS = (
    Scenario("giant", "one trace of 50,000 spans at most doubles the others' p99", giant, in_tests=False),
    Scenario("soak", "gauges and memory return to their baseline", soak, in_tests=False),
)
