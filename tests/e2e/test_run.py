"""The whole sidecar: a real SDK sends, a real backend receives, scores are on the right spans and nothing is lost."""

import asyncio
import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import grpc
import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter

from bench.traffic import requests
from collector import wire
from tests.e2e.sidecar import TRACES, Sidecar, running_backend, running_sidecar

CONFIG = """
receivers:
  otlp:
    protocols:
      grpc: {endpoint: "127.0.0.1:GRPC_PORT"}
      http: {endpoint: "127.0.0.1:HTTP_PORT"}
extensions:
  health_check: {endpoint: "127.0.0.1:HEALTH_PORT"}
processors:
  assemble: {quiet_period: QUIET, idle_timeout: 20s, hold: 5s, max_hold: 30s}
  tool_selection: {}
  tool_invocation: {}
  tool_response_handling: {}
  task_completion: {}
  step_efficiency: {}
exporters:
  otlp/backend: {endpoint: "127.0.0.1:BACKEND_PORT", tls: {insecure: true}, retry_on_failure: {initial_interval: 200ms}}
service:
  extensions: [health_check]
  pipelines:
    traces:
      receivers: [otlp]
      processors: [assemble, tool_selection, tool_invocation, tool_response_handling, task_completion, step_efficiency]
      exporters: [otlp/backend]
"""


def config(backend_port: int, quiet: str = "300ms") -> str:
    return CONFIG.replace("BACKEND_PORT", str(backend_port)).replace("QUIET", quiet)


def tool_definition(name: str, **properties: str) -> dict[str, object]:
    schema = {
        "type": "object",
        "properties": {key: {"type": kind} for key, kind in properties.items()},
        "required": list(properties),
    }
    return {"type": "function", "name": name, "description": f"Runs {name}.", "parameters": schema}


def send_faulty_run(exporter: SpanExporter) -> None:
    """A run that calls a tool with an argument it doesn't have, told in the GenAI conventions by the real SDK."""
    provider = TracerProvider(resource=Resource({"service.name": "agent"}))
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("agent")
    question = {"role": "user", "parts": [{"type": "text", "content": "What is the weather in Porto?"}]}
    call = {"type": "tool_call", "id": "c1", "name": "get_weather", "arguments": {"city": "Porto", "mood": "good"}}
    result = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": '{"temp_c": 21}'}]}
    answer = {"role": "assistant", "parts": [{"type": "text", "content": "It is 21 °C in Porto."}]}
    asked = {"role": "assistant", "parts": [call]}
    with tracer.start_as_current_span(
        "invoke_agent weather", attributes={"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "weather"}
    ):
        for seen, said in (([question], asked), ([question, asked, result], answer)):
            with tracer.start_as_current_span(
                "chat model",
                attributes={
                    "gen_ai.operation.name": "chat",
                    "gen_ai.input.messages": json.dumps(seen),
                    "gen_ai.output.messages": json.dumps([said]),
                    "gen_ai.tool.definitions": json.dumps([tool_definition("get_weather", city="string")]),
                },
            ):
                pass
            if said is asked:
                with tracer.start_as_current_span(
                    "execute_tool get_weather",
                    attributes={
                        "gen_ai.operation.name": "execute_tool",
                        "gen_ai.tool.name": "get_weather",
                        "gen_ai.tool.call.id": "c1",
                        "gen_ai.tool.call.arguments": json.dumps(call["arguments"]),
                        "gen_ai.tool.call.result": '{"temp_c": 21}',
                    },
                ):
                    pass
    provider.shutdown()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.05)


def scores(span: Span) -> dict[str, object]:
    return {
        pair.key: getattr(pair.value, pair.value.WhichOneof("value") or "string_value")
        for pair in span.attributes
        if pair.key.startswith("eval.")
    }


@pytest.mark.parametrize("transport", ["grpc", "http"])
async def test_scores_stand_on_the_spans_behind_the_sidecar(tmp_path: Path, transport: str) -> None:
    async with running_backend() as backend, running_sidecar(tmp_path, config(backend.port)) as sidecar:
        exporter: SpanExporter = (
            GrpcExporter(endpoint=f"http://127.0.0.1:{sidecar.grpc_port}", insecure=True)
            if transport == "grpc"
            else HttpExporter(endpoint=f"http://127.0.0.1:{sidecar.http_port}/v1/traces")
        )
        await asyncio.to_thread(send_faulty_run, exporter)
        await until(lambda: len(backend.spans) == 4)
        by_name = {span.name: scores(span) for span in backend.spans}
        assert by_name["execute_tool get_weather"]["eval.tool_invocation.label"] == "incorrect"
        assert by_name["execute_tool get_weather"]["eval.tool_invocation.issue"] == "unexpected_argument"
        assert by_name["invoke_agent weather"]["eval.step_efficiency.label"] == "pass"
        assert not any(key.startswith("eval.tool_invocation") for key in by_name["chat model"])
        assert await sidecar.stop() == 0


async def post(sidecar: Sidecar, bodies: list[bytes]) -> None:
    async with grpc.aio.insecure_channel(f"127.0.0.1:{sidecar.grpc_port}") as channel:
        export = channel.unary_unary(TRACES)
        for body in bodies:
            await export(body)


async def test_sigterm_exports_everything_that_is_held(tmp_path: Path) -> None:
    async with running_backend() as backend, running_sidecar(tmp_path, config(backend.port, "10s")) as sidecar:
        await post(sidecar, list(requests("agent", 3)))
        assert not backend.spans
        assert await sidecar.stop() == 0
        assert len(backend.spans) == 306
        runs = [span for span in backend.spans if span.name == "invoke_agent weather"]
        assert all(scores(span)["eval.step_efficiency.label"] == "pass" for span in runs), "rules still judge"


async def test_a_backend_that_is_down_for_a_while_gets_everything_once(tmp_path: Path) -> None:
    async with running_backend() as backend, running_sidecar(tmp_path, config(backend.port)) as sidecar:
        backend.unavailable = True
        await post(sidecar, list(requests("agent", 2)) + list(requests("tiny", 2)))
        await asyncio.sleep(2)
        backend.unavailable = False
        await until(lambda: len(backend.spans) >= 408)
        ids = [(span.trace_id, span.span_id) for span in backend.spans]
        assert len(ids) == len(set(ids)) == 408


async def test_every_other_byte_of_a_span_is_as_it_was_sent(tmp_path: Path) -> None:
    async with running_backend() as backend, running_sidecar(tmp_path, config(backend.port)) as sidecar:
        sent = [*requests("agent", 2), *requests("tiny", 1)]
        await post(sidecar, sent)
        await until(lambda: len(backend.spans) == 306)
        received = b"".join(backend.requests[TRACES])
        assert all(span in received for body in sent for span in _span_bytes(body))
        assert any(scores(span) for span in backend.spans)


def _span_bytes(request: bytes) -> list[bytes]:
    return [record.span for record in wire.slice_spans(request, (), wire.Origins()).records]


async def test_the_judging_process_may_die_and_no_span_is_lost(tmp_path: Path) -> None:
    async with running_backend() as backend, running_sidecar(tmp_path, config(backend.port, "2s")) as sidecar:
        await post(sidecar, list(requests("agent", 1)))
        children = Path(f"/proc/{sidecar.process.pid}/task/{sidecar.process.pid}/children").read_text().split()
        workers = [int(child) for child in children if "judging.worker" in Path(f"/proc/{child}/cmdline").read_text()]
        assert len(workers) == 1
        os.kill(workers[0], signal.SIGKILL)
        await until(lambda: len(backend.spans) == 102)
        assert "judging process" in sidecar.stderr
        await post(sidecar, list(requests("agent", 1, seed=2)))
        await until(lambda: len(backend.spans) == 204)
        assert any(scores(span) for span in backend.spans), "the next process judges on"
