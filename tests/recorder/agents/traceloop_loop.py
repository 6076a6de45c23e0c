"""A plain tool loop with Traceloop's decorators for workflow, agent and tools, or none (`DESK_BARE`)."""

from __future__ import annotations

import os

import desk
import traceloop_setup
from loops import answer, from_environment, run_plainly

with traceloop_setup.recorded():
    from traceloop.sdk import Traceloop
    from traceloop.sdk.decorators import agent, tool, workflow

    conversation = from_environment()

    def run_tool(name, arguments, call_id):
        run = {function.__name__: function for function in desk.functions()}[name]
        return desk.as_text(tool(name=name)(run)(**arguments))

    @workflow(name="library_desk")
    def visit(user: str) -> str:
        return clerk(user)

    @agent(name="desk_clerk")
    def clerk(user: str) -> str:
        return answer(conversation, user, run_tool)

    if not os.environ.get("DESK_BARE"):
        Traceloop.set_association_properties({"session_id": desk.session()})
    for user in desk.users():
        if os.environ.get("DESK_BARE"):
            answer(conversation, user, run_plainly)
        else:
            visit(user)
