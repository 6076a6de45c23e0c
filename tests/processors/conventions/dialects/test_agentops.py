"""AgentOps' own attributes, beside the first form of the GenAI conventions."""

from __future__ import annotations

from processors.conventions.facts import Kind
from tests.processors.conventions.told import told


def test_a_tool_is_named_by_its_operation() -> None:
    facts = told(
        {
            "agentops.span.kind": "tool",
            "operation.name": "find_book",
            "agentops.tool.input": '{"args": [], "kwargs": {"title": "Dune"}}',
            "agentops.tool.output": '{"shelf": "C4"}',
        },
        name="find_book.tool",
    )

    assert (facts.kind, facts.dialects) == (Kind.TOOL, ("agentops",))
    assert facts.tool is not None
    assert (facts.tool.name, facts.tool.arguments) == ("find_book", {"title": "Dune"})
    assert facts.tool.result == '{"shelf": "C4"}'


def test_a_session_is_a_run_with_its_words() -> None:
    facts = told(
        {
            "agentops.span.kind": "session",
            "agentops.entity.input": '{"args": ["Where is Dune?"], "kwargs": {}}',
            "agentops.entity.output": "On C4.",
        }
    )

    assert (facts.kind, facts.input_text, facts.output_text) == (Kind.WORKFLOW, "Where is Dune?", "On C4.")


def test_a_call_that_is_listed_below_a_model_call_is_no_execution() -> None:
    facts = told(
        {
            "agentops.span.kind": "AgentOpsSpanKindValues.TOOL",
            "tool.name": "find_book",
            "tool.parameters": '{"title": "Dune"}',
        }
    )

    assert facts.kind is Kind.OTHER and facts.tool is None


def test_tools_that_are_offered_are_numbered_under_the_request() -> None:
    facts = told(
        {
            "gen_ai.prompt.0.role": "user",
            "gen_ai.prompt.0.content": "Where is Dune?",
            "gen_ai.request.functions.0.name": "find_book",
            "gen_ai.request.functions.0.parameters": '{"type": "object"}',
        }
    )

    assert [(tool.name, tool.parameters) for tool in facts.tools or ()] == [("find_book", {"type": "object"})]
