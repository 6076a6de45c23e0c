"""LlamaIndex: its events and messages as JSON on the spans of its workflow."""

from __future__ import annotations

import json

from evaluators.cases import JsonValue, Role
from processors.conventions.facts import Kind
from tests.processors.conventions.told import calls, texts, told
from tests.processors.spans_of import Trace


def blocks(role: str, text: str, **more: JsonValue) -> dict[str, JsonValue]:
    return {"role": role, "additional_kwargs": {}, "blocks": [{"block_type": "text", "text": text}], **more}


CALLED: dict[str, JsonValue] = {
    "role": "assistant",
    "additional_kwargs": {},
    "blocks": [
        {"block_type": "text", "text": ""},
        {"block_type": "tool_call", "tool_call_id": "c1", "tool_name": "find_book", "tool_kwargs": '{"title": "Dune"}'},
    ],
}
RETURNED = blocks("tool", "two copies", additional_kwargs={"tool_call_id": "c1"})
TOOLS = [{"type": "function", "function": {"name": "find_book", "parameters": {"type": "object", "properties": {}}}}]


def task(**values: JsonValue) -> dict[str, JsonValue]:
    return {
        "traceloop.span.kind": "task",
        **{f"traceloop.entity.{key}": json.dumps(value) for key, value in values.items()},
    }


def model_call(*messages: dict[str, JsonValue], answer: str | None = None) -> dict[str, JsonValue]:
    parts: list[JsonValue] = [{"type": "text", "content": answer}] if answer else []
    return {
        **task(input={"messages": list(messages), "kwargs": {"tools": TOOLS}}),
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": json.dumps([{"role": one["role"], "parts": []} for one in messages]),
        "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": parts, "finish_reason": "stop"}]),
    }


def executed(text: str, *, failed: bool = False) -> JsonValue:
    output: JsonValue = {
        "blocks": [{"block_type": "text", "text": text}],
        "tool_name": "find_book",
        "raw_output": text,
        "is_error": failed,
    }
    return {"tool_name": "find_book", "tool_kwargs": {"title": "Dune"}, "tool_id": "c1", "tool_output": output}


def test_a_model_call_has_the_request_as_the_framework_made_it() -> None:
    facts = told(model_call(blocks("user", "Is Dune in?"), CALLED, RETURNED, answer="Yes."))
    assert facts.kind is Kind.LLM
    assert texts(facts) == [("user", "Is Dune in?"), ("assistant", ""), ("tool", "two copies")]
    assert facts.input is not None and [(call.id, call.arguments) for call in facts.input[1].calls] == [
        ("c1", {"title": "Dune"})
    ]
    assert facts.input[2].call_id == "c1"
    assert facts.tools is not None and facts.tools[0].parameters is not None


def test_an_answer_that_the_convention_lost_is_not_known() -> None:
    assert told(model_call(blocks("user", "Is Dune in?"))).output is None


def test_an_answer_that_the_framework_has_stands() -> None:
    attributes = {**model_call(blocks("user", "Is Dune in?")), **task(output={"message": CALLED})}
    assert calls(told(attributes)) == [("find_book", "c1", {"title": "Dune"})]


def test_the_step_that_executed_a_call_is_the_execution() -> None:
    facts = told(task(output=executed("no such title", failed=True)))
    assert facts.kind is Kind.TOOL and facts.tool is not None
    assert (facts.tool.name, facts.tool.call_id, facts.tool.arguments) == ("find_book", "c1", {"title": "Dune"})
    assert (facts.tool.result, facts.tool.error) == ("no such title", "no such title")


def test_a_tools_own_output_is_unwrapped_in_either_convention() -> None:
    output = {"blocks": [{"text": "two copies"}], "tool_name": "find_book", "raw_output": "x", "is_error": False}
    facts = told(
        {
            "openinference.span.kind": "TOOL",
            "tool.name": "find_book",
            "input.value": json.dumps({"kwargs": {"title": "Dune"}}),
            "output.value": json.dumps(output),
        }
    )
    assert facts.tool is not None
    assert (facts.tool.arguments, facts.tool.result, facts.tool.error) == ({"title": "Dune"}, "two copies", None)


def test_a_streamed_run_is_put_together_from_requests_and_steps() -> None:
    asked = blocks("user", "Is Dune in?")
    trace = Trace()
    trace.add("run", {"traceloop.span.kind": "workflow"})
    trace.add("first", model_call(asked), under="run")
    trace.add("step", task(output=executed("two copies")), under="run")
    trace.add("tool", task(input={"kwargs": {"title": "Dune"}}, output={"x": 1}), under="step")
    trace.add("second", model_call(asked, CALLED, RETURNED, answer="Yes."), under="run")
    run = trace.run()
    assert [(call.id, call.ref, call.from_model) for call in run.calls] == [("c1", "step", True)]
    assert run.turns[0].calls and run.turns[1].answers == ("c1",)
    assert (run.user_inputs, run.final_answer) == (("Is Dune in?",), "Yes.")


def test_an_agent_that_takes_over_knows_what_was_said_before_it() -> None:
    asked = blocks("user", "Is Dune in?")
    trace = Trace()
    trace.add("run", {"traceloop.span.kind": "workflow"})
    trace.add("first", model_call(blocks("system", "Route."), asked), under="run")
    trace.add("second", model_call(blocks("system", "Find."), asked, CALLED, RETURNED, answer="Yes."), under="run")
    run = trace.run()
    assert [call.name for call in run.turns[0].calls] == ["find_book"]
    assert run.loose_calls == ()


def test_the_last_event_of_a_run_is_its_answer() -> None:
    attributes = {
        **task(output={"result": {"response": blocks("assistant", "Yes.")}}),
        "traceloop.span.kind": "workflow",
    }
    facts = told(attributes)
    assert facts.output_text == "Yes."
    assert Role.ASSISTANT not in [message.role for message in facts.input or ()]
