"""A plain tool loop with langsmith's wrapper and @traceable, sent as OpenTelemetry spans."""

from __future__ import annotations

import os

os.environ["LANGSMITH_TRACING"] = "true"
os.environ["LANGSMITH_OTEL_ENABLED"] = "true"
os.environ["LANGSMITH_OTEL_ONLY"] = "true"
os.environ["LANGSMITH_API_KEY"] = "not-a-key"
os.environ["LANGSMITH_ENDPOINT"] = os.environ["RECORDER_SINK_URL"]

import desk
import telemetry
from langsmith import Client, traceable
from langsmith.wrappers import wrap_openai
from loops import Chat, Responses, answer
from openai import OpenAI

with telemetry.recorded():
    client = Client()
    api, _, mode = os.environ.get("DESK_API", "chat").partition("-")
    protocol = Responses if api == "responses" else Chat
    conversation = protocol(wrap_openai(OpenAI()), stream=mode == "stream")

    def run_tool(name, arguments, call_id):
        run = {function.__name__: function for function in desk.functions()}[name]
        return desk.as_text(traceable(run, run_type="tool", name=name)(**arguments))

    @traceable(run_type="chain", name="desk_clerk")
    def visit(user: str) -> str:
        return answer(conversation, user, run_tool)

    session = desk.session()
    for user in desk.users():
        visit(user, langsmith_extra={"metadata": {"session_id": session}, "client": client})
    client.flush()
