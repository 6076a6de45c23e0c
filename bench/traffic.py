"""Spans to measure with: an agent's (20 attributes, 3.9 kB on average, with messages and tools) and tiny ones."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import ScopeSpans, Span

SPANS_PER_REQUEST = 102
_ATTRIBUTES = 20
_TOOLS = json.dumps(
    [
        {
            "type": "function",
            "name": name,
            "description": "Looks something up for the user and answers with one JSON object.",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        }
        for name in ("get_weather", "find_hotel", "book_table")
    ]
)


_SYSTEM = json.dumps([{"type": "text", "content": "You help travellers; answer briefly and never invent. " * 42}])


def _set(span: Span, **attributes: str) -> None:
    for key, value in attributes.items():
        span.attributes.add(key=key.replace("__", ".")).value.string_value = value


def _fill(span: Span, rng: random.Random) -> None:
    """Add what every span of a service carries, up to as many attributes as are usual."""
    for number in range(_ATTRIBUTES - len(span.attributes)):
        span.attributes.add(key=f"app.context.{number}").value.string_value = f"{rng.randrange(1 << 32):08x}"


def _message(role: str, **part: object) -> dict[str, object]:
    return {"role": role, "parts": [part]}


def _agent_run(scope: ScopeSpans, trace_id: bytes, rng: random.Random) -> None:
    """Six spans: two decisions with their tools, the answer, and the run around them."""
    run_id = rng.randbytes(8)
    seen = [_message("user", type="text", content="What is the weather in Porto? " + "Please be precise. " * 12)]
    for number, tool in enumerate(("get_weather", "find_hotel", None)):
        call = {"type": "tool_call", "id": f"call_{number}", "name": tool, "arguments": {"city": "Porto"}}
        result = json.dumps(
            {"city": "Porto", "temp_c": 21, "place": f"number {number}", "about": "Quiet, near the river. " * 50}
        )
        said = {"role": "assistant", "parts": [call]}
        if tool is None:
            said = _message("assistant", type="text", content="It is 21 °C in Porto. " + "Enjoy your stay. " * 12)
        span = scope.spans.add(trace_id=trace_id, span_id=rng.randbytes(8), parent_span_id=run_id, name="chat model")
        _set(
            span,
            gen_ai__operation__name="chat",
            gen_ai__provider__name="provider",
            gen_ai__request__model="model",
            gen_ai__response__model="model-2026-01-01",
            gen_ai__response__id=f"response-{rng.randbytes(8).hex()}",
            gen_ai__conversation__id=run_id.hex(),
            gen_ai__agent__name="weather",
            gen_ai__output__type="text",
            server__address="api.example.com",
            user__id="u-1",
            gen_ai__system_instructions=_SYSTEM,
            gen_ai__tool__definitions=_TOOLS,
            gen_ai__input__messages=json.dumps(seen),
            gen_ai__output__messages=json.dumps([said]),
        )
        for key in ("gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens", "server.port", "gen_ai.request.seed"):
            span.attributes.add(key=key).value.int_value = rng.randrange(5000)
        _fill(span, rng)
        if tool is None:
            break
        ran = scope.spans.add(
            trace_id=trace_id, span_id=rng.randbytes(8), parent_span_id=run_id, name=f"execute_tool {tool}"
        )
        _set(
            ran,
            gen_ai__operation__name="execute_tool",
            gen_ai__tool__name=tool,
            gen_ai__tool__call__id=f"call_{number}",
            gen_ai__tool__call__arguments='{"city": "Porto"}',
            gen_ai__tool__call__result=result,
        )
        _fill(ran, rng)
        seen += [said, _message("tool", type="tool_call_response", id=f"call_{number}", response=result)]
    run = scope.spans.add(trace_id=trace_id, span_id=run_id, name="invoke_agent weather")
    _set(
        run,
        gen_ai__operation__name="invoke_agent",
        gen_ai__agent__name="weather",
        gen_ai__input__messages=json.dumps(seen[:1]),
        gen_ai__output__messages=json.dumps([said]),
    )
    _fill(run, rng)


def _tiny(scope: ScopeSpans, trace_id: bytes, rng: random.Random) -> None:
    span = scope.spans.add(trace_id=trace_id, span_id=rng.randbytes(8), name="GET /")
    span.attributes.add(key="http.request.method").value.string_value = "GET"
    span.attributes.add(key="http.response.status_code").value.int_value = 200


def requests(kind: str, count: int, seed: int = 1) -> Iterator[bytes]:
    """`count` serialised requests of `SPANS_PER_REQUEST` spans of kind "agent" or "tiny", with ids of their own."""
    rng = random.Random(f"{kind} {seed}")
    make, per_trace = (_agent_run, 6) if kind == "agent" else (_tiny, 1)
    for _ in range(count):
        request = ExportTraceServiceRequest()
        resource = request.resource_spans.add()
        resource.resource.attributes.add(key="service.name").value.string_value = "bench"
        scope = resource.scope_spans.add()
        scope.scope.name = "bench"
        for _ in range(SPANS_PER_REQUEST // per_trace):
            make(scope, rng.randbytes(16), rng)
        yield request.SerializeToString()
