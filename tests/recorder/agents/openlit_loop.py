"""A plain tool loop with openlit: its decorators for the turn and the tools, or none (`DESK_BARE`)."""

from __future__ import annotations

import os

import desk
import openlit
from loops import answer, from_environment, run_plainly
from opentelemetry import trace
from opentelemetry._logs import get_logger_provider

with desk.ending():
    content = not os.environ.get("DESK_NO_CONTENT")
    openlit.init(
        otlp_endpoint=os.environ["RECORDER_SINK_URL"],
        application_name="library-desk",
        disable_metrics=True,
        **{os.environ.get("DESK_CONTENT_OPTION", "capture_message_content"): content},
    )
    conversation = from_environment()

    def run_tool(name, arguments, call_id):
        run = {function.__name__: function for function in desk.functions()}[name]
        return desk.as_text(openlit.trace(run)(**arguments))

    @openlit.trace
    def visit(user: str) -> str:
        return answer(conversation, user, run_tool)

    for user in desk.users():
        if os.environ.get("DESK_BARE"):
            answer(conversation, user, run_plainly)
        else:
            visit(user)
trace.get_tracer_provider().shutdown()
getattr(get_logger_provider(), "shutdown", lambda: None)()
