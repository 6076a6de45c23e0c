"""The instrumentations there are, and the switch that makes each record the facts that evaluators need.

A table of what their documentation and source say.  A new one is one entry here, and one line on the page about
content capture.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from processors.conventions.fact_names import (
    ARGUMENTS,
    FINAL_ANSWER,
    SCHEMAS,
    SYSTEM_PROMPT,
    TOOL_CALLS,
    TOOL_RESULTS,
    TOOLS,
    USER_INPUT,
)
from processors.conventions.places import (
    CLAUDE_CODE,
    ENTITIES,
    GENAI,
    GENKIT,
    HAYSTACK,
    LANGFUSE,
    MASTRA,
    MLFLOW,
    ONE_STRING,
    OPENINFERENCE,
    RECORDS,
    SPRING_AI,
    VERCEL,
    VOLTAGENT,
)

_RECORD = "log record"
_NO_TRACE = "records that don't name the trace and the span can't be used"


class Remedy(NamedTuple):
    """The attribute that would carry a fact, and what to do so that it does."""

    attribute: str
    switch: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Instrumentation:
    """One instrumentation.

    `scopes`   how the names of its scopes begin; `dialects` which readers' dialects show it where no scope does.
    `where`    by fact, the attribute (or record) that carries it.
    `switch`   what captures content.
    `instead`  by fact, what else has to be done: another switch, or another instrumentation where this one never
               records the fact.
    """

    name: str
    scopes: tuple[str, ...] = ()
    dialects: tuple[str, ...] = ()
    where: Mapping[str, str]
    switch: str
    instead: Mapping[str, str] = field(default_factory=dict)

    def remedy(self, fact: str) -> Remedy:
        """What there is to say about a fact that wasn't captured."""
        where, switch = self.where[fact], self.instead.get(fact, self.switch)
        return Remedy(where, f"{switch}; {_NO_TRACE}" if _RECORD in where else switch)


_CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_LATEST = "OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental"
_OTEL_SWITCH = f"set {_CAPTURE}=SPAN_ONLY (or SPAN_AND_EVENT) and {_LATEST}; the value true captures nothing here"
_NO_DEFINITIONS = (
    "use opentelemetry-instrumentation-genai-openai or openinference-instrumentation-openai: this one never "
    "records the tools that are offered"
)
_HIDDEN_BY = "unset {} (or the same option of TraceConfig), which hide it"
_OI_INPUTS = _HIDDEN_BY.format("OPENINFERENCE_HIDE_INPUTS, _HIDE_INPUT_MESSAGES and _HIDE_INPUT_TEXT")
_OI_OUTPUTS = _HIDDEN_BY.format("OPENINFERENCE_HIDE_OUTPUTS, _HIDE_OUTPUT_MESSAGES and _HIDE_OUTPUT_TEXT")
_OI_TOOLS = _HIDDEN_BY.format("OPENINFERENCE_HIDE_INPUTS and OPENINFERENCE_HIDE_LLM_TOOLS")
OI_HIDES = {
    USER_INPUT: _OI_INPUTS,
    SYSTEM_PROMPT: _OI_INPUTS,
    TOOLS: _OI_TOOLS,
    SCHEMAS: _OI_TOOLS,
    TOOL_CALLS: _OI_OUTPUTS,
    ARGUMENTS: _HIDDEN_BY.format("OPENINFERENCE_HIDE_INPUTS and OPENINFERENCE_HIDE_OUTPUTS"),
    TOOL_RESULTS: _OI_OUTPUTS,
    FINAL_ANSWER: _OI_OUTPUTS,
}
_OI_SWITCH = "leave OPENINFERENCE_HIDE_INPUTS, OPENINFERENCE_HIDE_OUTPUTS and their kind unset"


TRACELOOP = "traceloop"
_TRACELOOP_LIBRARIES = (
    *("agno", "alephalpha", "anthropic", "bedrock", "cohere", "crewai", "google_generativeai", "groq", "haystack"),
    *("langchain", "llamaindex", "mcp", "mistralai", "ollama", "openai", "replicate", "together", "transformers"),
    *("voyageai", "watsonx", "writer"),
)


def _openinference(name: str, scope: str, never: Mapping[str, str]) -> Instrumentation:
    return Instrumentation(
        name=f"OpenInference for {name}",
        scopes=(f"openinference.instrumentation.{scope}",),
        where=OPENINFERENCE,
        switch=_OI_SWITCH,
        instead={**OI_HIDES, **never},
    )


def _with(facts: Iterable[str], remedy: str) -> dict[str, str]:
    return dict.fromkeys(facts, remedy)


INSTRUMENTATIONS: tuple[Instrumentation, ...] = (
    _openinference(
        "AutoGen AgentChat",
        "autogen_agentchat",
        _with(
            (TOOLS, SCHEMAS),
            "add the instrumentation of the model's SDK: this one never records what is offered",
        ),
    ),
    _openinference(
        "CrewAI",
        "crewai",
        _with(
            (TOOL_CALLS, SCHEMAS),
            "add the OpenInference instrumentation of the model's SDK: model calls aren't recorded",
        ),
    ),
    _openinference(
        "Haystack",
        "haystack",
        _with((SCHEMAS, TOOL_RESULTS), "add the instrumentation of the model's SDK: this one records pipelines only"),
    ),
    _openinference(
        "the OpenAI Agents SDK",
        "openai_agents",
        _with(
            (TOOLS, SCHEMAS),
            "where chat completions are used, add openinference-instrumentation-openai: what is offered is recorded "
            "of the Responses API alone",
        ),
    ),
    Instrumentation(
        name="OpenInference",
        scopes=("openinference.", "@arizeai/openinference-"),
        dialects=("openinference",),
        where=OPENINFERENCE,
        switch=_OI_SWITCH,
        instead=OI_HIDES,
    ),
    Instrumentation(
        name="OpenTelemetry for OpenAI (openai-v2), message events",
        scopes=("opentelemetry.instrumentation.openai_v2",),
        where=RECORDS,
        switch=f"set {_CAPTURE}=true and export log records, with a logger provider and within the span's context",
        instead=_with((TOOLS, SCHEMAS), _NO_DEFINITIONS),
    ),
    Instrumentation(
        name="OpenTelemetry for the OpenAI Agents SDK (openai-agents-v2)",
        scopes=("opentelemetry.instrumentation.openai_agents",),
        where=GENAI,
        switch=f"set {_CAPTURE}=SPAN_AND_EVENT, or OTEL_INSTRUMENTATION_OPENAI_AGENTS_CAPTURE_CONTENT=true",
        instead=_with(
            (SYSTEM_PROMPT, TOOLS, SCHEMAS),
            "version 0.1 never records it; use opentelemetry-instrumentation-genai-openai-agents or "
            "openinference-instrumentation-openai-agents",
        ),
    ),
    Instrumentation(
        name="OpenTelemetry GenAI (opentelemetry-instrumentation-genai-*, util-genai)",
        scopes=("opentelemetry.instrumentation.genai", "opentelemetry.util.genai"),
        where=GENAI,
        switch=_OTEL_SWITCH,
    ),
    Instrumentation(
        name="OpenTelemetry for Google GenAI, Vertex AI and Bedrock",
        scopes=(
            "opentelemetry.instrumentation.google_genai",
            "opentelemetry.instrumentation.vertexai",
            "opentelemetry.instrumentation.botocore",
        ),
        where=GENAI,
        switch=f"set {_CAPTURE}=true and export log records, or =SPAN_AND_EVENT with {_LATEST}",
    ),
    Instrumentation(
        name="OpenLIT",
        scopes=("openlit",),
        dialects=("openlit",),
        where={
            **GENAI,
            TOOLS: "gen_ai.tool.definitions of its log records",
            SCHEMAS: "gen_ai.tool.definitions of its log records",
            ARGUMENTS: "gen_ai.output.messages or function.kwargs of decorated tools",
            TOOL_RESULTS: "gen_ai.input.messages or gen_ai.output.messages of decorated tools",
        },
        switch="call openlit.init(capture_message_content=True)",
        instead=_with((TOOLS, SCHEMAS), "call openlit.init(capture_message_content=True) and take its log records too"),
    ),
    Instrumentation(
        name="Traceloop (OpenLLMetry)",
        scopes=(
            "traceloop.",
            "@traceloop/",
            *(f"opentelemetry.instrumentation.{library}" for library in _TRACELOOP_LIBRARIES),
        ),
        dialects=("traceloop",),
        where=ENTITIES,
        switch="unset TRACELOOP_TRACE_CONTENT, or set it to true; with use_legacy_attributes=False "
        "take its log records too",
    ),
    Instrumentation(
        name="Vercel AI SDK",
        scopes=("ai",),
        dialects=("vercel",),
        where=VERCEL,
        switch="don't set recordInputs and recordOutputs to false in experimental_telemetry (version 7: telemetry)",
    ),
    Instrumentation(
        name="Vercel AI SDK 7 (@ai-sdk/otel)",
        scopes=("gen_ai",),
        where=GENAI,
        switch="don't set recordInputs and recordOutputs to false in telemetry",
    ),
    Instrumentation(
        name="Pydantic AI",
        scopes=("pydantic-ai",),
        dialects=("pydantic_ai",),
        where={
            **GENAI,
            USER_INPUT: "gen_ai.input.messages or pydantic_ai.all_messages",
            ARGUMENTS: "gen_ai.tool.call.arguments or tool_arguments",
            TOOL_RESULTS: "gen_ai.tool.call.result or tool_response",
        },
        switch="leave include_content of InstrumentationSettings true",
    ),
    Instrumentation(
        name="Google Agent Development Kit",
        scopes=("gcp.vertex.agent",),
        dialects=("adk",),
        where={
            **GENAI,
            ARGUMENTS: "gen_ai.tool.call.arguments or gcp.vertex.agent.tool_call_args",
            TOOL_RESULTS: "gen_ai.tool.call.result or gcp.vertex.agent.tool_response",
        },
        switch=f"set {_CAPTURE}=SPAN_AND_EVENT and {_LATEST}, and leave ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS true",
    ),
    Instrumentation(
        name="Strands Agents",
        scopes=("strands.",),
        where={**GENAI, USER_INPUT: "the event gen_ai.user.message", FINAL_ANSWER: "the event gen_ai.choice"},
        switch="leave gen_ai_unredacted_attributes out of OTEL_SEMCONV_STABILITY_OPT_IN: without it all is written",
        instead=_with(
            (TOOLS, SCHEMAS),
            "set OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental,gen_ai_tool_definitions",
        ),
    ),
    Instrumentation(
        name="Microsoft Agent Framework",
        scopes=("agent_framework", "Experimental.Microsoft.Agents"),
        where=GENAI,
        switch="set ENABLE_SENSITIVE_DATA=true, or configure with enable_sensitive_data (.NET: EnableSensitiveData)",
    ),
    Instrumentation(
        name="Microsoft.Extensions.AI",
        scopes=("Experimental.Microsoft.Extensions.AI",),
        where=GENAI,
        switch=f"set EnableSensitiveData of UseOpenTelemetry, or {_CAPTURE}=true",
    ),
    Instrumentation(
        name="Semantic Kernel",
        scopes=("semantic_kernel", "Microsoft.SemanticKernel"),
        where=RECORDS,
        switch="set SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS_SENSITIVE=true and export log records",
    ),
    Instrumentation(
        name="Azure AI agents and inference",
        scopes=("azure.ai",),
        where=GENAI,
        switch="set AZURE_TRACING_GEN_AI_CONTENT_RECORDING_ENABLED=true",
    ),
    Instrumentation(
        name="Spring AI",
        scopes=("org.springframework",),
        dialects=("spring-ai",),
        where=SPRING_AI,
        switch="set spring.ai.tools.observations.include-content to true",
        instead=_with(
            (USER_INPUT, SYSTEM_PROMPT, TOOL_CALLS, FINAL_ANSWER),
            "add it with an ObservationFilter of your own; spring.ai.chat.observations.log-prompt and .log-completion "
            "write to the application's log, never on spans",
        ),
    ),
    Instrumentation(
        name="Genkit",
        scopes=("genkit-tracer",),
        dialects=("genkit",),
        where=GENKIT,
        switch="export the spans themselves; only exporters that leave out inputs and outputs remove content",
    ),
    Instrumentation(
        name="Mastra",
        scopes=("@mastra/otel-exporter",),
        dialects=("mastra",),
        where=MASTRA,
        switch="leave hideInput and hideOutput of the tracing options unset, and look at span output processors",
        instead=_with((SCHEMAS,), "add the instrumentation of the model's SDK; it records the names of tools only"),
    ),
    Instrumentation(
        name="VoltAgent",
        scopes=("@voltagent/core",),
        dialects=("voltagent",),
        where=VOLTAGENT,
        switch="leave the span processors that remove input, output and messages out",
    ),
    Instrumentation(
        name="LangSmith",
        scopes=("langsmith",),
        dialects=("langsmith",),
        where=ONE_STRING,
        switch="unset LANGSMITH_HIDE_INPUTS and LANGSMITH_HIDE_OUTPUTS, and hide_inputs and hide_outputs of the client",
    ),
    Instrumentation(
        name="Langfuse",
        scopes=("langfuse",),
        dialects=("langfuse",),
        where=LANGFUSE,
        switch="leave capture_input, capture_output and LANGFUSE_OBSERVE_DECORATOR_IO_CAPTURE_ENABLED on, and look at "
        "the client's mask",
    ),
    Instrumentation(
        name="MLflow",
        scopes=("mlflow",),
        dialects=("mlflow",),
        where=MLFLOW,
        switch="take out the span processors that remove inputs and outputs; by default both are recorded",
    ),
    Instrumentation(
        name="Laminar",
        scopes=("lmnr",),
        dialects=("laminar",),
        where={**GENAI, ARGUMENTS: "lmnr.span.input of tool spans", TOOL_RESULTS: "lmnr.span.output of tool spans"},
        switch="unset LMNR_TRACE_CONTENT or set it to true, and don't use ignore_input and ignore_output",
    ),
    Instrumentation(
        name="Haystack's own tracing",
        scopes=("haystack",),
        dialects=("haystack",),
        where=HAYSTACK,
        switch="set HAYSTACK_CONTENT_TRACING_ENABLED=true before Haystack is imported",
    ),
    Instrumentation(
        name="Claude Code",
        scopes=("com.anthropic.claude_code",),
        dialects=("claude_code",),
        where=CLAUDE_CODE,
        switch="set OTEL_LOG_USER_PROMPTS=1, OTEL_LOG_ASSISTANT_RESPONSES=1, OTEL_LOG_TOOL_DETAILS=1 and "
        "OTEL_LOG_TOOL_CONTENT=1",
        instead=_with((SYSTEM_PROMPT, TOOLS, SCHEMAS, TOOL_CALLS), "set OTEL_LOG_RAW_API_BODIES=1"),
    ),
    Instrumentation(
        name="AutoGen's own tracing",
        scopes=("autogen",),
        where=GENAI,
        switch="use openinference-instrumentation-autogen-agentchat: this one never records content",
    ),
    Instrumentation(
        name="the Anthropic SDK's own spans",
        scopes=("com.anthropic.sdk",),
        where=GENAI,
        switch="add opentelemetry-instrumentation-genai-anthropic or openinference-instrumentation-anthropic: these "
        "spans never carry content",
    ),
    Instrumentation(
        name="the MCP SDK's own spans",
        scopes=("mcp-python-sdk",),
        where=GENAI,
        switch="instrument the agent that calls the server: these spans never carry arguments or results",
    ),
    Instrumentation(
        name="Others that follow the GenAI semantic conventions",
        dialects=("genai",),
        where=GENAI,
        switch=f"set {_CAPTURE}=SPAN_AND_EVENT and {_LATEST} (older versions: =true)",
    ),
)
"""Of several whose scopes fit, the one with the longest beginning stands."""
