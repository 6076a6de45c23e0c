"""A plain tool loop with logfire's instrumentation of the client, and its spans for the turn and the tools."""

from __future__ import annotations

import os

import desk
import logfire
from loops import answer, from_environment
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace.export import BatchSpanProcessor

logfire.configure(
    send_to_logfire=False,
    console=False,
    service_name="library-desk",
    additional_span_processors=[BatchSpanProcessor(OTLPSpanExporter())],
)
with desk.ending():
    if os.environ.get("DESK_API", "chat").startswith("messages"):
        logfire.instrument_anthropic()
    else:
        logfire.instrument_openai()
    conversation = from_environment()

    def run_tool(name, arguments, call_id):
        with logfire.span(
            "running tool {gen_ai.tool.name}", **{"gen_ai.tool.name": name, "gen_ai.tool.call.id": call_id}
        ):
            return desk.run(name, arguments)

    for user in desk.users():
        with logfire.span("desk clerk"):
            answer(conversation, user, run_tool)
logfire.shutdown()
