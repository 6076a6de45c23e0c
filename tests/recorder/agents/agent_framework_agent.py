"""A Microsoft Agent Framework agent with its own instrumentation, or that and OpenInference's processor.

DESK_CONTENT=off: without sensitive data. DESK_OPENINFERENCE. DESK_STREAM. DESK_API: "chat" or "responses".
DESK_TEAM=delegate: an agent as a tool.
"""

from __future__ import annotations

import asyncio
import os

import desk
import telemetry


def processors():
    if not os.environ.get("DESK_OPENINFERENCE"):
        return []
    from openinference.instrumentation.agent_framework import AgentFrameworkToOpenInferenceProcessor

    return [AgentFrameworkToOpenInferenceProcessor()]


async def main() -> None:
    from agent_framework import Agent
    from agent_framework.openai import OpenAIChatClient, OpenAIChatCompletionClient

    kind = OpenAIChatClient if os.environ.get("DESK_API") == "responses" else OpenAIChatCompletionClient
    client = kind(model=desk.MODEL)
    tools = desk.functions()
    if os.environ.get("DESK_TEAM") == "delegate":
        catalogue = Agent(client=client, name="catalogue", instructions="You know the catalogue.", tools=tools)
        tools = [
            catalogue.as_tool(
                name="ask_catalogue", description="Ask the colleague who knows the catalogue.", arg_name="question"
            )
        ]
    clerk = Agent(client=client, name="desk", instructions=desk.system(), tools=tools)
    session = clerk.create_session(session_id=desk.session())
    for user in desk.users():
        if os.environ.get("DESK_STREAM"):
            async for _ in clerk.run(user, session=session, stream=True):
                pass
        else:
            await clerk.run(user, session=session)


with telemetry.recorded(*processors(), logs=True):
    from agent_framework.observability import enable_instrumentation

    enable_instrumentation(enable_sensitive_data=os.environ.get("DESK_CONTENT") != "off")
    asyncio.run(main())
