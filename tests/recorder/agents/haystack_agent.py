"""A Haystack agent in a pipeline, instrumented as DESK_INSTRUMENTATION says: openinference, traceloop,
traceloop-openai or native (2.x only).
"""

from __future__ import annotations

import os

import desk
import telemetry


def instrument() -> None:
    name = os.environ.get("DESK_INSTRUMENTATION", "openinference")
    if name == "native":
        from haystack import tracing
        from haystack.tracing import OpenTelemetryTracer
        from opentelemetry import trace

        tracing.enable_tracing(OpenTelemetryTracer(trace.get_tracer("haystack")))
        return
    if name.startswith("traceloop"):
        from opentelemetry.instrumentation.haystack import HaystackInstrumentor as Instrumentor
    else:
        from openinference.instrumentation.haystack import HaystackInstrumentor as Instrumentor
    Instrumentor().instrument()
    if name == "traceloop-openai":
        from opentelemetry.instrumentation.openai import OpenAIInstrumentor

        OpenAIInstrumentor().instrument()


def main() -> None:
    from haystack import Pipeline
    from haystack.components.agents import Agent
    from haystack.components.generators.chat import OpenAIChatGenerator
    from haystack.dataclasses import ChatMessage
    from haystack.tools import create_tool_from_function

    model = OpenAIChatGenerator(model=desk.MODEL, max_retries=0)
    tools = [create_tool_from_function(function) for function in desk.functions()]
    clerk = Agent(chat_generator=model, tools=tools, system_prompt=desk.system())
    pipeline = Pipeline()
    pipeline.add_component("desk", clerk)
    messages = []
    for user in desk.users():
        messages.append(ChatMessage.from_user(user))
        messages = [
            message
            for message in pipeline.run({"desk": {"messages": messages}})["desk"]["messages"]
            if not message.is_from("system")
        ]


with telemetry.recorded():
    instrument()
    main()
