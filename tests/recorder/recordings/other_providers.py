"""Recordings of further providers' SDKs, and of tools behind the Model Context Protocol."""

from __future__ import annotations

from tests.recorder.recordings.recording import Recording

_CONTENT = {
    "OTEL_SEMCONV_STABILITY_OPT_IN": "gen_ai_latest_experimental",
    "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "SPAN_ONLY",
}
_EVENTS = {**_CONTENT, "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "EVENT_ONLY"}
_LEGACY = {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "true"}


def _gemini(instrumentation: str, mode: str, *scenarios: str, **variables: str) -> Recording:
    return Recording(
        dialect=f"google-genai__{'otel-' if instrumentation == 'genai' else ''}{instrumentation}{mode and '-'}{mode}",
        framework="google-genai SDK",
        instrumentation=instrumentation,
        environment={"genai": "google-genai-otel", "traceloop": "google-genai-traceloop"}.get(
            instrumentation, "google-genai"
        ),
        program="gemini_loop.py",
        scenarios=scenarios,
        variables={
            "DESK_INSTRUMENTATION": instrumentation,
            "DESK_MODE": mode,
            "RECORDER_MODEL": "gemini-2.5-flash",
            **variables,
        },
    )


def _bedrock(instrumentation: str, *scenarios: str, **variables: str) -> Recording:
    return Recording(
        dialect=f"bedrock__{'' if instrumentation in ('openinference', 'traceloop') else 'otel-'}{instrumentation}",
        framework="boto3, Bedrock Converse",
        instrumentation=instrumentation,
        environment="bedrock-traceloop" if instrumentation == "traceloop" else "bedrock",
        program="bedrock_loop.py",
        scenarios=scenarios,
        variables={
            "DESK_INSTRUMENTATION": instrumentation,
            "RECORDER_MODEL": "eu.anthropic.claude-sonnet-4-5-v1",
            **variables,
        },
    )


def _litellm(instrumentation: str, mode: str, *scenarios: str) -> Recording:
    return Recording(
        dialect=f"litellm__{instrumentation}{mode and '-'}{mode}",
        framework="LiteLLM",
        instrumentation=instrumentation,
        environment="litellm",
        program="litellm_loop.py",
        scenarios=scenarios,
        variables={"DESK_INSTRUMENTATION": instrumentation, "DESK_MODE": mode, "RECORDER_MODEL": "openai/gpt-4.1-mini"},
    )


def _mcp(library: str, spans: str, environment: str, *scenarios: str) -> Recording:
    return Recording(
        dialect=f"mcp__{library}-{spans}",
        framework="Model Context Protocol SDK, plain tool loop",
        instrumentation=library,
        environment=environment,
        program="mcp_loop.py",
        scenarios=scenarios,
        variables={"DESK_SPANS": spans},
    )


RECORDINGS: tuple[Recording, ...] = (
    _gemini("openinference", "", "lend", "retry", "parallel", "turns"),
    _gemini("openinference", "stream", "parallel"),
    _gemini("openinference", "automatic", "lend", "retry"),
    _gemini("genai", "", "lend", "retry", "turns", **_CONTENT),
    _gemini("genai", "event", "retry", **_EVENTS),
    _gemini("genai", "automatic", "lend", "retry", **_CONTENT),
    _gemini("genai", "stream-bare", "parallel", **_CONTENT),
    _gemini("traceloop", "", "retry", "parallel"),
    _bedrock("openinference", "lend", "retry", "parallel"),
    _bedrock("genai", "lend", "retry", "parallel", **_CONTENT),
    _bedrock("traceloop", "retry", "parallel"),
    _bedrock("botocore", "lend", "retry", **_LEGACY),
    _litellm("openinference", "", "lend", "retry"),
    _litellm("openinference", "stream", "parallel"),
    _litellm("otel", "", "retry"),
    _litellm("otel", "bare", "lend", "retry"),
    _mcp("openinference", "tools", "mcp", "lend", "retry"),
    _mcp("openinference", "agent", "mcp", "retry", "parallel"),
    _mcp("openinference-1", "agent", "mcp-1", "lend"),
    _mcp("traceloop", "agent", "mcp-traceloop", "lend", "retry"),
)
