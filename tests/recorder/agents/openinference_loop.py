"""A plain tool loop, instrumented by OpenInference: its spans for the agent and the tools, or none (`DESK_BARE`)."""

from __future__ import annotations

import os

import desk
import telemetry
from loops import answer, from_environment, run_plainly
from openinference.instrumentation import OITracer, TraceConfig, using_session
from opentelemetry import trace

with telemetry.recorded() as provider:
    if os.environ.get("DESK_API", "").startswith("messages"):
        from openinference.instrumentation.anthropic import AnthropicInstrumentor as Instrumentor
    else:
        from openinference.instrumentation.openai import OpenAIInstrumentor as Instrumentor
    Instrumentor().instrument(tracer_provider=provider)
    conversation = from_environment()
    if os.environ.get("DESK_BARE"):
        for user in desk.users():
            answer(conversation, user, run_plainly)
    else:
        tracer = OITracer(trace.get_tracer("desk"), config=TraceConfig())

        def run_tool(name, arguments, call_id):
            run = {function.__name__: function for function in desk.functions()}[name]
            return desk.as_text(tracer.tool(run)(**arguments))

        @tracer.agent(name="desk clerk")
        def turn(user: str) -> str:
            return answer(conversation, user, run_tool)

        with using_session(desk.session()):
            for user in desk.users():
                turn(user)
