"""A plain tool loop with langfuse: its OpenAI client, and @observe for turn and tools (not with `DESK_BARE`)."""

from __future__ import annotations

import os

import desk
from langfuse import Langfuse, observe, propagate_attributes
from loops import Chat, Responses, answer, run_plainly

client = Langfuse(public_key="pk-lf-none", secret_key="sk-lf-none", base_url=os.environ["RECORDER_SINK_URL"])
with desk.ending():
    from langfuse.openai import OpenAI

    api, _, mode = os.environ.get("DESK_API", "chat").partition("-")
    protocol = Responses if api == "responses" else Chat
    conversation = protocol(OpenAI(), stream=mode == "stream")

    def run_tool(name, arguments, call_id):
        run = {function.__name__: function for function in desk.functions()}[name]
        return desk.as_text(observe(run, as_type="tool")(**arguments))

    @observe(as_type="agent")
    def desk_clerk(user: str) -> str:
        return answer(conversation, user, run_tool)

    if os.environ.get("DESK_BARE"):
        for user in desk.users():
            answer(conversation, user, run_plainly)
    else:
        with propagate_attributes(session_id=desk.session()):
            for user in desk.users():
                desk_clerk(user)
client.shutdown()
