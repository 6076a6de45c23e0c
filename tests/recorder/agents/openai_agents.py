"""The OpenAI Agents SDK: one clerk, or two of which one hands over to or consults the other.

`DESK_MODE` names, joined by hyphens: chat (instead of responses), stream, errors (shown to the model as they are),
handoff, delegate, bare (no session id).
"""

from __future__ import annotations

import asyncio
import os

import desk
import telemetry
from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    RunConfig,
    Runner,
    SQLiteSession,
    function_tool,
    set_trace_processors,
    set_tracing_disabled,
)
from openai import AsyncOpenAI

MODES = set(os.environ.get("DESK_MODE", "").split("-"))


def instrument(name: str, provider) -> None:
    if name == "traceloop":
        return
    set_trace_processors([])
    if name == "openinference":
        from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor

        OpenAIAgentsInstrumentor().instrument(tracer_provider=provider)
    elif name == "genai":
        from opentelemetry.instrumentation.genai.openai import OpenAIInstrumentor
        from opentelemetry.instrumentation.genai.openai_agents import OpenAIAgentsInstrumentor

        OpenAIInstrumentor().instrument()
        OpenAIAgentsInstrumentor().instrument()
    elif name == "v2":
        from opentelemetry.instrumentation.openai_agents import OpenAIAgentsInstrumentor

        OpenAIAgentsInstrumentor().instrument(tracer_provider=provider)


def model():
    return OpenAIChatCompletionsModel(desk.MODEL, AsyncOpenAI()) if "chat" in MODES else desk.MODEL


def shown_as_it_is(context, error: Exception) -> str:
    return f"The tool failed: {error}"


def clerk(name: str) -> Agent:
    options = {"failure_error_function": shown_as_it_is} if "errors" in MODES else {}
    tools = [function_tool(function, **options) for function in desk.functions()]
    return Agent(name=name, instructions=desk.system(), tools=tools, model=model())


def team() -> Agent:
    if "handoff" in MODES:
        expert = clerk("Catalogue desk")
        return Agent(name="Front desk", instructions="Hand over to whoever knows.", handoffs=[expert], model=model())
    if "delegate" in MODES:
        expert = clerk("Catalogue desk").as_tool("ask_catalogue", "Ask the catalogue desk.")
        return Agent(name="Front desk", instructions="Ask whoever knows.", tools=[expert], model=model())
    return clerk("Desk clerk")


async def run(session) -> None:
    agent = team()
    config = RunConfig(workflow_name="Library desk", group_id=desk.session() if session is None else None)
    history = SQLiteSession("visit")
    for user in desk.users():
        if "stream" in MODES:
            result = Runner.run_streamed(agent, user, run_config=config, session=history)
            async for _ in result.stream_events():
                pass
        else:
            await Runner.run(agent, user, run_config=config, session=history)


def main(provider) -> None:
    name = os.environ["DESK_INSTRUMENTATION"]
    instrument(name, provider)
    if name == "openinference" and "bare" not in MODES:
        from openinference.instrumentation import using_session

        with using_session(desk.session()):
            asyncio.run(run(desk.session()))
    else:
        asyncio.run(run(None))


if os.environ["DESK_INSTRUMENTATION"] == "traceloop":
    import traceloop_setup

    with traceloop_setup.recorded():
        main(None)
else:
    set_tracing_disabled(False)
    with telemetry.recorded(logs=True) as provider:
        main(provider)
