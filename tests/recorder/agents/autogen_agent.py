"""An AutoGen agent (agentchat) with its own instrumentation, or that and OpenInference's (DESK_OPENINFERENCE).

DESK_TEAM: "rounds" (a round-robin group of one) or "handoff" (a swarm of two).
"""

from __future__ import annotations

import asyncio
import os

import desk
import telemetry


def instrument() -> None:
    if os.environ.get("DESK_OPENINFERENCE"):
        from openinference.instrumentation.autogen_agentchat import AutogenAgentChatInstrumentor

        AutogenAgentChatInstrumentor().instrument()


async def main() -> None:
    from autogen_agentchat.agents import AssistantAgent
    from autogen_agentchat.conditions import MaxMessageTermination, TextMessageTermination
    from autogen_agentchat.teams import RoundRobinGroupChat, Swarm
    from autogen_ext.models.openai import OpenAIChatCompletionClient

    model = OpenAIChatCompletionClient(model=desk.MODEL, max_retries=0)
    tools = desk.functions()
    team = os.environ.get("DESK_TEAM")
    if team == "handoff":
        clerk = AssistantAgent("desk", model, system_message=desk.system(), handoffs=["catalogue"])
        catalogue = AssistantAgent(
            "catalogue", model, tools=tools, system_message="You know the catalogue.", max_tool_iterations=5
        )
        runner = Swarm([clerk, catalogue], termination_condition=TextMessageTermination("catalogue"))
    else:
        clerk = AssistantAgent("desk", model, tools=tools, system_message=desk.system(), max_tool_iterations=5)
        runner = clerk
        if team == "rounds":
            runner = RoundRobinGroupChat([clerk], termination_condition=MaxMessageTermination(2))
    for user in desk.users():
        await runner.run(task=user)


with telemetry.recorded():
    instrument()
    asyncio.run(main())
