"""What is sent: agents' runs, as rules can judge, and small spans of other services, all with ids of their own.

Spans of several traces are mixed, so that a trace comes in pieces over several requests, its top span last, first or in
between.  Everything is decided by a seed.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from bench.traffic import requests
from tests.chaos.otlp_bytes import SpanBytes
from tests.collector.otlp_samples import field, request

_LATEST_NS = 2**64 - 1
_OPEN_TRACES = 12
_RESOURCE = field(1, field(1, b"service.name") + field(2, field(1, b"agent")))
_SCOPE = field(1, b"chaos")

Times = Callable[[random.Random], tuple[int, int]]
"""When a span began and ended, in nanoseconds since 1970."""


def plausible(rng: random.Random) -> tuple[int, int]:
    """A moment ago."""
    end_ns = time.time_ns() - rng.randrange(10**8)
    return end_ns - rng.randrange(10**9), end_ns


def wrong(rng: random.Random) -> tuple[int, int]:
    """As of senders whose clocks are years off, or that end before they begin."""
    now_ns = time.time_ns()
    edges = (0, 1, now_ns - 10**18, now_ns, now_ns + 10**18, _LATEST_NS)
    return rng.choice(edges), rng.choice(edges)


@dataclass(frozen=True, slots=True)
class Sent:
    """A request, and the spans in it."""

    body: bytes
    spans: Sequence[SpanBytes]


@dataclass(frozen=True, slots=True)
class _Template:
    """A trace to be told again under other ids."""

    trace_id: bytes
    spans: Sequence[tuple[bytes, bytes]]

    def told(self, trace_id: bytes, number: int) -> list[SpanBytes]:
        """Its spans with ids that nothing else has."""
        ids = {old: (number << 20 | index).to_bytes(8) for index, (old, _) in enumerate(self.spans, 1)}
        told = []
        for old, data in self.spans:
            data = data.replace(self.trace_id, trace_id)
            for before, after in ids.items():
                data = data.replace(before, after).replace(before.hex().encode(), after.hex().encode())
            told.append(SpanBytes(trace_id, ids[old], data))
        return told


def _templates(kind: str, seed: int, times: Times) -> list[_Template]:
    rng = random.Random(seed)
    (body,) = requests(kind, 1, seed)
    traces: dict[bytes, list[tuple[bytes, bytes]]] = {}
    for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
        for scope in resource.scope_spans:
            for span in scope.spans:
                dated = Span()
                dated.CopyFrom(span)
                dated.start_time_unix_nano, dated.end_time_unix_nano = times(rng)
                traces.setdefault(span.trace_id, []).append((span.span_id, dated.SerializeToString()))
    return [_Template(trace_id, spans) for trace_id, spans in traces.items()]


class Traffic:
    """An endless stream of requests.

    Args:
        seed: decides everything but the times of spans.
        agents: the share of traces that are agents' runs.
        spans_per_request: at most.
        times: of spans.
    """

    def __init__(
        self, seed: int, *, agents: float = 0.5, spans_per_request: int = 40, times: Times = plausible
    ) -> None:
        self._rng = random.Random(seed)
        self._agents = agents
        self._spans_per_request = spans_per_request
        self._runs = _templates("agent", seed, times)
        self._small = _templates("tiny", seed, times)
        self._prefix = self._rng.randbytes(8)
        self._number = self._rng.randrange(1 << 20) << 20
        self._open: list[list[SpanBytes]] = []

    def _begin(self) -> list[SpanBytes]:
        rng = self._rng
        self._number += 1
        template = rng.choice(self._runs if rng.random() < self._agents else self._small)
        spans = template.told(self._prefix + self._number.to_bytes(8), self._number)
        if rng.random() < 0.3:
            rng.shuffle(spans)
        return spans

    def next(self) -> Sent:
        """The next request."""
        rng = self._rng
        spans: list[SpanBytes] = []
        wanted = rng.randint(1, self._spans_per_request)
        while len(spans) < wanted:
            while len(self._open) < _OPEN_TRACES:
                self._open.append(self._begin())
            trace = rng.choice(self._open)
            take = rng.randint(1, len(trace))
            spans += trace[:take]
            del trace[:take]
            self._open = [one for one in self._open if one]
        return Sent(request_of(spans), spans)

    def rest(self) -> Sent | None:
        """What is left of traces that were begun, so that all of them are whole."""
        spans = [span for trace in self._open for span in trace]
        self._open = []
        return Sent(request_of(spans), spans) if spans else None


def request_of(spans: Sequence[SpanBytes]) -> bytes:
    """A request of these spans."""
    return request(*(span.data for span in spans), resource=_RESOURCE, scope=_SCOPE)
