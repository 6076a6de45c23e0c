"""The travel assistant: a plain tool loop, traced the way agents are traced today.

The calls to the model are traced by the OpenInference instrumentation of the `openai` library; the agent and its tools
write their own spans with OpenInference's tracer.  Nothing here knows of spanjudge.
"""

from __future__ import annotations

import json
from typing import Any

from openai import OpenAI
from openinference.instrumentation import OITracer, TraceConfig
from openinference.instrumentation.openai import OpenAIInstrumentor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.trace import Status, StatusCode, format_trace_id

from .model_server import MODEL
from .scenarios import Scenario
from .tools import Tool, failure, travel_tools

SYSTEM = "You are the assistant of a travel desk. Use the tools; tell only what they answered, and never credentials."
MAX_TURNS = 6


class TravelDesk:
    """The assistant with its tracing; close it to flush what was traced."""

    def __init__(self, model_url: str, exporter: SpanExporter) -> None:
        self._provider = TracerProvider(resource=Resource.create({"service.name": "travel-desk"}))
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._instrumentor = OpenAIInstrumentor()
        self._instrumentor.instrument(tracer_provider=self._provider)
        self._tracer = OITracer(self._provider.get_tracer("travel_desk"), config=TraceConfig())
        self._client = OpenAI(base_url=model_url, api_key="not-needed", max_retries=0, timeout=10)

    def close(self) -> None:
        self._client.close()
        self._instrumentor.uninstrument()
        self._provider.shutdown()

    def run(self, scenario: Scenario) -> str:
        """Answer the scenario's question; returns the id of the trace."""
        tools = travel_tools()
        offers: Any = [tool.offer for tool in tools.values()]
        messages: Any = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": scenario.question}]
        with self._tracer.start_as_current_span(scenario.title, openinference_span_kind="agent") as span:
            span.set_input(scenario.question)
            for _ in range(MAX_TURNS):
                reply = self._client.chat.completions.create(model=MODEL, messages=messages, tools=offers)
                message = reply.choices[0].message
                messages.append(message.model_dump(exclude_none=True))
                if not message.tool_calls:
                    span.set_output(message.content or "")
                    break
                for call in message.tool_calls:
                    answer = self._call_tool(tools, call.id, call.function.name, call.function.arguments)
                    messages.append({"role": "tool", "tool_call_id": call.id, "content": answer})
            return format_trace_id(span.get_span_context().trace_id)

    def _call_tool(self, tools: dict[str, Tool], call_id: str, name: str, arguments: str) -> str:
        with self._tracer.start_as_current_span(name, openinference_span_kind="tool") as span:
            tool = tools.get(name)
            span.set_tool(
                name=name,
                description=tool.description if tool else None,
                parameters=tool.parameters if tool else {},
            )
            span.set_attribute("tool_call.id", call_id)
            span.set_input(arguments, mime_type="application/json")
            answer = tool.call(json.loads(arguments)) if tool else failure("unknown_tool", f"there is no tool {name}")
            text = json.dumps(answer)
            span.set_output(text, mime_type="application/json")
            span.set_status(
                Status(StatusCode.ERROR, answer["error"]["message"]) if "error" in answer else StatusCode.OK
            )
            return text
