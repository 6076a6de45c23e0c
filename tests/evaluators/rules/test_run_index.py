"""What cases of one run share: worked out once, by identity, and given up again."""

from evaluators.cases import Message, Role, Run, ToolCall, ToolResult, Turn
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
