"""An Agno agent, instrumented as DESK_INSTRUMENTATION says: openinference, genai or traceloop.

DESK_STREAM. DESK_TEAM=delegate: a team whose leader delegates to a member.
"""

from __future__ import annotations

import os

import desk
import telemetry


def instrument() -> None:
    name = os.environ.get("DESK_INSTRUMENTATION", "openinference")
    if name == "genai":
        from opentelemetry.instrumentation.genai.agno import AgnoInstrumentor as Instrumentor
    elif name == "traceloop":
        from opentelemetry.instrumentation.agno import AgnoInstrumentor as Instrumentor
    else:
        from openinference.instrumentation.agno import AgnoInstrumentor as Instrumentor
    Instrumentor().instrument()


def main() -> None:
    from agno.agent import Agent
    from agno.db.in_memory import InMemoryDb
    from agno.models.openai import OpenAIChat
    from agno.team import Team

    def model():
        return OpenAIChat(id=desk.MODEL, max_retries=0)

    words, session = desk.system(), desk.session()
    if os.environ.get("DESK_TEAM") == "delegate":
        catalogue = Agent(
            name="catalogue",
            role="Knows the catalogue.",
            model=model(),
            instructions="You know the catalogue.",
            tools=desk.functions(),
            telemetry=False,
        )
        clerk = Team(
            name="desk", model=model(), instructions=words, members=[catalogue], session_id=session, telemetry=False
        )
    else:
        clerk = Agent(
            name="desk",
            model=model(),
            instructions=words,
            tools=desk.functions(),
            session_id=session,
            db=InMemoryDb(),
            add_history_to_context=True,
            telemetry=False,
        )
    for user in desk.users():
        if os.environ.get("DESK_STREAM"):
            for _ in clerk.run(user, stream=True):
                pass
        else:
            clerk.run(user)


with telemetry.recorded(logs=True):
    instrument()
    main()
