"""Calls in words are calls where the instructions ask for them, and words everywhere else."""

from __future__ import annotations

import pytest

from tests.processors.spans_of import Trace, says, system, user

INSTRUCTIONS = system("Use this format:\nThought: ...\nAction: tool\nAction Input: JSON\nObservation: ...\nAnswer: ...")
ASKED = user("Is there a copy of Dune?")
CALLING = 'Thought: I look it up.\nAction: find_book\nAction Input: {"title": "Dune"}'


def run_of(*answers: str, instructions: object = INSTRUCTIONS) -> Trace:
    trace = Trace()
    trace.agent()
    given = [instructions, ASKED]
    for number, answer in enumerate(answers):
        trace.llm(f"llm{number}", given, says(answer), tools=())  # type: ignore[arg-type]
        given = [*given, says(answer), user("Observation: two copies")]
    return trace


def test_an_action_is_a_call_its_observation_the_result_and_the_answer_the_answer() -> None:
    run = run_of(CALLING, "Thought: I can answer.\nAnswer: Two copies are in.").run()
    assert [(call.name, call.arguments, call.result and call.result.content) for call in run.calls] == [
        ("find_book", {"title": "Dune"}, "two copies")
    ]
    assert (run.turns[0].text, run.final_answer) == ("I look it up.", "Two copies are in.")
    assert run.user_inputs == ("Is there a copy of Dune?",)


@pytest.mark.parametrize(
    ("given", "arguments"),
    [
        ("{'title': 'Dune'}", {"title": "Dune"}),
        ('```json\n{"title": "Dune"}\n```', {"title": "Dune"}),
        ('{"title": "Dune"}\nObservation: invented', {"title": "Dune"}),
        ("Dune", "Dune"),
        ('{"title": "Du', '{"title": "Du'),
    ],
)
def test_input_of_an_action_in_any_spelling(given: str, arguments: object) -> None:
    run = run_of(f"Thought: so.\nAction: find_book\nAction Input: {given}").run()
    assert run.calls[0].arguments == arguments


def test_without_such_instructions_words_are_words() -> None:
    run = run_of(CALLING, instructions=system("Explain how agents write.")).run()
    assert run.calls == () and run.final_answer == CALLING


def test_an_observation_that_nothing_asked_for_is_the_users() -> None:
    trace = Trace()
    trace.agent()
    trace.llm("llm", [INSTRUCTIONS, user("Observation: the door is open")], says("Answer: Close it."), tools=())
    assert trace.run().user_inputs == ("Observation: the door is open",)
