"""DSPy: calls, results and answers in fields of texts."""

from __future__ import annotations

import json

import pytest

from evaluators.cases import JsonValue
from tests.processors.conventions.told import calls, texts, told
from tests.processors.spans_of import Trace, says, system, user

INSTRUCTIONS = system("Your input fields are:\n1. `question` (str):\n2. `trajectory` (str):")
EXTRACTING = system("Your input fields are:\n1. `question` (str):\nYour output fields are:\n1. `answer` (str):")
ASKED = "Is there a copy of Dune that I can lend?"
REQUEST = "\n\nRespond with the corresponding output fields, starting with the field `[[ ## next_thought ## ]]`."
STEP = """[[ ## thought_0 ## ]]
I look it up.

[[ ## tool_name_0 ## ]]
find_book

[[ ## tool_args_0 ## ]]
{"title": "Dune"}

[[ ## observation_0 ## ]]
{"copies": 2}"""
CALLING = """[[ ## next_thought ## ]]
I look it up.

[[ ## next_tool_name ## ]]
find_book

[[ ## next_tool_args ## ]]
{"title": "Dune"}

[[ ## completed ## ]]"""
ANSWERING = "[[ ## reasoning ## ]]\nSimple.\n\n[[ ## answer ## ]]\nTwo copies are in.\n\n[[ ## completed ## ]]"


def prompt(trajectory: str = "") -> str:
    return f"[[ ## question ## ]]\n{ASKED}\n\n[[ ## trajectory ## ]]\n{trajectory}{REQUEST}"


def model_call(given: str, answer: str) -> dict[str, JsonValue]:
    return {
        "openinference.span.kind": "LLM",
        "llm.input_messages.0.message.role": "system",
        "llm.input_messages.0.message.content": str(INSTRUCTIONS["content"]),
        "llm.input_messages.1.message.role": "user",
        "llm.input_messages.1.message.content": given,
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": answer,
    }


@pytest.mark.parametrize(
    "answer",
    [
        CALLING,
        '{"next_thought": "I look it up.", "next_tool_name": "find_book", "next_tool_args": {"title": "Dune"}}',
        "<next_thought>\nI look it up.\n</next_thought>\n<next_tool_name>find_book</next_tool_name>\n"
        '<next_tool_args>{"title": "Dune"}</next_tool_args>',
    ],
    ids=["fields", "JSON", "XML"],
)
def test_a_tool_named_in_a_field_is_a_call(answer: str) -> None:
    facts = told(model_call(prompt(), answer))
    assert calls(facts) == [("find_book", None, {"title": "Dune"})]
    assert facts.output is not None and facts.output[0].text == "I look it up."


def test_the_users_words_and_the_steps_so_far_are_told_apart() -> None:
    facts = told(model_call(prompt(STEP), ANSWERING))
    assert texts(facts)[1:] == [("user", ASKED), ("assistant", "I look it up."), ("tool", '{"copies": 2}')]
    assert facts.output is not None and facts.output[0].text == "Two copies are in."


def test_an_observation_of_a_failure_has_failed() -> None:
    facts = told(model_call(prompt(STEP.replace('{"copies": 2}', "Execution error in find_book: closed")), ANSWERING))
    assert facts.input is not None and facts.input[-1].failed is True


@pytest.mark.parametrize("answer", ["I don't know.", "{}", "{not json", "<b>", "[[ ## next_tool_name ## ]]", ""])
def test_answers_without_fields_are_what_they_are(answer: str) -> None:
    facts = told(model_call(prompt(), answer))
    assert calls(facts) == []


def test_a_react_run_is_a_run_with_calls() -> None:
    trace = Trace()
    trace.add(
        "react",
        {
            "openinference.span.kind": "CHAIN",
            "input.value": json.dumps({"input_args": {"question": ASKED}}),
            "output.value": json.dumps({"trajectory": {}, "reasoning": "Simple.", "answer": "Two copies are in."}),
        },
        name="ReAct.forward",
    )
    finishing = CALLING.replace("find_book", "finish").replace('{"title": "Dune"}', "{}")
    trace.llm("first", [INSTRUCTIONS, user(prompt())], says(CALLING), under="react", tools=())
    trace.add(
        "tool",
        {
            "openinference.span.kind": "TOOL",
            "input.value": json.dumps({"kwargs": {"title": "Dune"}}),
            "output.value": '{"copies": 2}',
        },
        under="react",
        name="find_book.__call__",
    )
    trace.llm("second", [INSTRUCTIONS, user(prompt(STEP))], says(finishing), under="react", tools=())
    trace.llm("last", [EXTRACTING, user(prompt(STEP))], says(ANSWERING), under="react", tools=())
    run = trace.run()
    assert run.user_inputs == (ASKED,)
    assert [(call.name, call.is_handoff, call.ref) for call in run.calls] == [
        ("find_book", False, "tool"),
        ("finish", True, None),
    ]
    assert run.turns[1].answers == (run.calls[0].id,)
    assert run.final_answer == "Two copies are in."
