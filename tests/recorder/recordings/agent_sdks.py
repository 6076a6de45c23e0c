"""Recordings of the OpenAI Agents SDK."""

from __future__ import annotations

from tests.recorder.recordings.recording import Recording
from tests.recorder.scenarios import Call

_TRANSFER = Call("transfer_to_catalogue_desk", {})
_ASK = Call("ask_catalogue", {"input": "Is The Salt Road on the shelf at Riverside?"})
_CONTENT = {
    "OTEL_SEMCONV_STABILITY_OPT_IN": "gen_ai_latest_experimental",
    "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "SPAN_ONLY",
}
_ENVIRONMENTS = {
    "openinference": ("openinference-agents", "openinference-instrumentation-openai-agents"),
    "genai": ("genai-agents", "opentelemetry-instrumentation-genai-openai-agents"),
    "v2": ("agents-v2", "opentelemetry-instrumentation-openai-agents-v2"),
    "traceloop": ("traceloop", "traceloop-sdk"),
    "traceloop-0.46": ("traceloop-old", "traceloop-sdk"),
}


def _agents(instrumentation: str, mode: str, *scenarios: str, **variables: str) -> Recording:
    environment, package = _ENVIRONMENTS[instrumentation]
    name = instrumentation.partition("-")[0]
    return Recording(
        dialect=f"openai-agents__{'otel-' if name in ('genai', 'v2') else ''}{instrumentation}{mode and '-'}{mode}",
        framework="openai-agents",
        instrumentation=package,
        environment=environment,
        program="openai_agents.py",
        scenarios=scenarios,
        variables={
            "DESK_INSTRUMENTATION": name,
            "DESK_MODE": mode,
            **(_CONTENT if name in ("genai", "v2") else {}),
            **variables,
        },
        handed_over=_ASK if "delegate" in mode else _TRANSFER,
    )


_SOME = ("lend", "retry", "parallel", "turns", "unknown_tool")
RECORDINGS: tuple[Recording, ...] = (
    _agents("openinference", "", *_SOME, "broken_arguments"),
    _agents("openinference", "chat-errors", "lend", "retry"),
    _agents("openinference", "stream", "parallel"),
    _agents("openinference", "chat-stream", "parallel"),
    _agents("openinference", "handoff", "handoff"),
    _agents("openinference", "chat-handoff", "handoff"),
    _agents("openinference", "delegate", "delegate"),
    _agents("genai", "", *_SOME, "broken_arguments"),
    _agents("genai", "chat-errors", "lend", "retry"),
    _agents("genai", "stream", "parallel"),
    _agents("genai", "handoff", "handoff"),
    _agents("genai", "delegate", "delegate"),
    _agents("genai", "event-errors", "retry", OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT="EVENT_ONLY"),
    _agents("v2", "", "lend", "retry", "parallel", "turns"),
    _agents("v2", "handoff", "handoff"),
    _agents("traceloop", "", *_SOME),
    _agents("traceloop", "stream", "parallel"),
    _agents("traceloop", "chat", "lend", "retry"),
    _agents("traceloop", "handoff", "handoff"),
    _agents("traceloop", "delegate", "delegate"),
    _agents("traceloop-0.46", "", "lend", "retry", "turns"),
    _agents("traceloop-0.46", "chat", "lend", "retry"),
)
