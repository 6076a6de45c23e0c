"""A Google ADK agent over LiteLLM with its own instrumentation, or OpenInference's (DESK_OPENINFERENCE).

What the framework writes is chosen by its own environment variables. DESK_TEAM: "delegate" (AgentTool) or "handoff"
(a sub-agent takes over).
"""

from __future__ import annotations

import asyncio
import os

import desk
import telemetry


def instrument() -> None:
    if os.environ.get("DESK_OPENINFERENCE"):
        from openinference.instrumentation.google_adk import GoogleADKInstrumentor

        GoogleADKInstrumentor().instrument()


def telling(function):
    """A tool that tells the model of its errors instead of ending the run."""
    import functools

    @functools.wraps(function)
    def run(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except ValueError as error:
            return {"status": "error", "error_message": str(error)}

    return run if os.environ.get("DESK_FAILING") != "raise" else function


async def main() -> None:
    from google.adk.agents import LlmAgent
    from google.adk.models.lite_llm import LiteLlm
    from google.adk.runners import InMemoryRunner
    from google.genai.types import Content, Part

    model = LiteLlm(model=f"openai/{desk.MODEL}", num_retries=0)
    tools = [telling(function) for function in desk.functions()]
    team = os.environ.get("DESK_TEAM")
    if team:
        catalogue = LlmAgent(
            name="catalogue",
            model=model,
            description="Knows the catalogue.",
            instruction="You know the catalogue.",
            tools=tools,
        )
    if team == "delegate":
        from google.adk.tools.agent_tool import AgentTool

        clerk = LlmAgent(name="desk", model=model, instruction=desk.system(), tools=[AgentTool(agent=catalogue)])
    elif team == "handoff":
        clerk = LlmAgent(name="desk", model=model, instruction=desk.system(), sub_agents=[catalogue])
    else:
        clerk = LlmAgent(name="desk", model=model, instruction=desk.system(), tools=tools)
    runner = InMemoryRunner(agent=clerk, app_name="library")
    session = desk.session()
    await runner.session_service.create_session(app_name="library", user_id="reader", session_id=session)
    for user in desk.users():
        said = Content(role="user", parts=[Part(text=user)])
        async for _ in runner.run_async(user_id="reader", session_id=session, new_message=said):
            pass


with telemetry.recorded(logs=True):
    instrument()
    asyncio.run(main())
