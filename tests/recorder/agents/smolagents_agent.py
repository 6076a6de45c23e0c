"""A smolagents agent, instrumented by OpenInference or OpenTelemetry (DESK_INSTRUMENTATION:
openinference, genai, or genai-openai with the provider SDK's).

DESK_KIND: "calls" (ToolCallingAgent) or "code" (CodeAgent). DESK_STREAM. DESK_TEAM=delegate: a managed agent.
DESK_PLANNING: the agent makes a plan first.
"""

from __future__ import annotations

import os

import desk
import telemetry
from smolagents import CodeAgent, OpenAIModel, ToolCallingAgent, tool


def instrument() -> None:
    name = os.environ.get("DESK_INSTRUMENTATION", "openinference")
    if name.startswith("genai"):
        from opentelemetry.instrumentation.genai.smolagents import SmolagentsInstrumentor as Instrumentor
    else:
        from openinference.instrumentation.smolagents import SmolagentsInstrumentor as Instrumentor
    Instrumentor().instrument()
    if name == "genai-openai":
        from opentelemetry.instrumentation.genai.openai import OpenAIInstrumentor

        OpenAIInstrumentor().instrument()


def main() -> None:
    model = OpenAIModel(
        model_id=desk.MODEL,
        api_base=os.environ["OPENAI_BASE_URL"],
        api_key=os.environ["OPENAI_API_KEY"],
        client_kwargs={"max_retries": 0},
    )
    kind = CodeAgent if os.environ.get("DESK_KIND") == "code" else ToolCallingAgent
    tools = [tool(function) for function in desk.functions()]
    common = {"model": model, "verbosity_level": 0, "max_steps": 5}
    if os.environ.get("DESK_STREAM"):
        common["stream_outputs"] = True
    if os.environ.get("DESK_PLANNING"):
        common["planning_interval"] = 5
    if os.environ.get("DESK_TEAM") == "delegate":
        catalogue = kind(tools=tools, name="ask_catalogue", description="Knows the catalogue.", **common)
        clerk = kind(
            tools=[], managed_agents=[catalogue], instructions=desk.system(), name="desk", description="Desk.", **common
        )
    else:
        clerk = kind(tools=tools, instructions=desk.system(), name="desk", description="Desk.", **common)
    for number, user in enumerate(desk.users()):
        clerk.run(user, reset=number == 0)


with telemetry.recorded(logs=True):
    instrument()
    main()
