"""A judge's own traces: linked from verdicts, without content, and never judged when they come back to the sidecar."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.e2e.sidecar import TRACES, Backend, Sidecar, running_backend, running_sidecar
from tests.e2e.test_run import CONFIG, scores, send_faulty_run, until
from tests.evaluators.judge_server import Behaviour, JudgeServer, status, well

_EVALUATORS = ("tool_selection", "tool_invocation", "tool_response_handling", "task_completion", "step_efficiency")


@asynccontextmanager
async def sidecar_that_hears_itself(
    folder: Path, base_url: str, delay: str = "100ms"
) -> AsyncIterator[tuple[Sidecar, Backend]]:
    """A sidecar that exports its judge's traces to its own receiver, and a run of four spans that it was sent."""
    async with running_backend() as backend:
        text = CONFIG.replace("BACKEND_PORT", str(backend.port)).replace("QUIET", "300ms")
        text = text.replace("[health_check]", "[health_check, judge/j]")
        for name in _EVALUATORS:
            text = text.replace(f"  {name}: {{}}", f"  {name}: {{judge: judge/j}}")
        judge = f"  judge/j: {{model: fake-1, base_url: '{base_url}', max_retries: 0}}\n"
        text = text.replace("processors:\n", f"{judge}processors:\n", 1)
        exporter = "{otlp: {endpoint: 'http://127.0.0.1:HTTP_PORT/v1/traces'}}"
        text += (
            f"  telemetry: {{traces: {{processors: [{{batch: {{schedule_delay: {delay}, exporter: {exporter}}}}}]}}}}\n"
        )
        async with running_sidecar(folder, text) as sidecar:
            grpc = OTLPSpanExporter(endpoint=f"http://127.0.0.1:{sidecar.grpc_port}", insecure=True)
            await asyncio.to_thread(send_faulty_run, grpc)
            yield sidecar, backend


def _own(backend: Backend) -> list[Span]:
    """The spans of the judge's own traces."""
    return [
        span
        for request in backend.requests[TRACES]
        for resource in ExportTraceServiceRequest.FromString(request).resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
        if scope.scope.name == "spanjudge" and span.kind == Span.SPAN_KIND_CLIENT
    ]


def _attributes(span: Span) -> dict[str, object]:
    return {one.key: getattr(one.value, str(one.value.WhichOneof("value"))) for one in span.attributes}


async def test_a_verdict_names_the_trace_of_its_judge_and_that_trace_is_not_judged(tmp_path: Path) -> None:
    async with JudgeServer() as judge, sidecar_that_hears_itself(tmp_path, judge.base_url) as (_, backend):
        await until(lambda: len(backend.spans) == 6)
        own = _own(backend)
        assert len(own) == len(judge.received) == 2
        named = {
            str(value)
            for span in backend.spans
            for key, value in scores(span).items()
            if key.endswith(".judge_trace_id")
        }
        assert named == {span.trace_id.hex() for span in own}
        for span in own:
            said = _attributes(span)
            assert said["gen_ai.operation.name"] == "chat"
            assert said["gen_ai.request.model"] == "fake-1"
            assert (said["gen_ai.usage.input_tokens"], said["gen_ai.usage.output_tokens"]) == (1001, 101)
            assert said["spanjudge.judge"] == "judge/j"
            assert said["server.address"] == "127.0.0.1"
            assert not any("content" in key or "messages" in key for key in said)
            assert not scores(span)
        # As long as it takes to judge a trace, nothing more is asked and nothing more comes.
        await asyncio.sleep(1.5)
        assert len(judge.received) == 2
        assert len(backend.spans) == 6


async def test_what_the_sidecar_sent_itself_is_passed_on_at_once_when_it_comes_again(tmp_path: Path) -> None:
    async with JudgeServer() as judge, sidecar_that_hears_itself(tmp_path, judge.base_url) as (sidecar, backend):
        await until(lambda: len(backend.spans) == 6)
        again = ExportTraceServiceRequest()
        for request in backend.requests[TRACES]:
            for resource in ExportTraceServiceRequest.FromString(request).resource_spans:
                for scope in resource.scope_spans:
                    if scope.scope.name == "spanjudge":
                        again.resource_spans.add(resource=resource.resource).scope_spans.append(scope)
        async with httpx2.AsyncClient(trust_env=False) as client:
            url = f"http://127.0.0.1:{sidecar.http_port}/v1/traces"
            headers = {"content-type": "application/x-protobuf"}
            assert (await client.post(url, content=again.SerializeToString(), headers=headers)).status_code == 200
        await until(lambda: len(_own(backend)) == 4)
        assert len(judge.received) == 2


@pytest.mark.parametrize(("behaviour", "error"), [(status(401), "unauthorized"), (status(500), "server_error")])
async def test_a_request_that_failed_is_a_span_with_an_error(tmp_path: Path, behaviour: Behaviour, error: str) -> None:
    async with (
        JudgeServer(behaviour, well) as judge,
        sidecar_that_hears_itself(tmp_path, judge.base_url) as (_, backend),
    ):
        await until(lambda: any(_attributes(span).get("error.type") == error for span in _own(backend)))
        failed = next(span for span in _own(backend) if "error.type" in _attributes(span))
        assert failed.status.code == 2
        assert failed.status.message


async def test_a_sidecar_that_stops_sends_what_it_has_recorded(tmp_path: Path) -> None:
    async with JudgeServer() as judge, sidecar_that_hears_itself(tmp_path, judge.base_url, "5m") as (sidecar, backend):
        await until(lambda: len(backend.spans) == 4)
        assert _own(backend) == []
        assert await sidecar.stop() == 0
        assert len(_own(backend)) == len(judge.received) == 2
