"""Sessions beside the live sidecar: judged when nothing has come of them for a while, below their last run."""

import asyncio
import json
from pathlib import Path

from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from tests.e2e.sidecar import running_backend, running_sidecar
from tests.e2e.test_run import CONFIG, scores, until
from tests.evaluators.judge_server import JudgeServer


def send_conversation(exporter: OTLPSpanExporter, session_id: str, *questions: str) -> None:
    """One trace per question, each with an agent and a model call, all of one session."""
    provider = TracerProvider(resource=Resource({"service.name": "agent"}))
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("agent")
    for question in questions:
        asked = {"role": "user", "parts": [{"type": "text", "content": question}]}
        said = {"role": "assistant", "parts": [{"type": "text", "content": f"About {question} I know a lot."}]}
        attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.conversation.id": session_id}
        with tracer.start_as_current_span(f"invoke_agent {question}", attributes=attributes):
            messages = {"gen_ai.input.messages": json.dumps([asked]), "gen_ai.output.messages": json.dumps([said])}
            with tracer.start_as_current_span(
                "chat", attributes={**attributes, "gen_ai.operation.name": "chat", **messages}
            ):
                pass
    provider.shutdown()


async def test_a_session_is_judged_as_a_whole_below_its_last_run_when_it_is_over(tmp_path: Path) -> None:
    async with JudgeServer() as judge, running_backend() as backend:
        text = CONFIG.replace("BACKEND_PORT", str(backend.port)).replace("QUIET", "300ms")
        text = text.replace("hold: 5s", "hold: 5s, session_idle: 2s").replace(
            "[health_check]", "[health_check, judge/j]"
        )
        text = text.replace("  task_completion: {}", "  session_task_completion: {judge: judge/j}")
        text = text.replace(" task_completion,", " session_task_completion,")
        text = text.replace("processors:\n", f"  judge/j: {{model: m, base_url: '{judge.base_url}'}}\nprocessors:\n", 1)
        async with running_sidecar(tmp_path, text) as sidecar:
            exporter = OTLPSpanExporter(endpoint=f"http://127.0.0.1:{sidecar.grpc_port}", insecure=True)
            await asyncio.to_thread(send_conversation, exporter, "s-1", "trams", "ferries")
            await until(lambda: len(backend.spans) == 5)
        [told] = [span for span in backend.spans if span.links]
        [last] = [span for span in backend.spans if span.name == "invoke_agent ferries"]
        assert (told.trace_id, told.parent_span_id) == (last.trace_id, last.span_id)
        assert scores(told)["eval.session_task_completion.method"] == "judge"
        assert "s-1" in {pair.value.string_value for pair in told.attributes if pair.key == "session.id"}
        [asked] = judge.received
        assert "trams" in asked.user and "ferries" in asked.user
