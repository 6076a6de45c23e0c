"""Mastra's own attributes."""

from __future__ import annotations

import json

from processors.conventions.facts import Kind
from tests.processors.conventions.told import calls, texts, told


def test_a_step_of_the_model_has_the_messages_and_the_calls() -> None:
    call = {"toolCallId": "c1", "toolName": "find_book", "args": {"title": "Dune"}}

    facts = told(
        {
            "mastra.span.type": "model_step",
            "gen_ai.operation.name": "agent_step",
            "mastra.model_step.input": json.dumps([{"role": "user", "content": "Where is Dune?"}]),
            "mastra.model_step.output": json.dumps({"text": "", "toolCalls": [call]}),
            "mastra.metadata.sessionId": "visit-1",
        }
    )

    assert (facts.kind, facts.session_id) == (Kind.LLM, "visit-1")
    assert texts(facts) == [("user", "Where is Dune?")]
    assert calls(facts) == [("find_book", "c1", {"title": "Dune"})]


def test_placeholders_in_a_history_are_calls_and_results_of_which_only_the_tools_are_known() -> None:
    history = [
        {"role": "user", "content": "Where are Dune and Emma? [tool: none]"},
        {"role": "assistant", "content": "I look.[tool: find_book][tool: find_book]"},
        {"role": "tool", "content": "[tool-result: find_book][tool-result: find_book]"},
    ]

    facts = told({"mastra.span.type": "model_step", "mastra.model_step.input": json.dumps(history)})

    asked, answered, *results = facts.input or ()
    assert asked.text == "Where are Dune and Emma? [tool: none]"
    assert (answered.text, [(call.name, call.arguments) for call in answered.calls]) == (
        "I look.",
        [("find_book", None), ("find_book", None)],
    )
    assert [(result.tool_name, result.text) for result in results] == [("find_book", None), ("find_book", None)]


def test_an_agents_run_has_the_question_and_the_answer() -> None:
    facts = told(
        {
            "mastra.span.type": "agent_run",
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "desk clerk",
            "mastra.agent_run.input": json.dumps([{"role": "user", "content": "Where is Dune?"}]),
            "mastra.agent_run.output": json.dumps({"text": "On C4.", "files": []}),
        }
    )

    assert (facts.kind, facts.agent_name) == (Kind.AGENT, "desk clerk")
    assert (facts.input_text, facts.output_text) == ("Where is Dune?", "On C4.")


def test_a_call_that_is_left_to_the_application_is_named_by_its_span_alone() -> None:
    facts = told(
        {"mastra.span.type": "client_tool_call", "mastra.metadata.args": '{"card": "C-2093"}'},
        name="client_tool_call renew_card",
    )

    assert facts.tool is not None
    assert (facts.tool.name, facts.tool.arguments, facts.tool.result) == ("renew_card", {"card": "C-2093"}, None)


def test_a_result_that_says_it_is_an_error_is_a_failure() -> None:
    refused = '{"error": true, "message": "Tool input validation failed for find_book."}'

    facts = told(
        {
            "mastra.span.type": "tool_call",
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "find_book",
            "gen_ai.tool.call.result": refused,
        }
    )

    assert facts.tool is not None and facts.tool.error == refused
