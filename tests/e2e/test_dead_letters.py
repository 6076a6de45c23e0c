"""What a backend can't take, from a running sidecar to the dead-letter file and to the backend after all."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import grpc

from tests.collector.backends import GrpcBackend, HttpAnswer, HttpBackend, span_names, trace_request
from tests.e2e.sidecar import Sidecar, running_sidecar
from tests.e2e.test_run import post, until

CONFIG = """
receivers:
  otlp: {protocols: {grpc: {endpoint: "127.0.0.1:GRPC_PORT"}}}
extensions:
  health_check: {endpoint: "127.0.0.1:HEALTH_PORT"}
exporters:
  EXPORTERS
service:
  extensions: [health_check]
  pipelines:
    traces: {receivers: [otlp], exporters: [NAMES]}
"""
LETTERS = "spanjudge-dead-letters-otlphttp-picky.jsonl"


def config(**exporters: str) -> str:
    named = {name.replace("_", "/"): text for name, text in exporters.items()}
    lines = "\n  ".join(f"{name}: {text}" for name, text in named.items())
    return CONFIG.replace("EXPORTERS", lines).replace("NAMES", ", ".join(named))


async def post_until_taken(sidecar: Sidecar, request: bytes) -> None:
    """What a sender does: writing a letter takes a disk's time, and past the limit it is asked to wait for it."""
    while True:
        try:
            await post(sidecar, [request])
        except grpc.aio.AioRpcError as error:
            assert error.code() is grpc.StatusCode.UNAVAILABLE
            await asyncio.sleep(0.05)
        else:
            return


async def test_a_refused_span_becomes_a_letter_and_is_sent_while_the_sidecar_goes_on(tmp_path: Path) -> None:
    fussy = True

    def picky(number: int, request: bytes) -> HttpAnswer:
        return HttpAnswer(400 if fussy and "bad" in span_names(request) else 200, b"'bad' is not allowed")

    async with HttpBackend(picky) as backend:
        text = config(otlphttp_picky=f"{{endpoint: '{backend.url}'}}")
        async with running_sidecar(tmp_path, text) as sidecar:
            await post(sidecar, [trace_request("a", "bad", "b")])
            await until(lambda: (tmp_path / LETTERS).exists() and sorted(span_names(*backend.accepted)) == ["a", "b"])
            code, out, err = await sidecar.command("dead-letters", "show", LETTERS, "--json", "--answers")
            assert (code, err) == (0, "")
            letter = json.loads(out)
            assert (letter["destination"], letter["items"]) == ("otlphttp/picky", 1)
            assert letter["reason"].endswith("answered 400")
            assert letter["answer"] == "'bad' is not allowed"
            assert "'bad' is not allowed" not in sidecar.stderr

            send = ("dead-letters", "send", LETTERS, "--config", str(sidecar.config))
            code, out, _ = await sidecar.command(*send)
            assert (code, "1 refused once more" in out) == (1, True)
            fussy = False
            await post(sidecar, [trace_request("c")])
            code, out, err = await sidecar.command(*send)
            assert (code, err) == (0, "")
            assert not (tmp_path / LETTERS).exists()
            await until(lambda: sorted(span_names(*backend.accepted)) == ["a", "b", "bad", "c"])


async def test_a_destination_that_is_down_makes_room_by_letters_and_the_other_one_never_waits(tmp_path: Path) -> None:
    async with GrpcBackend() as gone:
        pass
    async with GrpcBackend() as well:
        text = config(
            otlp_well=f"{{endpoint: '127.0.0.1:{well.port}', tls: {{insecure: true}}}}",
            otlp_gone=f"{{endpoint: '127.0.0.1:{gone.port}', tls: {{insecure: true}}, "
            "sending_queue: {on_full: dead_letter, queue_size: 40, sizer: requests, num_consumers: 2, "
            "batch: {min_size: 1}}}",
        )
        names = [f"s{number}" for number in range(300)]
        path = tmp_path / "spanjudge-dead-letters-otlp-gone.jsonl"
        async with running_sidecar(tmp_path, text) as sidecar:
            for name in names:
                await post_until_taken(sidecar, trace_request(name))
            await until(lambda: len(span_names(*well.accepted)) == len(names))
            await until(lambda: path.exists() and len(path.read_text().splitlines()) >= len(names) - 40)
            async with GrpcBackend(port=gone.port) as back:
                await until(lambda: len(span_names(*back.accepted)) + len(path.read_text().splitlines()) == len(names))
                send = ("dead-letters", "send", path.name, "--config", str(sidecar.config))
                code, _, err = await sidecar.command(*send)
                assert (code, err) == (0, "")
                assert sorted(span_names(*back.accepted)) == sorted(names)
    assert sorted(span_names(*well.accepted)) == sorted(names)


async def test_a_span_the_backend_falls_over_survives_a_restart_and_arrives_after_a_repair(tmp_path: Path) -> None:
    broken = True

    def chokes(number: int, request: bytes) -> HttpAnswer:
        return HttpAnswer(500 if broken and "heavy" in span_names(request) else 200)

    async with HttpBackend(chokes) as backend:
        text = config(otlphttp_b=f"{{endpoint: '{backend.url}', retry_on_failure: {{initial_interval: 20ms}}}}")
        async with running_sidecar(tmp_path, text) as sidecar:
            await post(sidecar, [trace_request("a", "heavy", "b")])
            number = 0
            while {"a", "b"} - set(span_names(*backend.accepted)):
                await post(sidecar, [trace_request(f"other{number}")])
                number += 1
                await asyncio.sleep(0.01)
        others = {f"other{n}" for n in range(number)}
        assert others <= set(span_names(*backend.accepted))
        assert list(tmp_path.glob("spanjudge-dead-letters-*")) == []
        broken = False
        async with running_sidecar(tmp_path, text):
            await until(lambda: "heavy" in span_names(*backend.accepted))
    arrived = span_names(*backend.accepted)
    assert set(arrived) == {"a", "b", "heavy"} | others
