"""Recordings of the model providers' agent SDKs."""

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
        why={"session_id": "RunConfig.group_id isn't written by this instrumentation"},
        handed_over=_ASK if "delegate" in mode else _TRANSFER,
    )


_CLAUDE_SPANS = {
    "CLAUDE_CODE_ENABLE_TELEMETRY": "1",
    "CLAUDE_CODE_ENHANCED_TELEMETRY_BETA": "1",
    "OTEL_TRACES_EXPORTER": "otlp",
    "OTEL_LOGS_EXPORTER": "otlp",
}
_CLAUDE_CONTENT = {"OTEL_LOG_USER_PROMPTS": "1", "OTEL_LOG_TOOL_DETAILS": "1", "OTEL_LOG_TOOL_CONTENT": "1"}


def _claude(instrumentation: str, *scenarios: str, **variables: str) -> Recording:
    return Recording(
        dialect=f"claude-agent-sdk__{instrumentation}",
        framework="claude-agent-sdk",
        instrumentation=instrumentation,
        environment="claude-agent",
        program="claude_agent.py",
        scenarios=scenarios,
        variables={
            "DESK_INSTRUMENTATION": instrumentation.partition("-")[0],
            "RECORDER_MODEL": "claude-sonnet-4-5",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            **variables,
        },
        prefix="mcp__desk__",
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
    _claude("openinference", "lend", "retry", "parallel", "turns"),
    _claude("native", "lend", "retry", "turns", **_CLAUDE_SPANS, **_CLAUDE_CONTENT),
    _claude("native-off", "retry", **_CLAUDE_SPANS),
)
