"""A plain tool loop instrumented by OpenLLMetry, whose spans OpenInference's processor translates before they leave."""

from __future__ import annotations

import desk
import telemetry
from loops import answer, from_environment, run_plainly
from openinference.instrumentation.openllmetry import OpenInferenceSpanProcessor
from opentelemetry import trace
from opentelemetry.instrumentation.openai import OpenAIInstrumentor

with telemetry.recorded(OpenInferenceSpanProcessor()):
    OpenAIInstrumentor().instrument()
    conversation = from_environment()
    for user in desk.users():
        with trace.get_tracer("desk").start_as_current_span("desk clerk"):
            answer(conversation, user, run_plainly)
