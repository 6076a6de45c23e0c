"""A queue before a destination with all that belongs to it, and senders to the servers of the tests."""

from __future__ import annotations

import base64
import json
from pathlib import Path

from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from collector.exporters import aside, attempts, delivery
from collector.exporters.dead_letters import DeadLetterFile
from collector.exporters.otlp_grpc import OtlpGrpcSender, OtlpGrpcSettings
from collector.exporters.otlp_http import OtlpHttpSender, OtlpHttpSettings
from collector.exporters.queue import SendingQueue
from collector.exporters.sender import Sender
from collector.exporters.settings import QueueSettings, RetrySettings
from collector.holding.store import Budget, MemoryStore
from collector.records import Parcel, Ref, Signal
from collector.telemetry import Telemetry
from tests.collector.backends import GrpcBackend, HttpBackend, span_names, trace_request

QUICK = RetrySettings(initial_interval=0.005, max_interval=0.02)
NAMES = [f"s{number}" for number in range(40)]


class Harness:
    """A queue with its store, its dead letters and its metrics."""

    def __init__(
        self,
        sender: Sender,
        directory: Path,
        retry: RetrySettings = QUICK,
        queue: dict[str, object] | None = None,
        store: MemoryStore[Parcel] | None = None,
    ) -> None:
        self.store: MemoryStore[Parcel] = MemoryStore(Budget(1 << 30)) if store is None else store
        self.reader = InMemoryMetricReader()
        for module in (aside, attempts, delivery):
            # Messages of the test before are not to hold this one's back.
            module._log._last.clear()
        self.dead_letters = directory / "dead.jsonl"
        self.queue = SendingQueue(
            "otlp/x",
            sender,
            self.store,
            QueueSettings.model_validate({"batch": {"flush_timeout": "5ms"}, **(queue or {})}),
            retry,
            DeadLetterFile(self.dead_letters, "otlp/x"),
            Telemetry([self.reader]).exporter("otlp/x"),
        )

    def put(
        self,
        *names: str,
        headers: tuple[tuple[str, str], ...] = (),
        signal: Signal = Signal.TRACES,
        padding: int = 0,
    ) -> Ref:
        parcel = Parcel(signal, trace_request(*names, padding=padding), len(names), headers)
        ref = self.store.put(parcel, len(parcel.request), claims=1)
        self.queue.put(ref, parcel.waybill())
        return ref

    async def finish(self, deadline_s: float = 30.0) -> list[Ref]:
        return await self.queue.drain(deadline_s)

    def metric(self, name: str) -> float:
        data = self.reader.get_metrics_data()
        assert data is not None
        return sum(
            point.value  # type: ignore[union-attr]
            for resource in data.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
            if metric.name == f"spanjudge_{name}"
            for point in metric.data.data_points
        )

    def dead(self) -> list[str]:
        if not self.dead_letters.exists():
            return []
        lines = self.dead_letters.read_text().splitlines()
        return span_names(*(base64.b64decode(json.loads(line)["request"]) for line in lines))


def grpc_sender(backend: GrpcBackend, **more: object) -> Sender:
    return OtlpGrpcSender(
        "otlp/x",
        OtlpGrpcSettings.model_validate(
            {"endpoint": f"127.0.0.1:{backend.port}", "tls": {"insecure": True}, "timeout": "2s", **more}
        ),
    )


def http_sender(backend: HttpBackend) -> Sender:
    return OtlpHttpSender("otlphttp/x", OtlpHttpSettings(endpoint=backend.url, timeout=2.0))
