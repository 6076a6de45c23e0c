"""A CrewAI crew, instrumented as DESK_INSTRUMENTATION says: openinference, openinference-openai, traceloop or
traceloop-openai. DESK_TEAM=delegate: an agent that may delegate to a coworker. DESK_PLANNING: the crew makes a
plan first.
"""

from __future__ import annotations

import os

os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "CREWAI_TRACING_ENABLED": "false"}

import desk
import telemetry


def instrument() -> None:
    name = os.environ.get("DESK_INSTRUMENTATION", "openinference")
    if name.startswith("traceloop"):
        from opentelemetry.instrumentation.crewai import CrewAIInstrumentor

        if name.endswith("openai"):
            from opentelemetry.instrumentation.openai import OpenAIInstrumentor
    else:
        from openinference.instrumentation.crewai import CrewAIInstrumentor

        if name.endswith("openai"):
            from openinference.instrumentation.openai import OpenAIInstrumentor
    CrewAIInstrumentor().instrument()
    if name.endswith("openai"):
        OpenAIInstrumentor().instrument()


def main() -> None:
    from crewai import LLM, Agent, Crew, Task
    from crewai.tools import tool

    model = LLM(model=f"openai/{desk.MODEL}", base_url=os.environ["OPENAI_BASE_URL"], max_retries=0)
    tools = [tool(function.__name__)(function) for function in desk.functions()]
    team = os.environ.get("DESK_TEAM") == "delegate"
    clerk = Agent(
        role="desk",
        goal="Help the readers.",
        backstory=desk.system(),
        llm=model,
        tools=[] if team else tools,
        allow_delegation=team,
    )
    agents = [clerk]
    if team:
        agents.append(
            Agent(role="catalogue", goal="Find books.", backstory="You know the catalogue.", llm=model, tools=tools)
        )
    for user in desk.users():
        task = Task(description=user, expected_output="One short sentence.", agent=clerk)
        planning = {"planning": True, "planning_llm": model} if os.environ.get("DESK_PLANNING") else {}
        Crew(name="library", agents=agents, tasks=[task], **planning).kickoff()


with telemetry.recorded():
    instrument()
    main()
