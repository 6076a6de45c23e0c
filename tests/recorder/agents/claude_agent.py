"""The Claude Agent SDK: the library's tools in a server within the program, the agent in the SDK's own process.

Spans come from OpenInference or from the agent process itself (`DESK_INSTRUMENTATION`: openinference or native).
"""

from __future__ import annotations

import asyncio
import os
from typing import Any

import desk
import telemetry
from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, create_sdk_mcp_server, tool


def served(definition: dict[str, Any]) -> Any:
    name = definition["name"]

    @tool(name, definition["description"], definition["parameters"])
    async def run(arguments: dict[str, Any]) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": desk.run(name, arguments)}]}

    return run


async def visit() -> None:
    definitions = desk.definitions()
    options = ClaudeAgentOptions(
        model=desk.MODEL,
        system_prompt=desk.system(),
        mcp_servers={"desk": create_sdk_mcp_server("desk", tools=[served(each) for each in definitions])},
        tools=[],
        allowed_tools=[f"mcp__desk__{each['name']}" for each in definitions],
        setting_sources=[],
        max_turns=6,
        env={"CLAUDE_CONFIG_DIR": os.environ["HOME"]},
    )
    async with ClaudeSDKClient(options=options) as client:
        for user in desk.users():
            await client.query(user)
            async for _ in client.receive_response():
                pass


with telemetry.recorded(logs=False) as provider:
    if os.environ["DESK_INSTRUMENTATION"] == "openinference":
        from openinference.instrumentation.claude_agent_sdk import ClaudeAgentSDKInstrumentor

        ClaudeAgentSDKInstrumentor().instrument(tracer_provider=provider)
    asyncio.run(visit())
