"""A pydantic-ai agent with its own instrumentation, or that and OpenInference's processor.

DESK_VERSION: of the instrumentation's data model. DESK_EVENTS: "attributes" or "logs" (1.x). DESK_CONTENT=off.
DESK_OPENINFERENCE. DESK_STREAM. DESK_OUTPUT: a structured answer, given by an output tool. DESK_CONVERSATION: give
the framework the session's id. DESK_PROMPT: instructions as a system prompt. DESK_FAILING: "retry" (the tool asks for
better arguments) or "raise" (its exception ends the run). DESK_TEAM=delegate: a second agent is asked from within a
tool.
"""

from __future__ import annotations

import asyncio
import functools
import os

import desk
import telemetry
from pydantic import BaseModel
from pydantic_ai import Agent, ModelRetry, ToolOutput
from pydantic_ai.models.instrumented import InstrumentationSettings
from pydantic_ai.models.openai import OpenAIChatModel


class Answer(BaseModel):
    """The answer to the reader."""

    answer: str


def processors():
    if not os.environ.get("DESK_OPENINFERENCE"):
        return []
    from openinference.instrumentation.pydantic_ai import OpenInferenceSpanProcessor

    return [OpenInferenceSpanProcessor()]


def settings() -> InstrumentationSettings:
    options = {}
    if version := os.environ.get("DESK_VERSION"):
        options["version"] = int(version)
    if mode := os.environ.get("DESK_EVENTS"):
        options["event_mode"] = mode
    if os.environ.get("DESK_CONTENT") == "off":
        options["include_content"] = False
    return InstrumentationSettings(**options)


def retrying(function):
    if os.environ.get("DESK_FAILING") == "raise":
        return function

    @functools.wraps(function)
    def tool(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except ValueError as error:
            raise ModelRetry(str(error)) from error

    return tool


def agent() -> Agent:
    model = OpenAIChatModel(desk.MODEL)
    tools = [retrying(function) for function in desk.functions()]
    if os.environ.get("DESK_TEAM") == "delegate":
        catalogue = Agent(model, name="catalogue", instructions="You know the catalogue.", tools=tools)

        async def ask_catalogue(question: str) -> str:
            """Ask the colleague who knows the catalogue."""
            return (await catalogue.run(question)).output

        tools = [ask_catalogue]
    structured = {"output_type": ToolOutput(Answer)} if os.environ.get("DESK_OUTPUT") else {}
    words = {"system_prompt" if os.environ.get("DESK_PROMPT") else "instructions": desk.system()}
    return Agent(model, name="desk", tools=tools, retries=2, **words, **structured)


async def main() -> None:
    clerk = agent()
    history = None
    known = {"conversation_id": desk.session()} if os.environ.get("DESK_CONVERSATION") else {}
    for user in desk.users():
        if os.environ.get("DESK_STREAM"):
            async with clerk.run_stream(user, message_history=history, **known) as result:
                async for _ in result.stream_text():
                    pass
        else:
            result = await clerk.run(user, message_history=history, **known)
        history = result.all_messages()


with telemetry.recorded(*processors(), logs=os.environ.get("DESK_EVENTS") == "logs"):
    Agent.instrument_all(settings())
    asyncio.run(main())
