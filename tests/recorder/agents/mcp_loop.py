"""A tool loop whose tools are behind the Model Context Protocol, in a process of their own.

`DESK_SPANS` says what the program adds: "tools" (a span for the agent and for each call), "agent" (no spans for calls,
only what the SDK or its instrumentation makes).
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import desk
import telemetry
from loops import answer, from_environment
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from openinference.instrumentation import OITracer, TraceConfig, using_session
from openinference.instrumentation.openai import OpenAIInstrumentor
from opentelemetry import context, trace


async def visit(tracer: OITracer) -> None:
    server = StdioServerParameters(
        command=sys.executable,
        args=[str(Path(__file__).with_name("mcp_server.py"))],
        env={**os.environ, "OTEL_SERVICE_NAME": "library-catalogue"},
    )
    async with stdio_client(server) as streams, ClientSession(*streams) as client:
        await client.initialize()
        await client.list_tools()
        loop = asyncio.get_running_loop()

        def remote(name, arguments):
            within = context.get_current()

            async def call():
                context.attach(within)
                return await client.call_tool(name, arguments)

            result = asyncio.run_coroutine_threadsafe(call(), loop).result()
            text = "\n".join(block.text for block in result.content)
            if getattr(result, "is_error", getattr(result, "isError", False)):
                raise RuntimeError(text)
            return text

        def run_tool(name, arguments, call_id):
            if os.environ.get("DESK_SPANS") != "tools":
                return remote(name, arguments)
            with tracer.start_as_current_span(name, openinference_span_kind="tool") as span:
                span.set_tool(name=name, parameters={})
                span.set_input(arguments)
                text = remote(name, arguments)
                span.set_output(text)
                return text

        conversation = from_environment()

        @tracer.agent(name="desk clerk")
        def turn(user: str) -> str:
            return answer(conversation, user, run_tool)

        with using_session(desk.session()):
            for user in desk.users():
                await asyncio.to_thread(turn, user)


with telemetry.recorded() as provider:
    OpenAIInstrumentor().instrument(tracer_provider=provider)
    telemetry.instrument_mcp(provider)
    asyncio.run(visit(OITracer(trace.get_tracer("desk"), config=TraceConfig())))
