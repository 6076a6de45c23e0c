"""A Strands agent with its own instrumentation, or that and OpenInference's processor (DESK_OPENINFERENCE).

What the framework writes is chosen by OTEL_SEMCONV_STABILITY_OPT_IN. DESK_TEAM=delegate: a second agent is asked from
within a tool.
"""

from __future__ import annotations

import os

import desk
import telemetry


def processors():
    if not os.environ.get("DESK_OPENINFERENCE"):
        return []
    from openinference.instrumentation.strands_agents import StrandsAgentsToOpenInferenceProcessor

    return [StrandsAgentsToOpenInferenceProcessor()]


def main() -> None:
    from strands import Agent, tool
    from strands.models.openai import OpenAIModel

    client = {"base_url": os.environ["OPENAI_BASE_URL"], "api_key": os.environ["OPENAI_API_KEY"], "max_retries": 0}
    model = OpenAIModel(client_args=client, model_id=desk.MODEL)
    tools = [tool(function) for function in desk.functions()]
    if os.environ.get("DESK_TEAM") == "delegate":
        catalogue = Agent(
            name="catalogue",
            model=model,
            system_prompt="You know the catalogue.",
            tools=tools,
            callback_handler=None,
        )

        @tool
        def ask_catalogue(question: str) -> str:
            """Ask the colleague who knows the catalogue."""
            return str(catalogue(question))

        tools = [ask_catalogue]
    clerk = Agent(
        name="desk",
        model=model,
        system_prompt=desk.system(),
        tools=tools,
        callback_handler=None,
        trace_attributes={"session.id": desk.session()},
    )
    for user in desk.users():
        clerk(user)


with telemetry.recorded(*processors()):
    main()
