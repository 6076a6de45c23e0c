"""Recordings of agent frameworks."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

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
    )


_PYDANTIC_AI = (
    *(_pydantic_ai(f"native-v{version}", ("lend", "retry"), DESK_VERSION=version) for version in "234"),
    _pydantic_ai("native-v5", ("lend", "retry", "turns"), DESK_VERSION="5", DESK_CONVERSATION="1"),
    _pydantic_ai("native-v6", _ALL, DESK_VERSION="6", DESK_CONVERSATION="1"),
    _pydantic_ai("native-v6-stream", ("lend", "retry"), DESK_VERSION="6", DESK_STREAM="1"),
    _pydantic_ai("native-v6-prompt", ("lend",), DESK_VERSION="6", DESK_PROMPT="1"),
    _pydantic_ai("native-v6-nocontent", ("lend",), DESK_VERSION="6", DESK_CONTENT="off"),
    _pydantic_ai("native-v6", ("delegate",), DESK_VERSION="6", DESK_TEAM="delegate"),
    _pydantic_ai("native-v2", ("delegate",), DESK_VERSION="2", DESK_TEAM="delegate"),
    _pydantic_ai("openinference", ("lend", "retry", "unknown_tool"), DESK_OPENINFERENCE="1"),
    _pydantic_ai("native-v1", ("lend", "retry", "turns"), major="1", DESK_VERSION="1", DESK_EVENTS="attributes"),
    _pydantic_ai("native-v1-logs", ("lend", "retry", "unknown_tool"), major="1", DESK_VERSION="1", DESK_EVENTS="logs"),
    _pydantic_ai("native-v3", ("lend", "retry"), major="1", DESK_VERSION="3"),
)


def _langgraph(
    variant: str,
    scenarios: Iterable[str],
    *,
    package: str,
    instrumentation: str,
    environment: str = "langgraph",
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
    _lc_openinference("openinference", ("lend", "retry", "parallel", "unknown_tool")),
    _lc_openinference("openinference-stream", ("lend", "parallel"), DESK_STREAM="1"),
    _lc_openinference("openinference-graph", ("lend", "retry"), DESK_GRAPH="1", DESK_SESSION="metadata"),
    _lc_openinference("openinference-async", ("lend",), DESK_ASYNC="1", DESK_SESSION="none"),
    _lc_openinference("openinference", ("delegate",), DESK_TEAM="delegate"),
    _langgraph(
        "openinference-and-openai",
        ("lend",),
        package="openinference-instrumentation-langchain, openinference-instrumentation-openai",
        instrumentation="openinference-openai",
    ),
    _lc_genai("genai", _ALL, **{_CONTENT: "SPAN_ONLY"}),
    _lc_genai("genai-stream", ("lend",), DESK_STREAM="1", **{_CONTENT: "SPAN_ONLY"}),
    _lc_genai("genai-events", ("lend", "retry"), **{_CONTENT: "EVENT_ONLY"}),
    _lc_genai("genai-both", ("lend", "parallel"), **{_CONTENT: "SPAN_AND_EVENT"}),
    _lc_genai("genai-nocontent", ("lend",)),
    _lc_genai("genai", ("delegate",), DESK_TEAM="delegate", **{_CONTENT: "SPAN_ONLY"}),
    _lc_genai("genai", ("delegate",), DESK_TEAM="supervisor", **{_CONTENT: "SPAN_ONLY"}),
    _lc_genai("genai", ("handoff",), DESK_TEAM="swarm", **{_CONTENT: "SPAN_ONLY"}),
    _lc_traceloop("traceloop", ("lend", "retry", "unknown_tool")),
    _lc_traceloop("traceloop-stream", ("lend",), DESK_STREAM="1"),
    _lc_traceloop("traceloop-nocontent", ("lend",), TRACELOOP_TRACE_CONTENT="false"),
    _lc_langsmith("langsmith", ("lend", "retry", "parallel", "unknown_tool")),
    _lc_langsmith("langsmith-stream", ("lend",), DESK_STREAM="1"),
    _lc_langsmith("langsmith-graph", ("lend", "broken_arguments"), DESK_GRAPH="1", DESK_SESSION="metadata"),
    _lc_langsmith("langsmith", ("delegate",), DESK_TEAM="delegate"),
    *(
        _langgraph(
            name,
            ("lend", "retry", "unknown_tool"),
            package=package,
            instrumentation=name,
            environment=f"langgraph-{name}",
        )
        for name, package in (("mlflow", "mlflow-tracing"), ("laminar", "lmnr"), ("openlit", "openlit"))
    ),
)

RECORDINGS: tuple[Recording, ...] = (*_PYDANTIC_AI, *_LANGGRAPH)
