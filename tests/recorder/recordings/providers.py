"""Recordings of the providers' SDKs, without an agent framework: plain tool loops with each tracing library."""

from __future__ import annotations

from tests.recorder.recordings.recording import Recording

_FEW = ("lend", "retry")
_THREE = ("lend", "retry", "parallel")
_MORE = ("lend", "retry", "parallel", "turns", "unknown_tool")
_CONTENT = ("user_input", "system_prompt", "tools", "schemas", "arguments", "tool_results", "final_answer")
_HIDDEN = dict.fromkeys(_CONTENT, "hidden by OPENINFERENCE_HIDE_INPUTS and OPENINFERENCE_HIDE_OUTPUTS")
_OFF = dict.fromkeys(_CONTENT, "off, as OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT says")
_TRACELOOP_OFF = dict.fromkeys(_CONTENT, "off, as TRACELOOP_TRACE_CONTENT says")


def _openinference(variant: str, scenarios: tuple[str, ...], **variables: str) -> Recording:
    provider = "anthropic" if variables["DESK_API"].startswith("messages") else "openai"
    return Recording(
        dialect=f"{provider}__openinference{variant}",
        framework=f"{provider} SDK, plain tool loop",
        instrumentation=f"openinference-instrumentation-{provider}",
        environment=f"openinference-{provider}",
        program="openinference_loop.py",
        scenarios=scenarios,
        variables={"RECORDER_MODEL": "claude-sonnet-4-5"} | variables if provider == "anthropic" else variables,
        why=_HIDDEN if "OPENINFERENCE_HIDE_INPUTS" in variables else {},
    )


def _genai(variant: str, scenarios: tuple[str, ...], environment: str, content: str, **variables: str) -> Recording:
    provider = "anthropic" if variables.get("DESK_API", "").startswith("messages") else "openai"
    switches = {"OTEL_SEMCONV_STABILITY_OPT_IN": "gen_ai_latest_experimental"} if content != "true" else {}
    return Recording(
        dialect=f"{provider}__otel-{'v2' if environment == 'openai-v2' else 'genai'}{variant}",
        framework=f"{provider} SDK, plain tool loop",
        instrumentation=f"opentelemetry-instrumentation-{environment}",
        environment=environment,
        program="genai_loop.py",
        scenarios=scenarios,
        variables={
            "DESK_INSTRUMENTATION": environment,
            "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": content,
            **({"RECORDER_MODEL": "claude-sonnet-4-5"} if provider == "anthropic" else {}),
            **switches,
            **variables,
        },
        why=_OFF if content in ("NO_CONTENT", "false") else {},
    )


def _library(
    library: str, variant: str, scenarios: tuple[str, ...], environment: str | None = None, **variables: str
) -> Recording:
    provider = "anthropic" if variables.get("DESK_API", "").startswith("messages") else "openai"
    return Recording(
        dialect=f"{provider}__{library}{variant}",
        framework=f"{provider} SDK, plain tool loop",
        instrumentation=library,
        environment=environment or library,
        program=f"{library}_loop.py",
        scenarios=scenarios,
        variables={"RECORDER_MODEL": "claude-sonnet-4-5"} | variables if provider == "anthropic" else variables,
        why=_TRACELOOP_OFF if "TRACELOOP_TRACE_CONTENT" in variables else {},
    )


RECORDINGS: tuple[Recording, ...] = (
    _openinference("", (*_MORE, "no_tool", "broken_arguments", "model_fails"), DESK_API="chat"),
    _openinference("-stream", ("parallel", "broken_arguments"), DESK_API="chat-stream"),
    _openinference("-responses", _THREE, DESK_API="responses"),
    _openinference("-responses-stream", ("parallel",), DESK_API="responses-stream"),
    _openinference("-responses-stored", ("retry",), DESK_API="responses-stored"),
    _openinference("-bare", ("retry", "turns"), DESK_API="chat", DESK_BARE="1"),
    _openinference("-responses-stored-bare", ("turns",), DESK_API="responses-stored", DESK_BARE="1"),
    _openinference("-genai", ("lend",), DESK_API="chat", OPENINFERENCE_ENABLE_GENAI_SEMCONV="true"),
    _openinference(
        "-hidden", _FEW, DESK_API="chat", OPENINFERENCE_HIDE_INPUTS="true", OPENINFERENCE_HIDE_OUTPUTS="true"
    ),
    _openinference("-hidden-text", ("retry",), DESK_API="chat", OPENINFERENCE_HIDE_INPUT_TEXT="true"),
    _openinference("-hidden-output", ("retry",), DESK_API="chat", OPENINFERENCE_HIDE_OUTPUT_MESSAGES="true"),
    _openinference("", (*_THREE, "unknown_tool"), DESK_API="messages"),
    _openinference("-stream", ("parallel",), DESK_API="messages-stream"),
    _openinference("-helper", ("parallel",), DESK_API="messages-helper"),
    _openinference("-bare", ("turns",), DESK_API="messages", DESK_BARE="1"),
    _genai("-span", (*_MORE, "no_tool", "model_fails"), "genai-openai", "SPAN_ONLY", DESK_SPANS="handler"),
    _genai("-span-stream", ("parallel",), "genai-openai", "SPAN_ONLY", DESK_SPANS="handler", DESK_API="chat-stream"),
    _genai("-event", _MORE, "genai-openai", "EVENT_ONLY", DESK_SPANS="handler"),
    _genai("-both", ("retry",), "genai-openai", "SPAN_AND_EVENT", DESK_SPANS="handler"),
    _genai("-off", _FEW, "genai-openai", "NO_CONTENT", DESK_SPANS="handler"),
    _genai("-manual", _THREE, "genai-openai", "SPAN_ONLY", DESK_SPANS="manual"),
    _genai("-bare", ("retry", "turns"), "genai-openai", "SPAN_ONLY"),
    _genai("-event-bare", ("retry", "turns"), "genai-openai", "EVENT_ONLY"),
    _genai(
        "-responses", (*_THREE, "unknown_tool"), "genai-openai", "SPAN_ONLY", DESK_SPANS="handler", DESK_API="responses"
    ),
    _genai(
        "-responses-stored", ("turns",), "genai-openai", "SPAN_ONLY", DESK_SPANS="handler", DESK_API="responses-stored"
    ),
    _genai(
        "-responses-stream",
        ("parallel",),
        "genai-openai",
        "EVENT_ONLY",
        DESK_SPANS="handler",
        DESK_API="responses-stream",
    ),
    _genai(
        "-span", (*_THREE, "unknown_tool"), "genai-anthropic", "SPAN_ONLY", DESK_SPANS="handler", DESK_API="messages"
    ),
    _genai(
        "-event-stream",
        ("parallel",),
        "genai-anthropic",
        "EVENT_ONLY",
        DESK_SPANS="handler",
        DESK_API="messages-stream",
    ),
    _genai("-off", _FEW, "genai-anthropic", "NO_CONTENT", DESK_SPANS="handler", DESK_API="messages"),
    _genai("-legacy", _MORE, "openai-v2", "true"),
    _genai("-legacy-stream", ("parallel",), "openai-v2", "true", DESK_API="chat-stream"),
    _genai("-legacy-manual", ("retry", "turns"), "openai-v2", "true", DESK_SPANS="manual"),
    _genai("-span-manual", _FEW, "openai-v2", "SPAN_ONLY", DESK_SPANS="manual"),
    _genai("-event", ("retry", "turns"), "openai-v2", "EVENT_ONLY"),
    _genai("-off", _FEW, "openai-v2", "NO_CONTENT", DESK_SPANS="manual"),
    _library("traceloop", "", (*_MORE, "no_tool", "model_fails")),
    _library("traceloop", "-stream", ("parallel",), DESK_API="chat-stream"),
    _library("traceloop", "-responses", ("retry", "parallel"), DESK_API="responses"),
    _library("traceloop", "-bare", ("retry", "turns"), DESK_BARE="1"),
    _library("traceloop", "-unbatched", ("lend",), DESK_UNBATCHED="1"),
    _library("traceloop", "-off", _FEW, TRACELOOP_TRACE_CONTENT="false"),
    _library("traceloop", "", ("retry", "parallel", "unknown_tool"), DESK_API="messages"),
    _library("traceloop", "-stream", ("lend",), DESK_API="messages-stream"),
    _library("traceloop", "-0.46", (*_MORE, "broken_arguments"), "traceloop-old"),
    _library("traceloop", "-0.46-stream", ("parallel",), "traceloop-old", DESK_API="chat-stream"),
    _library("traceloop", "-0.46-bare", ("retry", "turns"), "traceloop-old", DESK_BARE="1"),
    _library("traceloop", "-0.46-off", _FEW, "traceloop-old", TRACELOOP_TRACE_CONTENT="false"),
    _library("openlit", "", (*_THREE, "unknown_tool")),
    _library("openlit", "-stream", ("parallel",), DESK_API="chat-stream"),
    _library("openlit", "-responses", ("retry",), DESK_API="responses"),
    _library("openlit", "-bare", ("turns",), DESK_BARE="1"),
    _library("openlit", "-off", _FEW, DESK_NO_CONTENT="1"),
    _library("openlit", "-1.33", ("lend", "retry", "parallel"), "openlit-old"),
    _library("langfuse", "", _MORE),
    _library("langfuse", "-stream", ("parallel",), DESK_API="chat-stream"),
    _library("langfuse", "-responses", ("retry", "parallel"), DESK_API="responses"),
    _library("langfuse", "-bare", ("retry", "turns"), DESK_BARE="1"),
    _library("langsmith", "", (*_THREE, "unknown_tool")),
    _library("langsmith", "-stream", ("parallel",), DESK_API="chat-stream"),
    _library("langsmith", "-responses", ("retry",), DESK_API="responses"),
    _library("logfire", "", _THREE),
    _library("logfire", "-stream", ("parallel",), DESK_API="chat-stream"),
    _library("logfire", "-responses", ("retry",), DESK_API="responses"),
    _library("logfire", "", ("retry",), "logfire-anthropic", DESK_API="messages"),
    _library("laminar", "", (*_THREE, "unknown_tool")),
    _library("laminar", "-stream", ("parallel",), DESK_API="chat-stream"),
    _library("laminar", "-responses", ("retry",), DESK_API="responses"),
    Recording(
        dialect="openai__openinference-openllmetry",
        framework="openai SDK, plain tool loop",
        instrumentation="openinference-instrumentation-openllmetry",
        environment="openllmetry-translated",
        program="translated_loop.py",
        scenarios=("lend", "retry", "parallel"),
    ),
)
