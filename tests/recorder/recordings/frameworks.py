"""Recordings of agent frameworks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

from tests.recorder.model.exchange import Spelling
from tests.recorder.recordings import spellings
from tests.recorder.recordings.recording import Recording
from tests.recorder.scenarios import Call

_ASK = Call("ask_catalogue", {"question": "Where does The Salt Road stand?"})
_ALL = ("lend", "retry", "parallel", "turns", "unknown_tool", "broken_arguments", "model_fails", "no_tool")
_THREE = ("lend", "retry", "unknown_tool")


def _pydantic_ai(variant: str, scenarios: Iterable[str], *, major: str = "2", **variables: str) -> Recording:
    team = "-delegate" if "DESK_TEAM" in variables else ""
    openinference = "DESK_OPENINFERENCE" in variables
    return Recording(
        dialect=f"pydantic-ai{major if major == '1' else ''}{team}__{variant}",
        framework="pydantic-ai",
        instrumentation="openinference-instrumentation-pydantic-ai" if openinference else "pydantic-ai",
        environment="pydantic-ai1" if major == "1" else "pydantic-ai",
        program="pydantic_ai_agent.py",
        scenarios=tuple(scenarios),
        variables=variables,
        handed_over=_ASK,
        spelling=partial(spellings.answer_as_call, tool="final_result") if "DESK_OUTPUT" in variables else None,
    )


_PYDANTIC_AI = (
    *(_pydantic_ai(f"native-v{version}", ("retry",), DESK_VERSION=version) for version in "245"),
    _pydantic_ai("native-v3", ("lend",), DESK_VERSION="3"),
    _pydantic_ai("native-v6", _ALL, DESK_VERSION="6", DESK_CONVERSATION="1"),
    _pydantic_ai("native-v6-stream", ("lend",), DESK_VERSION="6", DESK_STREAM="1"),
    _pydantic_ai("native-v6-output", ("lend",), DESK_VERSION="6", DESK_OUTPUT="1"),
    _pydantic_ai("native-v6-prompt", ("lend",), DESK_VERSION="6", DESK_PROMPT="1"),
    _pydantic_ai("native-v6-nocontent", ("lend",), DESK_VERSION="6", DESK_CONTENT="off"),
    _pydantic_ai("native-v6", ("delegate",), DESK_VERSION="6", DESK_TEAM="delegate"),
    _pydantic_ai("native-v2", ("delegate",), DESK_VERSION="2", DESK_TEAM="delegate"),
    _pydantic_ai("openinference", ("retry", "unknown_tool"), DESK_OPENINFERENCE="1"),
    _pydantic_ai("native-v1", ("lend", "retry"), major="1", DESK_VERSION="1", DESK_EVENTS="attributes"),
    _pydantic_ai("native-v1-logs", ("lend", "retry"), major="1", DESK_VERSION="1", DESK_EVENTS="logs"),
    _pydantic_ai("native-v3", ("lend",), major="1", DESK_VERSION="3"),
)


def _langgraph(
    variant: str,
    scenarios: Iterable[str],
    *,
    package: str,
    instrumentation: str,
    environment: str = "langgraph",
    unconnected: Mapping[str, str] | None = None,
    **variables: str,
) -> Recording:
    team = variables.get("DESK_TEAM")
    return Recording(
        dialect=f"langgraph{f'-{team}' if team else ''}__{variant}",
        framework="LangGraph",
        instrumentation=package,
        environment=environment,
        program="langgraph_agent.py",
        scenarios=tuple(scenarios),
        variables={"DESK_INSTRUMENTATION": instrumentation, **variables},
        handed_over=_ASK if team == "delegate" else Call("transfer_to_catalogue", {}),
        spelling=spellings.answer_as_call if "DESK_OUTPUT" in variables else None,
        unconnected=unconnected or {},
    )


_lc_openinference = partial(
    _langgraph, package="openinference-instrumentation-langchain", instrumentation="openinference"
)
_lc_genai = partial(
    _langgraph,
    package="opentelemetry-instrumentation-genai-langchain",
    instrumentation="genai",
    OTEL_SEMCONV_STABILITY_OPT_IN="gen_ai_latest_experimental",
)
_lc_traceloop = partial(
    _langgraph,
    package="opentelemetry-instrumentation-langchain",
    instrumentation="traceloop",
    environment="langgraph-traceloop",
)
_lc_langsmith = partial(_langgraph, package="langsmith", instrumentation="langsmith")
_CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_LANGGRAPH = (
    _lc_openinference("openinference", _THREE),
    _lc_openinference("openinference-stream", ("parallel",), DESK_STREAM="1"),
    _lc_openinference("openinference-graph", ("lend",), DESK_GRAPH="1", DESK_SESSION="metadata"),
    _lc_openinference("openinference-async", ("lend",), DESK_ASYNC="1", DESK_SESSION="none"),
    _lc_openinference("openinference", ("delegate",), DESK_TEAM="delegate"),
    _lc_openinference("openinference-todos", ("todos",), DESK_TODOS="1"),
    _lc_openinference("openinference-plan", ("plan_call",), DESK_GRAPH="plan"),
    _langgraph(
        "openinference-and-openai",
        ("lend",),
        package="openinference-instrumentation-langchain, openinference-instrumentation-openai",
        instrumentation="openinference-openai",
    ),
    _lc_genai("genai", _ALL, **{_CONTENT: "SPAN_ONLY"}),
    _lc_genai("genai-stream", ("lend",), DESK_STREAM="1", **{_CONTENT: "SPAN_ONLY"}),
    _lc_genai("genai-events", ("lend", "retry"), **{_CONTENT: "EVENT_ONLY"}),
    _lc_genai("genai-both", ("lend",), **{_CONTENT: "SPAN_AND_EVENT"}),
    _lc_genai("genai-output", ("lend",), DESK_OUTPUT="1", **{_CONTENT: "SPAN_ONLY"}),
    _lc_genai("genai-nocontent", ("lend",)),
    _lc_genai("genai", ("delegate",), DESK_TEAM="delegate", **{_CONTENT: "SPAN_ONLY"}),
    _lc_genai("genai", ("delegate",), DESK_TEAM="supervisor", **{_CONTENT: "SPAN_ONLY"}),
    _lc_genai("genai", ("handoff",), DESK_TEAM="swarm", **{_CONTENT: "SPAN_ONLY"}),
    _lc_traceloop("traceloop", ("lend", "retry")),
    _lc_traceloop("traceloop-stream", ("lend",), DESK_STREAM="1"),
    _lc_traceloop(
        "traceloop-nocontent",
        ("lend",),
        TRACELOOP_TRACE_CONTENT="false",
        unconnected={"system_prompt": "only on the trace of its own that tells of the agent's construction"},
    ),
    _lc_langsmith("langsmith", ("lend", "retry")),
    _lc_langsmith("langsmith-stream", ("lend",), DESK_STREAM="1"),
    _lc_langsmith("langsmith", ("delegate",), DESK_TEAM="delegate"),
    _lc_langsmith("langsmith-graph", ("broken_arguments",), DESK_GRAPH="1", DESK_SESSION="metadata"),
    *(
        each(f"{name}-{api}", scenarios, DESK_API=api, RECORDER_MODEL=model, **settings)
        for each, name, settings in (
            (_lc_openinference, "openinference", {}),
            (_lc_genai, "genai", {_CONTENT: "SPAN_ONLY"}),
            (_lc_traceloop, "traceloop", {}),
            (_lc_langsmith, "langsmith", {}),
        )
        for api, model, scenarios in (
            ("messages", "claude-sonnet-4-5", ("parallel",)),
            ("responses", "gpt-4.1-mini", ("lend",)),
        )
    ),
    *(
        _langgraph(name, ("lend", "retry"), package=name, instrumentation=name, environment=f"langgraph-{name}")
        for name in ("mlflow", "laminar", "openlit")
    ),
    _langgraph(
        "mlflow-genai",
        _THREE,
        package="mlflow",
        instrumentation="mlflow",
        environment="langgraph-mlflow",
        MLFLOW_ENABLE_OTEL_GENAI_SEMCONV="true",
    ),
)


def _recording(
    dialect: str,
    package: str,
    program: str,
    scenarios: Iterable[str] = ("lend", "retry"),
    *,
    environment: str | None = None,
    handed_over: Call | None = None,
    prefix: str = "",
    spelling: Spelling | None = None,
    unconnected: Mapping[str, str] | None = None,
    **variables: str,
) -> Recording:
    """A recording whose framework is called as its program is."""
    name = program.removesuffix("_agent.py").replace("_", "-")
    return Recording(
        dialect=dialect,
        framework=name,
        instrumentation=package,
        environment=environment or name,
        program=program,
        scenarios=tuple(scenarios),
        variables=variables,
        handed_over=handed_over,
        prefix=prefix,
        spelling=spelling,
        unconnected=unconnected or {},
    )


_strands = partial(_recording, package="strands-agents", program="strands_agent.py")
_OPT_IN = "OTEL_SEMCONV_STABILITY_OPT_IN"
_LATEST = "gen_ai_latest_experimental"
_STRANDS = (
    _strands("strands__native", scenarios=_THREE),
    _strands("strands__native-latest", scenarios=("lend", "retry", "parallel"), **{_OPT_IN: _LATEST}),
    _strands(
        "strands__native-latest-definitions", scenarios=("lend",), **{_OPT_IN: f"{_LATEST},gen_ai_tool_definitions"}
    ),
    _strands(
        "strands__native-latest-attributes",
        scenarios=("lend",),
        **{_OPT_IN: f"{_LATEST},gen_ai_span_attributes_only,gen_ai_tool_definitions"},
    ),
    _strands("strands__openinference", package="openinference-instrumentation-strands-agents", DESK_OPENINFERENCE="1"),
    _strands("strands-delegate__native", scenarios=("delegate",), handed_over=_ASK, DESK_TEAM="delegate"),
    _strands(
        "strands-delegate__native-latest",
        scenarios=("delegate",),
        handed_over=_ASK,
        DESK_TEAM="delegate",
        **{_OPT_IN: _LATEST},
    ),
)

_agent_framework = partial(_recording, package="agent-framework-core", program="agent_framework_agent.py")
_AGENT_FRAMEWORK = (
    _agent_framework("agent-framework__native", scenarios=("lend", "retry", "parallel", "turns", "unknown_tool")),
    _agent_framework("agent-framework__native-stream", scenarios=("lend", "broken_arguments"), DESK_STREAM="1"),
    _agent_framework("agent-framework__native-responses", scenarios=("lend",), DESK_API="responses"),
    _agent_framework("agent-framework__native-nocontent", scenarios=("lend", "retry"), DESK_CONTENT="off"),
    _agent_framework(
        "agent-framework__openinference",
        package="openinference-instrumentation-agent-framework",
        DESK_OPENINFERENCE="1",
    ),
    _agent_framework(
        "agent-framework-delegate__native", scenarios=("delegate",), handed_over=_ASK, DESK_TEAM="delegate"
    ),
)

_adk = partial(_recording, package="google-adk", program="google_adk_agent.py")
_ADK_CONTENT = {_OPT_IN: _LATEST, _CONTENT: "SPAN_AND_EVENT"}
_ADK_TOOL = Call("catalogue", {"request": "Where does The Salt Road stand?"})
_ADK_TRANSFER = Call("transfer_to_agent", {"agent_name": "catalogue"})
_ADK = (
    _adk("google-adk__native", scenarios=("lend", "retry")),
    _adk("google-adk__native-logs", scenarios=("lend", "retry"), **{_CONTENT: "true"}),
    _adk("google-adk__native-latest", scenarios=("lend", "retry", "parallel", "turns"), **_ADK_CONTENT),
    _adk("google-adk__native-latest-raise", scenarios=("retry",), DESK_FAILING="raise", **_ADK_CONTENT),
    _adk("google-adk__native-schema1", scenarios=("lend", "retry"), ADK_TELEMETRY_SCHEMA_VERSION_OPT_IN="1"),
    _adk("google-adk__openinference", package="openinference-instrumentation-google-adk", DESK_OPENINFERENCE="1"),
    _adk(
        "google-adk-delegate__native-latest",
        scenarios=("delegate",),
        handed_over=_ADK_TOOL,
        DESK_TEAM="delegate",
        **_ADK_CONTENT,
    ),
    _adk(
        "google-adk-handoff__native-latest",
        scenarios=("handoff",),
        handed_over=_ADK_TRANSFER,
        DESK_TEAM="handoff",
        **_ADK_CONTENT,
    ),
    _adk(
        "google-adk-delegate__native-schema1",
        scenarios=("delegate",),
        handed_over=_ADK_TOOL,
        DESK_TEAM="delegate",
        ADK_TELEMETRY_SCHEMA_VERSION_OPT_IN="1",
    ),
)

_llamaindex = partial(_recording, package="openinference-instrumentation-llama-index", program="llamaindex_agent.py")
_LLAMAINDEX_GENAI = {_CONTENT: "SPAN_ONLY", _OPT_IN: _LATEST, "DESK_INSTRUMENTATION": "genai"}
_LLAMAINDEX_TRACELOOP = {
    "package": "opentelemetry-instrumentation-llamaindex",
    "environment": "llamaindex-traceloop",
    "DESK_INSTRUMENTATION": "traceloop",
}
_HANDOFF = Call("handoff", {"to_agent": "catalogue", "reason": "They know the shelves."})
_LLAMAINDEX = (
    _llamaindex("llamaindex__openinference", scenarios=("lend",)),
    _llamaindex("llamaindex__openinference-nostream", scenarios=("lend",), DESK_STREAM="off"),
    _llamaindex(
        "llamaindex-handoff__genai",
        package="opentelemetry-instrumentation-genai-llama-index",
        scenarios=("handoff",),
        handed_over=_HANDOFF,
        DESK_TEAM="handoff",
        **_LLAMAINDEX_GENAI,
    ),
    _llamaindex(
        "llamaindex__genai",
        package="opentelemetry-instrumentation-genai-llama-index",
        scenarios=_THREE,
        **_LLAMAINDEX_GENAI,
    ),
    _llamaindex("llamaindex__traceloop", scenarios=("lend", "retry"), **_LLAMAINDEX_TRACELOOP),
    _llamaindex("llamaindex__traceloop-nostream", scenarios=("lend",), DESK_STREAM="off", **_LLAMAINDEX_TRACELOOP),
)

_agno = partial(_recording, program="agno_agent.py")
_AGNO_TRACELOOP = {"environment": "agno-traceloop", "DESK_INSTRUMENTATION": "traceloop"}
_DELEGATE_TASK = Call("delegate_task_to_member", {"member_id": "catalogue", "task": "Where does The Salt Road stand?"})
_AGNO = (
    _agno("agno__openinference", "openinference-instrumentation-agno", scenarios=_THREE),
    _agno("agno__openinference-stream", "openinference-instrumentation-agno", scenarios=("lend",), DESK_STREAM="1"),
    _agno(
        "agno-delegate__openinference",
        "openinference-instrumentation-agno",
        scenarios=("delegate",),
        handed_over=_DELEGATE_TASK,
        DESK_TEAM="delegate",
    ),
    _agno(
        "agno__genai",
        "opentelemetry-instrumentation-genai-agno",
        scenarios=_THREE,
        DESK_INSTRUMENTATION="genai",
        **{_CONTENT: "SPAN_ONLY", _OPT_IN: _LATEST},
    ),
    _agno("agno__traceloop", "opentelemetry-instrumentation-agno", scenarios=_THREE, **_AGNO_TRACELOOP),
)

_crewai = partial(_recording, program="crewai_agent.py")
_COWORKER = Call(
    "delegate_work_to_coworker",
    {"task": "Find The Salt Road.", "context": "A reader asks for it.", "coworker": "catalogue"},
)
_CREWAI = (
    _crewai("crewai__openinference", "openinference-instrumentation-crewai"),
    _crewai(
        "crewai__openinference-and-openai",
        "openinference-instrumentation-crewai, openinference-instrumentation-openai",
        scenarios=_THREE,
        DESK_INSTRUMENTATION="openinference-openai",
    ),
    _crewai(
        "crewai-plan__openinference-and-openai",
        "openinference-instrumentation-crewai, openinference-instrumentation-openai",
        scenarios=("planner",),
        DESK_INSTRUMENTATION="openinference-openai",
        DESK_PLANNING="1",
    ),
    _crewai(
        "crewai-delegate__openinference",
        "openinference-instrumentation-crewai",
        scenarios=("delegate",),
        handed_over=_COWORKER,
        DESK_TEAM="delegate",
    ),
    _crewai(
        "crewai-delegate__openinference-and-openai",
        "openinference-instrumentation-crewai, openinference-instrumentation-openai",
        scenarios=("delegate",),
        handed_over=_COWORKER,
        DESK_TEAM="delegate",
        DESK_INSTRUMENTATION="openinference-openai",
    ),
    _crewai(
        "crewai__traceloop",
        "opentelemetry-instrumentation-crewai",
        environment="crewai-traceloop",
        DESK_INSTRUMENTATION="traceloop",
    ),
    _crewai(
        "crewai__traceloop-and-openai",
        "opentelemetry-instrumentation-crewai, opentelemetry-instrumentation-openai",
        environment="crewai-traceloop",
        DESK_INSTRUMENTATION="traceloop-openai",
    ),
)

_autogen = partial(_recording, package="autogen-agentchat", program="autogen_agent.py")
_AUTOGEN = (
    _autogen("autogen__native", scenarios=("lend", "retry")),
    _autogen("autogen-rounds__native", scenarios=("lend",), DESK_TEAM="rounds"),
    _autogen(
        "autogen__openinference",
        package="openinference-instrumentation-autogen-agentchat",
        scenarios=_THREE,
        DESK_OPENINFERENCE="1",
    ),
    _autogen(
        "autogen-handoff__openinference",
        package="openinference-instrumentation-autogen-agentchat",
        scenarios=("handoff",),
        handed_over=Call("transfer_to_catalogue", {}),
        DESK_OPENINFERENCE="1",
        DESK_TEAM="handoff",
    ),
)

_haystack = partial(_recording, program="haystack_agent.py")
_haystack2 = partial(_haystack, environment="haystack2")
_HAYSTACK = (
    _haystack("haystack__openinference", "openinference-instrumentation-haystack"),
    _haystack2("haystack2__traceloop", "opentelemetry-instrumentation-haystack", DESK_INSTRUMENTATION="traceloop"),
    _haystack2(
        "haystack2__traceloop-and-openai",
        "opentelemetry-instrumentation-haystack, opentelemetry-instrumentation-openai",
        scenarios=("lend",),
        DESK_INSTRUMENTATION="traceloop-openai",
    ),
    _haystack2(
        "haystack2__native",
        "haystack-ai",
        scenarios=("lend",),
        DESK_INSTRUMENTATION="native",
        HAYSTACK_CONTENT_TRACING_ENABLED="true",
    ),
    _haystack2("haystack2__native-nocontent", "haystack-ai", scenarios=("lend",), DESK_INSTRUMENTATION="native"),
)

_semantic_kernel = partial(_recording, package="semantic-kernel", program="semantic_kernel_agent.py", prefix="library-")
_SK_SENSITIVE = {"SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS_SENSITIVE": "true"}
_SK_PLAIN = {"SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS": "true"}
_SEMANTIC_KERNEL = (
    _semantic_kernel("semantic-kernel__native", scenarios=("lend", "retry", "parallel"), **_SK_SENSITIVE),
    _semantic_kernel("semantic-kernel__native-nocontent", scenarios=("lend",), **_SK_PLAIN),
)

_smolagents = partial(
    _recording,
    package="openinference-instrumentation-smolagents",
    program="smolagents_agent.py",
    spelling=spellings.answer_as_call,
)
_SMOLAGENTS_GENAI = {
    "package": "opentelemetry-instrumentation-genai-smolagents",
    "DESK_INSTRUMENTATION": "genai",
    _CONTENT: "SPAN_ONLY",
    _OPT_IN: _LATEST,
}
_SMOLAGENTS_GENAI_OPENAI = {
    **_SMOLAGENTS_GENAI,
    "package": "opentelemetry-instrumentation-genai-smolagents, opentelemetry-instrumentation-genai-openai",
    "DESK_INSTRUMENTATION": "genai-openai",
}
_MANAGED = Call("ask_catalogue", {"task": "Where does The Salt Road stand?"})
_SMOLAGENTS = (
    _smolagents("smolagents__openinference", scenarios=("lend", "retry")),
    _smolagents("smolagents__openinference-stream", scenarios=("lend",), DESK_STREAM="1"),
    _smolagents("smolagents-code__openinference", scenarios=("lend",), spelling=spellings.code, DESK_KIND="code"),
    _smolagents(
        "smolagents-delegate__openinference", scenarios=("delegate",), handed_over=_MANAGED, DESK_TEAM="delegate"
    ),
    _smolagents(
        "smolagents-plan__openinference",
        scenarios=("plan",),
        spelling=spellings.planned_answer,
        DESK_PLANNING="1",
    ),
    _smolagents("smolagents__genai", scenarios=("lend",), **_SMOLAGENTS_GENAI),
    _smolagents("smolagents__genai-and-openai", scenarios=("lend", "retry"), **_SMOLAGENTS_GENAI_OPENAI),
    _smolagents(
        "smolagents-code__genai-and-openai",
        scenarios=("lend",),
        spelling=spellings.code,
        DESK_KIND="code",
        **_SMOLAGENTS_GENAI_OPENAI,
    ),
    _smolagents(
        "smolagents-delegate__genai-and-openai",
        scenarios=("delegate",),
        handed_over=_MANAGED,
        DESK_TEAM="delegate",
        **_SMOLAGENTS_GENAI_OPENAI,
    ),
)

_dspy = partial(_recording, program="dspy_agent.py", spelling=spellings.react_fields)
_DSPY = (
    _dspy(
        "dspy__openinference",
        "openinference-instrumentation-dspy",
        scenarios=("lend",),
        unconnected=dict.fromkeys(("tools", "schemas"), "only in the prose of the instructions"),
    ),
    _dspy(
        "dspy__genai",
        "opentelemetry-instrumentation-genai-dspy",
        scenarios=("lend", "retry"),
        DESK_INSTRUMENTATION="genai",
        **{_CONTENT: "SPAN_ONLY", _OPT_IN: _LATEST},
    ),
)

RECORDINGS: tuple[Recording, ...] = (
    *_PYDANTIC_AI,
    *_LANGGRAPH,
    *_STRANDS,
    *_AGENT_FRAMEWORK,
    *_ADK,
    *_LLAMAINDEX,
    *_AGNO,
    *_CREWAI,
    *_AUTOGEN,
    *_HAYSTACK,
    *_SEMANTIC_KERNEL,
    *_SMOLAGENTS,
    *_DSPY,
)
