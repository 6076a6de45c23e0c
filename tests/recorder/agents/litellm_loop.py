"""A tool loop over LiteLLM, with OpenInference or LiteLLM's own OpenTelemetry callback (`DESK_INSTRUMENTATION`)."""

from __future__ import annotations

import os
import time
from types import SimpleNamespace

import desk
import telemetry
from loops import Chat, answer, run_plainly
from opentelemetry import trace

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
os.environ.setdefault("OTEL_EXPORTER", "otlp_http")
import litellm

with telemetry.recorded() as provider:
    if os.environ["DESK_INSTRUMENTATION"] == "openinference":
        from openinference.instrumentation.litellm import LiteLLMInstrumentor

        LiteLLMInstrumentor().instrument(tracer_provider=provider)
    else:
        litellm.callbacks = ["otel"]
    client = SimpleNamespace(chat=SimpleNamespace(completions=SimpleNamespace(create=litellm.completion)))
    mode = os.environ.get("DESK_MODE", "")
    conversation = Chat(client, stream="stream" in mode)
    for user in desk.users():
        if "bare" in mode:
            answer(conversation, user, run_plainly)
        else:
            with trace.get_tracer("desk").start_as_current_span("desk clerk"):
                answer(conversation, user, run_plainly)
    time.sleep(3)  # its callbacks run in threads of their own
