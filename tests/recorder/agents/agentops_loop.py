"""A plain tool loop with AgentOps' decorators for session, agent, turn and tools."""

from __future__ import annotations

import os

import agentops
import desk
from agentops.sdk.decorators import agent, operation, session, tool
from loops import answer, from_environment
from opentelemetry import trace

SINK = os.environ["RECORDER_SINK_URL"]

with desk.ending():
    agentops.init(
        api_key="00000000-0000-0000-0000-000000000000",
        endpoint=SINK,
        exporter_endpoint=f"{SINK}/v1/traces",
        auto_start_session=False,
        fail_safe=True,
    )
    conversation = from_environment()

    def run_tool(name, arguments, call_id):
        run = {function.__name__: function for function in desk.functions()}[name]
        return desk.as_text(tool(name=name)(run)(**arguments))

    @agent(name="clerk")
    class Clerk:
        @operation(name="answer")
        def turn(self, user: str) -> str:
            return answer(conversation, user, run_tool)

    @session(name="visit")
    def visit() -> None:
        clerk = Clerk()
        for user in desk.users():
            clerk.turn(user)

    visit()
trace.get_tracer_provider().shutdown()
