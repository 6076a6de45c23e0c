"""A Semantic Kernel agent with its own instrumentation, which writes messages to logs."""

from __future__ import annotations

import asyncio
import os

import desk
import telemetry


async def main() -> None:
    from semantic_kernel.agents import ChatCompletionAgent, ChatHistoryAgentThread
    from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion
    from semantic_kernel.functions import KernelPlugin, kernel_function

    functions = [kernel_function(function, name=function.__name__) for function in desk.functions()]
    plugin = KernelPlugin.from_object("library", {f.__name__: f for f in functions})
    clerk = ChatCompletionAgent(
        service=OpenAIChatCompletion(ai_model_id=desk.MODEL, api_key=os.environ["OPENAI_API_KEY"]),
        name="desk",
        instructions=desk.system(),
        plugins=[plugin],
    )
    thread = ChatHistoryAgentThread(thread_id=desk.session())
    for user in desk.users():
        await clerk.get_response(messages=user, thread=thread)


with telemetry.recorded(logs=True):
    import logging

    from opentelemetry._logs import get_logger_provider
    from opentelemetry.sdk._logs import LoggingHandler

    handler = LoggingHandler(logger_provider=get_logger_provider())
    handler.addFilter(logging.Filter("semantic_kernel.utils.telemetry"))
    logging.getLogger().addHandler(handler)
    logging.getLogger().setLevel(logging.INFO)
    asyncio.run(main())
