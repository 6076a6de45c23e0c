"""The sidecar's own metrics as an operator scrapes them: nothing is lost between the doors, whatever went wrong."""

import asyncio
import os
import signal
from pathlib import Path

import grpc
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter

from bench.traffic import requests
from tests.e2e.own_account import scraped, uneven, with_metrics
from tests.e2e.sidecar import LOGS, METRICS, TRACES, Sidecar, free_port, running_backend, running_sidecar
from tests.e2e.test_run import config, post, send_faulty_run, until


async def test_the_account_is_even_at_rest_after_everything_has_gone_wrong(tmp_path: Path) -> None:
    port = free_port()
    async with (
        running_backend() as backend,
        running_sidecar(tmp_path, with_metrics(config(backend.port), port)) as sidecar,
    ):
        backend.unavailable = True
        batches = list(requests("agent", 3))
        await post(sidecar, [*batches, batches[0]])
        (worker,) = workers_of(sidecar)
        os.kill(worker, signal.SIGKILL)
        await until(lambda: "starting a new one" in sidecar.stderr)
        await until(lambda: "trying again" in sidecar.stderr)
        backend.unavailable = False
        await until(lambda: len(backend.spans) >= 306)
        await asyncio.to_thread(send_faulty_run, OTLPSpanExporter(f"127.0.0.1:{sidecar.grpc_port}", insecure=True))
        await until(lambda: len(backend.spans) >= 310)
        async with asyncio.timeout(30):
            # Verdicts are counted in the judging process, which tells of them now and then.
            while (values := await scraped(port))["processor_held_spans", ""] or not any(
                'label="incorrect"' in labels for name, labels in values if name == "processor_verdicts_total"
            ):
                await asyncio.sleep(0.1)
        receiver, exporter = 'receiver="otlp"', 'exporter="otlp/backend"'
        assert uneven(values) == {}
        assert values["receiver_accepted_spans_total", receiver] == 412
        assert values["processor_deduplicated_spans_total", ""] == 102
        assert values["exporter_deduplicated_spans_total", exporter] == 102
        assert values["exporter_sent_spans_total", exporter] == len(backend.spans)
        assert values["exporter_retried_requests_total", exporter] >= 1
        assert values["processor_judging_restarts_total", ""] == 1


def workers_of(sidecar: Sidecar) -> list[int]:
    pid = sidecar.process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in children if "judging.worker" in Path(f"/proc/{child}/cmdline").read_text()]


async def test_each_receiver_takes_the_signals_of_the_pipelines_that_name_it(tmp_path: Path) -> None:
    port, logs_port = free_port(), free_port()
    second = f"  otlp/logs: {{protocols: {{grpc: {{endpoint: '0.0.0.0:{logs_port}'}}}}}}\nextensions:"
    async with running_backend() as backend:
        text = config(backend.port).replace("extensions:", second, 1)
        text += "    logs: {receivers: [otlp/logs], exporters: [otlp/backend]}\n"
        async with running_sidecar(tmp_path, with_metrics(text, port)) as sidecar:
            answers = {
                (to, method): await answer(to, method)
                for to in (sidecar.grpc_port, logs_port)
                for method in (TRACES, LOGS, METRICS)
            }
            taken = {asked for asked, code in answers.items() if code is grpc.StatusCode.OK}
            assert taken == {(sidecar.grpc_port, TRACES), (logs_port, LOGS)}
            assert {code for asked, code in answers.items() if asked not in taken} == {grpc.StatusCode.UNIMPLEMENTED}
            where = f"receivers::otlp/logs::protocols::grpc listens on 0.0.0.0:{logs_port}, beyond this machine"
            assert sidecar.stderr.count(where) == 1
            assert (await scraped(port))["receiver_exposed_addresses", ""] == 1


async def answer(port: int, method: str) -> grpc.StatusCode:
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        try:
            await channel.unary_unary(method)(b"")
        except grpc.aio.AioRpcError as error:
            return error.code()
        return grpc.StatusCode.OK
