"""A plain tool loop with Laminar: its instrumentation of the client, and @observe for the turn and the tools."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

import desk
from lmnr import Laminar, observe
from loops import answer, from_environment

sink = urlsplit(os.environ["RECORDER_SINK_URL"])
Laminar.initialize(
    project_api_key="not-a-key", base_url=f"http://{sink.hostname}", http_port=sink.port, force_http=True
)
with desk.ending():
    conversation = from_environment()

    def run_tool(name, arguments, call_id):
        run = {function.__name__: function for function in desk.functions()}[name]
        return desk.as_text(observe(name=name, span_type="TOOL")(run)(**arguments))

    session = desk.session()

    @observe(name="desk_clerk", session_id=session)
    def visit(user: str) -> str:
        return answer(conversation, user, run_tool)

    for user in desk.users():
        visit(user)
Laminar.shutdown()
