"""A plain tool loop, instrumented by OpenTelemetry's own libraries.

Its spans for the agent and the tools come from `DESK_SPANS`: "handler" (opentelemetry-util-genai), "manual" (the plain
API, named and filled as the semantic conventions say) or none.
"""

from __future__ import annotations

import importlib
import json
import os

import desk
import telemetry
from loops import answer, from_environment, run_plainly
from opentelemetry import trace

INSTRUMENTORS = {
    "genai-openai": ("opentelemetry.instrumentation.genai.openai", "OpenAIInstrumentor"),
    "genai-anthropic": ("opentelemetry.instrumentation.genai.anthropic", "AnthropicInstrumentor"),
    "openai-v2": ("opentelemetry.instrumentation.openai_v2", "OpenAIInstrumentor"),
}


def with_handler(conversation) -> None:
    from opentelemetry.util.genai.handler import get_telemetry_handler
    from opentelemetry.util.genai.types import InputMessage, OutputMessage, Text

    handler = get_telemetry_handler()
    session = desk.session()

    def run_tool(name, arguments, call_id):
        with handler.tool(name, tool_type="function", agent_name="desk clerk") as tool:
            tool.tool_call_id = call_id
            tool.arguments = arguments
            tool.tool_result = desk.run(name, arguments)
            return tool.tool_result

    for user in desk.users():
        with handler.invoke_local_agent(
            request_model=desk.MODEL, agent_name="desk clerk", conversation_id=session
        ) as agent:
            agent.input_messages = [InputMessage(role="user", parts=[Text(content=user)])]
            said = answer(conversation, user, run_tool)
            agent.output_messages = [OutputMessage(role="assistant", parts=[Text(content=said)], finish_reason="stop")]


def by_hand(conversation) -> None:
    tracer = trace.get_tracer("library-desk")
    session = desk.session()
    common = {"gen_ai.agent.name": "desk clerk", "gen_ai.conversation.id": session, "gen_ai.provider.name": "openai"}

    def run_tool(name, arguments, call_id):
        with tracer.start_as_current_span(
            f"execute_tool {name}",
            attributes={
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": name,
                "gen_ai.tool.call.id": call_id,
                "gen_ai.tool.type": "function",
                "gen_ai.tool.call.arguments": json.dumps(arguments),
            },
        ) as span:
            result = desk.run(name, arguments)
            span.set_attribute("gen_ai.tool.call.result", result)
            return result

    for user in desk.users():
        with tracer.start_as_current_span(
            "invoke_agent desk clerk", attributes={"gen_ai.operation.name": "invoke_agent", **common}
        ):
            answer(conversation, user, run_tool)


with telemetry.recorded(logs=True):
    module, name = INSTRUMENTORS[os.environ["DESK_INSTRUMENTATION"]]
    getattr(importlib.import_module(module), name)().instrument()
    conversation = from_environment()
    spans = os.environ.get("DESK_SPANS")
    if spans == "handler":
        with_handler(conversation)
    elif spans == "manual":
        by_hand(conversation)
    else:
        for user in desk.users():
            answer(conversation, user, run_plainly)
