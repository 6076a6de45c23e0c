"""Recordings of programs in JavaScript."""

from __future__ import annotations

from tests.recorder.recordings.recording import Recording
from tests.recorder.scenarios import Call

_QUESTION = "Is The Salt Road on the shelf at Riverside?"
_ASK = Call("ask_catalogue", {"question": _QUESTION})
_NO_INPUTS = dict.fromkeys(("user_input", "system_prompt", "tools", "schemas"), "recordInputs: false")


def _vercel(version: int, mode: str, *scenarios: str, json: bool = False, **variables: str) -> Recording:
    translated = mode.startswith("openinference")
    parts = ("" if translated else "native", mode, "json" if json else "")
    return Recording(
        dialect=f"vercel-ai-{version}__{'-'.join(filter(None, parts))}",
        framework=f"Vercel AI SDK {version}",
        instrumentation="@arizeai/openinference-vercel" if translated else "native",
        environment=f"vercel-ai-{version}{'-openinference' if translated else ''}",
        program="vercel_agent.mjs",
        scenarios=scenarios,
        variables={
            "DESK_MODE": mode,
            **({"OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"} if json else {}),
            **variables,
        },
        handed_over=_ASK,
        why=_NO_INPUTS if "noinputs" in mode else {},
    )


def _loop(library: str, mode: str, *scenarios: str, **variables: str) -> Recording:
    return Recording(
        dialect=f"openai-node__{library}{mode and '-'}{mode}",
        framework="openai SDK for JavaScript, plain tool loop",
        instrumentation=library,
        environment={"openinference": "node-openai", "otel": "node-openai"}.get(library, f"node-{library}"),
        program=f"{library}_loop.mjs",
        scenarios=scenarios,
        variables={"DESK_MODE": mode, **variables},
    )


def _langchain(*scenarios: str) -> Recording:
    return Recording(
        dialect="langchain-node__openinference",
        framework="LangChain for JavaScript",
        instrumentation="@arizeai/openinference-instrumentation-langchain",
        environment="node-langchain",
        program="langchain_agent.mjs",
        scenarios=scenarios,
    )


def _agents(mode: str, *scenarios: str, handed_over: Call | None = None) -> Recording:
    return Recording(
        dialect=f"openai-agents-node__openinference{mode and '-'}{mode}",
        framework="OpenAI Agents SDK for JavaScript",
        instrumentation="@arizeai/openinference-instrumentation-openai-agents",
        environment="node-agents",
        program="openai_agents.mjs",
        scenarios=scenarios,
        variables={"DESK_MODE": mode},
        handed_over=handed_over,
    )


def _framework(
    name: str, package: str, mode: str, *scenarios: str, handed_over: Call | None = None, why: str = ""
) -> Recording:
    return Recording(
        dialect=f"{name}{mode and '-'}{mode}__native",
        framework=package,
        instrumentation="native",
        environment=f"node-{name}",
        program=f"{name}_agent.mjs",
        scenarios=scenarios,
        variables={"DESK_MODE": mode},
        handed_over=handed_over,
        why={"schemas": why} if why else {},
    )


_MASTRA = Call("agent-catalogue", {"prompt": _QUESTION})
_VOLTAGENT = Call("delegate_task", {"task": _QUESTION, "targetAgents": ["catalogue"]})
_ONLY_NAMES = "Mastra records the names of tools only"


_SOME = ("lend", "retry", "parallel", "turns", "unknown_tool")
RECORDINGS: tuple[Recording, ...] = (
    _vercel(5, "", "lend", "retry", "parallel"),
    _vercel(5, "stream", "retry", json=True),
    _vercel(6, "", *_SOME, "broken_arguments"),
    _vercel(6, "stream", "retry", json=True),
    _vercel(6, "responses", "retry"),
    _vercel(6, "responses-stream", "parallel"),
    _vercel(6, "agent", "retry", json=True),
    _vercel(6, "agent-stream", "parallel"),
    _vercel(6, "delegate", "delegate"),
    _vercel(6, "noinputs-nooutputs", "lend", "retry"),
    _vercel(7, "", *_SOME, "broken_arguments"),
    _vercel(7, "stream", "retry", json=True),
    _vercel(7, "responses", "retry"),
    _vercel(7, "anthropic", "retry", "parallel", RECORDER_MODEL="claude-sonnet-4-5"),
    _vercel(7, "agent", "retry", json=True),
    _vercel(7, "delegate", "delegate"),
    _vercel(7, "noinputs-nooutputs", "lend", "retry"),
    _vercel(7, "openinference", "lend", "retry", "unknown_tool"),
    _vercel(7, "openinference-stream", "parallel", json=True),
    _vercel(7, "openinference-delegate", "delegate"),
    _vercel(7, "legacy", "lend", "retry"),
    _vercel(7, "legacy-stream", "parallel"),
    _loop("openinference", "", "lend", "retry", "unknown_tool"),
    _loop("openinference", "stream", "parallel"),
    _loop("openinference", "responses", "parallel", OTEL_EXPORTER_OTLP_PROTOCOL="http/json"),
    _loop("openinference", "bare", "turns"),
    _loop("otel", "", "lend", "retry", "turns"),
    _loop("otel", "stream", "parallel"),
    _loop("otel", "off", "lend"),
    _loop("traceloop", "", *_SOME),
    _loop("traceloop", "stream", "parallel"),
    _loop("traceloop", "responses", "retry"),
    _loop("traceloop", "off", "retry"),
    _loop("langfuse", "", *_SOME),
    _loop("langfuse", "stream", "parallel"),
    _loop("langfuse", "responses", "retry"),
    _langchain("lend", "parallel"),
    Recording(
        dialect="langchain-node__traceloop",
        framework="LangChain for JavaScript",
        instrumentation="@traceloop/node-server-sdk",
        environment="node-langchain-traceloop",
        program="langchain_traceloop_agent.mjs",
        scenarios=("lend",),
    ),
    _agents("chat-stream", "retry"),
    _agents("handoff", "handoff", handed_over=Call("transfer_to_catalogue_desk", {})),
    _framework("mastra", "Mastra", "", "retry", "parallel", "turns", "unknown_tool", why=_ONLY_NAMES),
    _framework("mastra", "Mastra", "delegate", "delegate", handed_over=_MASTRA, why=_ONLY_NAMES),
    _framework("voltagent", "VoltAgent", "", "retry", "parallel"),
    _framework("voltagent", "VoltAgent", "delegate", "delegate", handed_over=_VOLTAGENT),
    _framework("genkit", "Genkit for JavaScript", "", "lend", "retry", "turns", "unknown_tool"),
)
