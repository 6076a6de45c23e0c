"""A plain tool loop over Portkey's client, instrumented by OpenInference, in a span that says nothing."""

from __future__ import annotations

import os

import desk
import telemetry
from loops import Chat, answer, run_plainly
from openinference.instrumentation.portkey import PortkeyInstrumentor
from opentelemetry import trace
from portkey_ai import Portkey

with telemetry.recorded() as provider:
    PortkeyInstrumentor().instrument(tracer_provider=provider)
    conversation = Chat(Portkey(base_url=os.environ["OPENAI_BASE_URL"], api_key="not-a-key"))
    for user in desk.users():
        with trace.get_tracer("desk").start_as_current_span("visit"):
            answer(conversation, user, run_plainly)
