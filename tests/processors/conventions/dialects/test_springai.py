"""Spring AI's own attributes."""

from __future__ import annotations

from processors.conventions.facts import Kind
from tests.processors.conventions.told import told

SCHEMA = '{"type": "object", "properties": {"title": {"type": "string"}}}'


def test_a_tools_span_has_its_definition_beside_arguments_and_result() -> None:
    facts = told(
        {
            "gen_ai.operation.name": "framework",
            "gen_ai.system": "spring_ai",
            "spring.ai.kind": "tool_call",
            "spring.ai.tool.definition.name": "find_book",
            "spring.ai.tool.definition.schema": SCHEMA,
            "spring.ai.tool.call.arguments": '{"title": "Dune"}',
            "spring.ai.tool.call.result": '{"shelf": "C4"}',
        }
    )

    assert facts.kind is Kind.TOOL and facts.tool is not None
    assert (facts.tool.name, facts.tool.arguments) == ("find_book", {"title": "Dune"})
    assert facts.tool.result == '{"shelf": "C4"}'
    assert [tool.parameters for tool in facts.tools or ()] == [
        {"type": "object", "properties": {"title": {"type": "string"}}}
    ]


def test_a_model_call_names_the_tools_on_offer() -> None:
    facts = told(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "gpt-4.1-mini",
            "spring.ai.model.request.tool.names": '["find_book", "reserve_room"]',
        }
    )

    assert facts.kind is Kind.LLM
    assert [tool.name for tool in facts.tools or ()] == ["find_book", "reserve_room"]


def test_a_chat_client_is_a_run_and_its_advisors_are_steps() -> None:
    client = told({"gen_ai.operation.name": "framework", "spring.ai.kind": "chat_client"})
    advisor = told({"spring.ai.kind": "advisor"})

    assert (client.kind, advisor.kind) == (Kind.AGENT, Kind.CHAIN)
