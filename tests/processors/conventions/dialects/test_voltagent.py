"""VoltAgent's attributes."""

from __future__ import annotations

import json

from evaluators.cases import JsonValue
from processors.conventions.facts import Kind
from tests.processors.conventions.told import texts, told

ENTITY: dict[str, JsonValue] = {
    "entity.type": "agent",
    "entity.name": "clerk",
    "operation.id": "op-1",
    "conversation.id": "visit-1",
}
SCHEMA: JsonValue = {"type": "object", "properties": {"title": {"type": "string"}}, "additionalProperties": False}


def test_an_agents_span_has_messages_instructions_tools_and_the_answer() -> None:
    state = {"tools": [{"name": "find_book", "parameters": {"jsonSchema": SCHEMA}, "type": "user-defined"}]}

    facts = told(
        {
            **ENTITY,
            "agent.instructions": "You work at the desk.",
            "agent.messages": json.dumps([{"role": "user", "content": [{"type": "text", "text": "Where is Dune?"}]}]),
            "agent.stateSnapshot": json.dumps(state),
            "output": "On C4.",
        }
    )

    assert (facts.kind, facts.agent_name, facts.session_id) == (Kind.AGENT, "clerk", "visit-1")
    assert (texts(facts), facts.output_text) == ([("user", "Where is Dune?")], "On C4.")
    assert facts.system == ("You work at the desk.",)
    assert [tool.parameters for tool in facts.tools or ()] == [SCHEMA]


def test_a_tools_parameters_are_its_schema_and_not_its_arguments() -> None:
    facts = told(
        {
            **ENTITY,
            "span.type": "tool",
            "tool.name": "find_book",
            "tool.call.id": "c1",
            "tool.parameters": json.dumps({"jsonSchema": SCHEMA}),
            "input": '{"title": "Dune"}',
            "output": '{"shelf": "C4"}',
        }
    )

    assert facts.tool is not None
    assert (facts.tool.name, facts.tool.call_id, facts.tool.arguments) == ("find_book", "c1", {"title": "Dune"})
    assert facts.tool.result == '{"shelf": "C4"}'


def test_a_sub_agent_goes_by_its_own_name() -> None:
    facts = told({**ENTITY, "subagent.name": "catalogue"})

    assert (facts.kind, facts.agent_name) == (Kind.AGENT, "catalogue")


def test_the_span_of_all_model_calls_and_those_of_the_memory_are_steps() -> None:
    kinds = {told({**ENTITY, "span.type": kind, "input": "[]"}).kind for kind in ("llm", "memory")}

    assert kinds == {Kind.CHAIN}
