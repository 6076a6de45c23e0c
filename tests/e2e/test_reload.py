"""The configuration of a running sidecar is read again: nothing held or queued is lost, a bad one changes nothing."""

import asyncio
import json
import shutil
import signal
import socket
import ssl
from collections import Counter
from contextlib import suppress
from pathlib import Path

import grpc
import httpx2
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter

from bench.traffic import requests
from tests.e2e.sidecar import TRACES, Sidecar, free_port, running_backend, running_sidecar
from tests.e2e.test_explain import chat
from tests.e2e.test_life_cycle import is_alive, workers_of
from tests.e2e.test_run import config, post, scores, send_faulty_run, until
from tests.evaluators.judge_server import JudgeServer, slow

TLS = Path("tests/data/tls").absolute()
RELOADED = "configuration reloaded"
# Of those after which OTLP has a sender send again, the ones that a receiver which is exchanged may lead to.
AGAIN = {grpc.StatusCode.CANCELLED, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.UNAVAILABLE}


def change(sidecar: Sidecar, *replacements: tuple[str, str]) -> None:
    """Replace texts in the configuration's file; every one has to be there."""
    text = sidecar.config.read_text()
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    sidecar.config.write_text(text)


async def reload(sidecar: Sidecar) -> None:
    """Have it read its configuration again, as an operator does."""
    before = sidecar.stderr.count(RELOADED)
    sidecar.process.send_signal(signal.SIGHUP)
    await until(lambda: sidecar.stderr.count(RELOADED) > before or "not be reloaded" in sidecar.stderr)
    assert sidecar.stderr.count(RELOADED) > before, sidecar.stderr


async def send_until(stop: asyncio.Event, port: int, first: int) -> list[bytes]:
    """Send one span after the other, each until it is acknowledged, as an SDK does; their trace ids."""
    accepted: list[bytes] = []
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        export = channel.unary_unary(TRACES)
        while not stop.is_set():
            trace_id = (first + len(accepted)).to_bytes(16)
            while True:
                try:
                    await export(chat(trace_id, 1), timeout=10, wait_for_ready=True)
                except grpc.aio.AioRpcError as error:
                    assert error.code() in AGAIN, error
                    await asyncio.sleep(0.05)
                else:
                    break
            accepted.append(trace_id)
    return accepted


async def test_every_accepted_span_arrives_across_twenty_reloads_under_load(tmp_path: Path) -> None:
    async with running_backend() as backend, running_sidecar(tmp_path, config(backend.port)) as sidecar:
        stop = asyncio.Event()
        senders = [asyncio.create_task(send_until(stop, sidecar.grpc_port, 1 << 32 * one)) for one in (1, 2)]
        grpc_line = f'grpc: {{endpoint: "127.0.0.1:{sidecar.grpc_port}"}}'
        there_and_back = [
            ("initial_interval: 200ms", "initial_interval: 100ms"),
            ("quiet_period: 300ms", "quiet_period: 200ms"),
            ("tool_selection, tool_invocation, ", "tool_selection, "),
            (grpc_line, grpc_line.replace('"}', '", max_recv_msg_size_mib: 8}')),
            ("exporters: [otlp/backend]", "exporters: [otlp/backend, file]"),
        ]
        for old, new in there_and_back * 2:
            if new.endswith("file]"):
                change(sidecar, ("exporters:\n", "exporters:\n  file: {path: copy.jsonl}\n"))
            for one in ((old, new), (new, old)):
                change(sidecar, one)
                await reload(sidecar)
            if new.endswith("file]"):
                change(sidecar, ("  file: {path: copy.jsonl}\n", ""))
        stop.set()
        accepted = [trace_id for sent in await asyncio.gather(*senders) for trace_id in sent]
        assert sidecar.stderr.count(RELOADED) == 20
        assert await sidecar.stop() == 0
        arrived = Counter(span.trace_id for span in backend.spans)
        assert arrived.keys() >= set(accepted)
        assert set(arrived.values()) == {1}, "nothing was sent twice either"
        assert "Traceback" not in sidecar.stderr


async def test_a_bad_configuration_is_refused_with_all_its_errors_and_the_old_one_goes_on(tmp_path: Path) -> None:
    async with running_backend() as backend, running_sidecar(tmp_path, config(backend.port)) as sidecar:
        good = sidecar.config.read_text()
        change(sidecar, ("quiet_period", "quiet_periode"), ("exporters: [otlp/backend]", "exporters: [otlp/other]"))
        sidecar.process.send_signal(signal.SIGHUP)
        await until(lambda: sidecar.stderr.count("was not reloaded") >= 2)
        assert "quiet_periode" in sidecar.stderr and "otlp/other" in sidecar.stderr
        code, _, err = await sidecar.command("reload")
        assert code == 2 and "quiet_periode" in err
        sidecar.config.write_text("[not yaml")
        code, _, err = await sidecar.command("reload")
        assert code == 2
        sidecar.config.write_text(good)
        code, out, _ = await sidecar.command("reload")
        assert (code, out) == (0, "nothing has changed\n")
        await post(sidecar, [chat(bytes(15) + b"\1", 1)])
        await until(lambda: len(backend.spans) == 1)


async def test_a_destination_that_moved_gets_what_waited_at_its_old_address(tmp_path: Path) -> None:
    async with running_backend() as backend:
        gone = free_port()
        async with running_sidecar(tmp_path, config(gone)) as sidecar:
            await post(sidecar, list(requests("agent", 2)) + list(requests("tiny", 1)))
            await until(lambda: "trying again" in sidecar.stderr)
            change(sidecar, (f"127.0.0.1:{gone}", f"127.0.0.1:{backend.port}"))
            await reload(sidecar)
            assert "exporters::otlp/backend was changed" in sidecar.stderr
            await until(lambda: len(backend.spans) == 306)


async def test_a_destination_that_is_gone_still_gets_what_it_was_owed_and_nothing_new(tmp_path: Path) -> None:
    async with (
        running_backend() as old,
        running_backend() as new,
        running_sidecar(tmp_path, config(old.port)) as sidecar,
    ):
        old.unavailable = True
        await post(sidecar, [chat(bytes(15) + b"\1", 1)])
        await until(lambda: "trying again" in sidecar.stderr)
        change(
            sidecar,
            ("exporters: [otlp/backend]", "exporters: [otlp/new]"),
            (
                "exporters:\n",
                f'exporters:\n  otlp/new: {{endpoint: "127.0.0.1:{new.port}", tls: {{insecure: true}}}}\n',
            ),
        )
        await reload(sidecar)
        assert "exporters::otlp/backend is gone" in sidecar.stderr
        assert "1 requests are still to be delivered" in sidecar.stderr
        await post(sidecar, [chat(bytes(15) + b"\2", 1)])
        await until(lambda: len(new.spans) == 1)
        old.unavailable = False
        await until(lambda: len(old.spans) == 1)
        assert [span.trace_id[-1] for span in (*old.spans, *new.spans)] == [1, 2]
        await until(lambda: "everything is delivered; it was stopped" in sidecar.stderr)


async def send_run(sidecar: Sidecar) -> None:
    exporter = OTLPSpanExporter(endpoint=f"127.0.0.1:{sidecar.grpc_port}", insecure=True)
    await asyncio.to_thread(send_faulty_run, exporter)


async def test_another_judge_takes_over_while_the_old_ones_answer_is_still_taken(tmp_path: Path) -> None:
    async with running_backend() as backend, JudgeServer(slow(3.0)) as first, JudgeServer() as second:
        text = config(backend.port).replace("[health_check]", "[health_check, judge/j]")
        text = text.replace("task_completion: {}", "task_completion: {judge: judge/j}").replace("hold: 5s", "hold: 20s")
        text = text.replace(
            "processors:\n", f"  judge/j: {{model: one, base_url: '{first.base_url}'}}\nprocessors:\n", 1
        )
        async with running_sidecar(tmp_path, text) as sidecar:
            [old_worker] = workers_of(sidecar.process.pid)
            await send_run(sidecar)
            await until(lambda: len(first.received) > 0)
            change(sidecar, ("model: one", "model: two"), (first.base_url, second.base_url))
            await reload(sidecar)
            await send_run(sidecar)
            await until(lambda: len(backend.spans) == 8)
            models = {scores(span).get("eval.task_completion.model") for span in backend.spans} - {None}
            assert models == {"one", "two"}
            await until(lambda: not is_alive(old_worker))
            assert len(workers_of(sidecar.process.pid)) == 1


async def test_receivers_move_change_their_token_and_what_is_in_use_is_refused(tmp_path: Path) -> None:
    async with running_backend() as backend, running_sidecar(tmp_path, config(backend.port)) as sidecar:
        http = f'http: {{endpoint: "127.0.0.1:{sidecar.http_port}"}}'

        async def status(port: int, **headers: str) -> int:
            async with httpx2.AsyncClient(trust_env=False) as client:
                content = chat(bytes(15) + b"\1", 1)
                headers = {"content-type": "application/x-protobuf", **headers}
                answer = await client.post(f"http://127.0.0.1:{port}/v1/traces", content=content, headers=headers)
                return answer.status_code

        assert await status(sidecar.http_port) == 200
        with_token = http.replace('"}', '", auth: {bearer_token: secret}}')
        change(sidecar, (http, with_token))
        await reload(sidecar)
        assert await status(sidecar.http_port) == 401
        assert await status(sidecar.http_port, authorization="Bearer secret") == 200
        moved = free_port()
        change(sidecar, (with_token, http.replace(str(sidecar.http_port), str(moved))))
        await reload(sidecar)
        assert await status(moved) == 200
        with suppress(httpx2.ConnectError):
            raise AssertionError(f"still answered: {await status(sidecar.http_port)}")
        with socket.create_server(("127.0.0.1", 0)) as taken:
            change(sidecar, (str(moved), str(taken.getsockname()[1])))
            code, _, err = await sidecar.command("reload")
        assert code == 2 and "Address already in use" in err
        assert await status(moved) == 200, "the address before is still listened on"


async def test_a_certificate_that_was_renewed_in_place_is_presented(tmp_path: Path) -> None:
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    shutil.copy(TLS / "localhost.pem", certificate)
    shutil.copy(TLS / "localhost-key.pem", key)
    async with running_backend() as backend:
        text = config(backend.port).replace(
            '"127.0.0.1:HTTP_PORT"}', f'"127.0.0.1:HTTP_PORT", tls: {{cert_file: {certificate}, key_file: {key}}}}}'
        )
        async with running_sidecar(tmp_path, text) as sidecar:
            first = await asyncio.to_thread(ssl.get_server_certificate, ("127.0.0.1", sidecar.http_port))
            await reload(sidecar)
            assert "nothing has changed" in sidecar.stderr
            shutil.copy(TLS / "server.pem", certificate)
            shutil.copy(TLS / "server.key", key)
            await reload(sidecar)
            second = await asyncio.to_thread(ssl.get_server_certificate, ("127.0.0.1", sidecar.http_port))
            assert first != second


async def test_what_needs_a_restart_is_named_and_left_as_it_was(tmp_path: Path) -> None:
    async with running_backend() as backend, running_sidecar(tmp_path, config(backend.port)) as sidecar:
        change(
            sidecar,
            ("[health_check]", "[health_check, journal]"),
            ("extensions:\n", "extensions:\n  journal: {directory: elsewhere}\n"),
            ("exporters:\n  otlp/backend: {", "exporters:\n  otlp/backend: {scores: evaluation_spans, "),
        )
        code, _, err = await sidecar.command("reload")
        assert code == 0
        assert "extensions::journal" in err and "exporters::otlp/backend::scores" in err
        assert sidecar.stderr.count("not before a restart") == 2
        assert not (tmp_path / "elsewhere").exists()


async def test_levels_of_the_log_and_ways_of_metrics_change_in_place(tmp_path: Path) -> None:
    async with running_backend() as backend, running_sidecar(tmp_path, config(backend.port)) as sidecar:
        port = free_port()
        with sidecar.config.open("a") as file:
            file.write(
                f"  telemetry: {{metrics: {{readers: [{{pull: {{exporter: {{prometheus: {{port: {port}}}}}}}}}]}}}}\n"
            )
        await reload(sidecar)
        await post(sidecar, [chat(bytes(15) + b"\1", 1)])
        await until(lambda: len(backend.spans) == 1)
        async with httpx2.AsyncClient(trust_env=False) as client:
            metrics = (await client.get(f"http://127.0.0.1:{port}/metrics")).text
        assert 'spanjudge_receiver_accepted_spans_total{receiver="otlp"} 1.0' in metrics
        assert metrics.count("spanjudge_exporter_queue_spans{") == 1
        change(sidecar, ("telemetry: {metrics", "telemetry: {logs: {encoding: json}, metrics"))
        await reload(sidecar)
        assert json.loads(sidecar.stderr.splitlines()[-1])["msg"].startswith(RELOADED)
