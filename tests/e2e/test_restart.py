"""A sidecar that is killed, or stopped while its backend is down, owes nothing once it runs again."""

import asyncio
from pathlib import Path

import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from bench.traffic import requests
from collector import wire
from tests.e2e.sidecar import TRACES, Backend, Sidecar, running_backend
from tests.e2e.test_run import config, post, scores, send_faulty_run, until

DURABILITIES = ["disk", "process"]


def journaled(text: str, durability: str = "disk") -> str:
    return text.replace("extensions:\n", f"extensions:\n  journal: {{durability: {durability}}}\n", 1).replace(
        "extensions: [health_check]", "extensions: [health_check, journal]"
    )


def to_two(text: str, other_port: int) -> str:
    other = f'otlp/other: {{endpoint: "127.0.0.1:{other_port}", tls: {{insecure: true}}}}'
    return text.replace("exporters:\n", f"exporters:\n  {other}\n", 1).replace(
        "exporters: [otlp/backend]", "exporters: [otlp/backend, otlp/other]"
    )


def sent_spans(body: bytes) -> list[bytes]:
    return [record.span for record in wire.slice_spans(body, (), wire.Origins()).records]


def received(backend: Backend) -> list[bytes]:
    return [span for body in backend.requests[TRACES] for span in sent_spans(body)]


def has_all(backend: Backend, sent: list[bytes]) -> bool:
    found = received(backend)
    return all(any(one.startswith(span) for one in found) for span in sent)


async def kill(sidecar: Sidecar) -> None:
    sidecar.process.kill()
    await sidecar.process.wait()


@pytest.mark.parametrize("durability", DURABILITIES)
async def test_spans_that_were_held_when_it_was_killed_arrive_with_scores(tmp_path: Path, durability: str) -> None:
    async with running_backend() as backend:
        sidecar = Sidecar(tmp_path, journaled(config(backend.port, quiet="2s"), durability))
        await sidecar.start()
        exporter = GrpcExporter(endpoint=f"http://127.0.0.1:{sidecar.grpc_port}", insecure=True)
        await asyncio.to_thread(send_faulty_run, exporter)
        await kill(sidecar)
        assert not backend.spans
        await sidecar.start()
        await until(lambda: len(backend.spans) == 4)
        assert await sidecar.stop() == 0
    tool = next(span for span in backend.spans if span.name.startswith("execute_tool"))
    assert scores(tool)["eval.tool_invocation.label"] == "incorrect"


async def test_what_waits_for_a_backend_that_is_down_survives_being_killed_twice(tmp_path: Path) -> None:
    bodies = [*requests("agent", 2), *requests("tiny", 2)]
    sent = [span for body in bodies for span in sent_spans(body)]
    async with running_backend() as backend:
        backend.unavailable = True
        sidecar = Sidecar(tmp_path, journaled(config(backend.port)))
        await sidecar.start()
        for body in bodies:
            await post(sidecar, [body])
        await asyncio.sleep(1.0)
        await kill(sidecar)
        await sidecar.start()
        await kill(sidecar)
        backend.unavailable = False
        await sidecar.start()
        await until(lambda: has_all(backend, sent))
        assert await sidecar.stop() == 0
        assert len(received(backend)) == len(sent)


async def test_every_destination_gets_the_same_bytes_whenever_it_gets_them(tmp_path: Path) -> None:
    (body,) = requests("agent", 1)
    async with running_backend() as backend, running_backend() as other:
        other.unavailable = True
        sidecar = Sidecar(tmp_path, to_two(journaled(config(backend.port)), other.port))
        await sidecar.start()
        await post(sidecar, [body])
        await until(lambda: has_all(backend, sent_spans(body)))
        await asyncio.sleep(0.5)
        await kill(sidecar)
        other.unavailable = False
        await sidecar.start()
        await until(lambda: has_all(other, sent_spans(body)))
        assert await sidecar.stop() == 0
        assert sorted(received(other)) == sorted(received(backend))
        assert any("eval." in str(Span.FromString(span)) for span in received(other))


async def test_stopped_while_the_backend_is_down_it_delivers_at_the_next_start(tmp_path: Path) -> None:
    (body,) = requests("tiny", 1)
    async with running_backend() as backend:
        backend.unavailable = True
        sidecar = Sidecar(tmp_path, journaled(config(backend.port)))
        await sidecar.start()
        await post(sidecar, [body])
        assert await sidecar.stop() == 0
        assert "will be at the next start" in sidecar.stderr
        assert not list(tmp_path.glob("spanjudge-dead-letters-*"))
        in_memory = Sidecar(tmp_path, journaled(config(backend.port), "memory"))
        await in_memory.start()
        assert await in_memory.stop() == 0
        assert f"holds {len(sent_spans(body))} items that were not delivered to otlp/backend" in in_memory.stderr
        sidecar = Sidecar(tmp_path, journaled(config(backend.port)))
        backend.unavailable = False
        await sidecar.start()
        await until(lambda: has_all(backend, sent_spans(body)))
        assert await sidecar.stop() == 0
        assert len(received(backend)) == len(sent_spans(body))


async def test_without_a_journal_on_disk_nothing_is_written(tmp_path: Path) -> None:
    (body,) = requests("tiny", 1)
    async with running_backend() as backend:
        sidecar = Sidecar(tmp_path, journaled(config(backend.port), "memory"))
        await sidecar.start()
        await post(sidecar, [body])
        await until(lambda: has_all(backend, sent_spans(body)))
        assert await sidecar.stop() == 0
    assert not (tmp_path / "journal").exists()
