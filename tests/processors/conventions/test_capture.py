"""What is said where content was not captured: the attribute, and the switch of the instrumentation at work."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from processors.conventions.capture import remedies
from processors.conventions.fact_names import FACTS, TOOLS, USER_INPUT
from processors.conventions.instrumentations import INSTRUMENTATIONS, Instrumentation, Remedy

PAGE = Path(__file__).parents[3] / "docs" / "dialects" / "content-capture.md"
CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"


def remedy(fact: str, *scopes: str, dialects: tuple[str, ...] = ("genai",), captured: bool = False) -> Remedy:
    found = remedies(
        [fact], model_scopes=scopes, tool_scopes=(), dialects=dialects, captured=[fact] if captured else []
    )
    return found[fact]


@pytest.mark.parametrize(
    ("scope", "attribute", "switch"),
    [
        ("openinference.instrumentation.openai", "llm.input_messages", "OPENINFERENCE_HIDE_INPUTS"),
        ("@arizeai/openinference-instrumentation-openai", "llm.input_messages", "OPENINFERENCE_HIDE_INPUTS"),
        ("opentelemetry.instrumentation.openai_v2", "gen_ai.user.message", f"{CAPTURE}=true"),
        ("opentelemetry.util.genai.handler", "gen_ai.input.messages", f"{CAPTURE}=SPAN_ONLY"),
        ("opentelemetry.instrumentation.genai.anthropic", "gen_ai.input.messages", f"{CAPTURE}=SPAN_ONLY"),
        ("opentelemetry.instrumentation.openai.v1", "gen_ai.input.messages", "TRACELOOP_TRACE_CONTENT"),
        ("opentelemetry.instrumentation.langchain", "gen_ai.input.messages", "TRACELOOP_TRACE_CONTENT"),
        ("openlit.instrumentation.openai", "gen_ai.input.messages", "capture_message_content=True"),
        ("pydantic-ai", "pydantic_ai.all_messages", "include_content"),
        ("ai", "ai.prompt", "recordInputs"),
        ("gen_ai", "gen_ai.input.messages", "recordInputs"),
        ("gcp.vertex.agent", "gen_ai.input.messages", CAPTURE),
        ("strands.telemetry.tracer", "gen_ai.user.message", "gen_ai_unredacted_attributes"),
        ("agent_framework", "gen_ai.input.messages", "ENABLE_SENSITIVE_DATA"),
        ("Experimental.Microsoft.Extensions.AI", "gen_ai.input.messages", "EnableSensitiveData"),
        ("langsmith", "gen_ai.prompt", "LANGSMITH_HIDE_INPUTS"),
        ("langfuse-sdk", "langfuse.observation.input", "LANGFUSE_OBSERVE_DECORATOR_IO_CAPTURE_ENABLED"),
        ("com.anthropic.claude_code.tracing", "user_prompt", "OTEL_LOG_USER_PROMPTS=1"),
        ("autogen-core", "gen_ai.input.messages", "openinference-instrumentation-autogen-agentchat"),
    ],
)
def test_the_scope_tells_which_switch_it_is(scope: str, attribute: str, switch: str) -> None:
    found = remedy(USER_INPUT, scope)
    assert attribute in found.attribute
    assert switch in found.switch


@pytest.mark.parametrize(
    ("dialect", "switch"),
    [
        ("openinference", "OPENINFERENCE_HIDE_INPUTS"),
        ("genai", CAPTURE),
        ("traceloop", "TRACELOOP_TRACE_CONTENT"),
        ("vercel", "recordInputs"),
        ("never heard of", "switch on"),
    ],
)
def test_the_dialect_tells_it_where_nobody_knows_the_scope(dialect: str, switch: str) -> None:
    assert switch in remedy(USER_INPUT, "my.own.tracer", dialects=(dialect,)).switch


def test_a_scope_that_only_begins_like_a_known_one_is_unknown() -> None:
    assert remedy(USER_INPUT, "airline").switch == remedy(USER_INPUT).switch
    assert "recordInputs" not in remedy(USER_INPUT, "gen_ai_gateway").switch


def test_two_instrumentations_with_one_scope_are_told_apart_by_their_dialect() -> None:
    scope = "opentelemetry.instrumentation.openai_agents"
    assert "TRACELOOP_TRACE_CONTENT" in remedy(USER_INPUT, scope, dialects=("genai", "traceloop")).switch
    assert "OTEL_INSTRUMENTATION_OPENAI_AGENTS_CAPTURE_CONTENT" in remedy(USER_INPUT, scope).switch


def test_what_an_instrumentation_never_records_is_another_ones_to_record() -> None:
    assert "never records" in remedy(TOOLS, "opentelemetry.instrumentation.openai_v2", captured=True).switch
    assert "instrumentation-openai" in remedy(TOOLS, "openinference.instrumentation.openai_agents").switch


@pytest.mark.parametrize("fact", FACTS)
@pytest.mark.parametrize(
    ("scope", "switch"),
    [
        ("opentelemetry.util.genai.handler", CAPTURE),
        ("openinference.instrumentation.openai", "OPENINFERENCE_HIDE"),
        ("traceloop.tracer", "TRACELOOP_TRACE_CONTENT"),
    ],
)
def test_where_content_of_the_kind_is_captured_no_switch_is_blamed_for_what_is_missing(
    fact: str, scope: str, switch: str
) -> None:
    assert switch in remedy(fact, scope).switch
    assert switch not in remedy(fact, scope, captured=True).switch


def test_the_facts_of_tools_are_asked_of_what_traces_the_tools() -> None:
    found = remedies(
        FACTS,
        model_scopes=["openinference.instrumentation.openai"],
        tool_scopes=["traceloop.tracer"],
        dialects=["openinference", "traceloop"],
        captured=(),
    )
    assert {fact for fact in FACTS if "TRACELOOP" in found[fact].switch} == {"arguments", "tool_results"}


@pytest.mark.parametrize("one", INSTRUMENTATIONS, ids=lambda one: one.name)
def test_every_fact_has_a_place_and_a_remedy_in_every_instrumentation(one: Instrumentation) -> None:
    for fact in FACTS:
        found = one.remedy(fact)
        assert found.attribute and found.switch
        assert ": " not in found.attribute and not found.switch.endswith(".")


def test_what_comes_in_log_records_is_said_to_need_their_trace() -> None:
    assert "name the trace" in remedy(USER_INPUT, "com.anthropic.claude_code").switch


@pytest.mark.parametrize("one", INSTRUMENTATIONS, ids=lambda one: one.name)
def test_the_page_on_capture_names_each_instrumentation_and_its_switches(one: Instrumentation) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert one.name in page
    told = " ".join(one.remedy(fact).switch for fact in FACTS)
    for variable in re.findall(r"\b[A-Z]+(?:_[A-Z]+)+\b", told):
        assert variable in page
