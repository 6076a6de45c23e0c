"""What cases of one run share: worked out once, by identity, and given up again."""

import pytest

from evaluators.cases import Message, Role, Run, ToolCall, ToolResult, Turn
from evaluators.rules import evidence
from evaluators.rules.reading import Reading, reading_of
from evaluators.rules.run_index import forget, index_of
from tests.evaluators.runs import call


def a_run() -> Run:
    said = (Message(role=Role.USER, text="Where is it?"),)
    turns = (
        Turn(index=0, calls=(call("find", {"q": 1}, "first found", id="a"),), context=said),
        Turn(index=1, calls=(call("find", {"q": 1}, error="no", id="b"),), text="second said", context=said),
        Turn(index=2, text="third said", context=said),
    )
    return Run(turns=turns, user_inputs=("Where is it?",), system_prompts=("Be brief.",))


def test_a_run_has_one_index_until_it_is_forgotten() -> None:
    run, twin = a_run(), a_run()
    first = index_of(run)
    assert index_of(run) is first and index_of(twin) is not first
    forget(run)
    assert index_of(run) is not first


def test_only_a_few_runs_are_remembered() -> None:
    run = a_run()
    first = index_of(run)
    others = [a_run() for _ in range(5)]
    for other in others:
        index_of(other)
    assert index_of(run) is not first


def test_evidence_is_what_stood_before_the_turn() -> None:
    run = a_run()
    index = index_of(run)
    assert not index.evidence(run.turns[0]).says("first found")
    second = index.evidence(run.turns[1])
    assert second.says("first found") and second.says("second said") and second.says("be brief")
    assert not second.says("third said")
    assert index.evidence(None).says("third said")


def test_a_result_that_no_captured_turn_asked_for_is_evidence_for_every_turn() -> None:
    loose = ToolCall(id="l", name="look", result=ToolResult(content="loosely found"))
    run = Run(turns=(Turn(index=0),), loose_calls=(loose,))
    assert index_of(run).evidence(run.turns[0]).says("loosely found")


def test_steps_are_grouped_by_turn_and_by_call() -> None:
    steps = index_of(a_run()).steps((), ())
    assert [step.call.id for step in steps.of_turn[1]] == ["b"]
    assert [[step.call.id for step in alike] for alike in steps.alike.values()] == [["a", "b"]]
    assert index_of(a_run()).failed == {"find": frozenset({"b"})}


def a_long_run(turns: int) -> Run:
    """Each turn sees everything that was said before."""
    said: list[Message] = [Message(role=Role.USER, text="Add them up.")]
    made: list[Turn] = []
    for number in range(turns):
        asked = call("find", {"place": number}, f"There are {number + 1000}.", id=f"c{number}")
        made.append(Turn(index=number, calls=(asked,), context=tuple(said)))
        said.append(Message(role=Role.TOOL, text=f"There are {number + 1000}.", call_id=f"c{number}"))
    return Run(turns=tuple(made), user_inputs=("Add them up.",))


def test_numbers_are_read_once_however_many_turns_have_seen_them(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counted(text: str) -> Reading:
        read.append(text)
        return reading_of(text)

    monkeypatch.setattr(evidence, "reading_of", counted)
    run = a_long_run(100)
    index = index_of(run)
    assert all(index.evidence(turn).has_number(1000 + turn.index - 1, 1000 + turn.index - 1) for turn in run.turns[1:])
    results = [text for text in read if text.startswith("There")]
    assert len(results) == len(set(results)) == 99


def test_what_stands_in_the_history_and_was_told_in_the_run_is_evidence_once() -> None:
    run = a_long_run(10)
    seen = index_of(run).evidence(run.turns[9]).text
    assert all(seen.count(f"there are {number + 1000}.") == 1 for number in range(9))
    assert "there are 1009." not in seen


def test_an_agent_opens_an_exchange_with_its_first_answer_that_did_not_fail() -> None:
    turns = (
        Turn(index=0, agent="a", error="overloaded"),
        Turn(index=1, agent="a"),
        Turn(index=2, agent="b"),
        Turn(index=3, agent="a"),
        Turn(index=4, agent="a", user_turn=1),
    )
    index = index_of(Run(turns=turns))
    assert [index.opens(turn) for turn in turns] == [True, True, True, False, True]
