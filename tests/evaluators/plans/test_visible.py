"""Plans of whole runs: what is progress, what a change of plan, and what an answer."""

from __future__ import annotations

from typing import Any

from evaluators.cases import Delegation, PlanSource, PlanState, Run, ToolCall, Turn
from evaluators.plans import judged_plans, standing_plans, visible_plans

ANNOUNCED = "Plan:\n1. Look the flights up.\n2. Book one."
REVISED = "New plan:\n1. Look the trains up.\n2. Book one."


def look(id: str = "c") -> ToolCall:
    return ToolCall(id=id, name="search_flights", arguments={"to": "LIS"})


def todos(*steps: tuple[str, str], **more: Any) -> ToolCall:
    listed = [{"content": text, "status": status} for text, status in steps]
    return ToolCall(id="t", name="write_todos", arguments={"todos": listed, **more})


def turn(index: int, text: str | None = None, *calls: ToolCall, user_turn: int = 0, agent: str | None = None) -> Turn:
    return Turn(index=index, text=text, calls=calls, user_turn=user_turn, agent=agent, ref=f"t{index}")


def test_a_plan_is_what_is_said_before_acting() -> None:
    (plan,) = visible_plans([turn(0, ANNOUNCED, look()), turn(1, "Booked.")])
    assert (plan.source, plan.turn, plan.ref, len(plan.steps)) == (PlanSource.TEXT, 0, "t0", 2)


def test_a_plan_may_have_a_turn_of_its_own() -> None:
    assert len(visible_plans([turn(0, ANNOUNCED), turn(1, "", look()), turn(2, "Booked.")])) == 1


def test_an_answer_is_no_plan() -> None:
    assert visible_plans([turn(0, ANNOUNCED)]) == ()
    assert visible_plans([turn(0, "", look()), turn(1, ANNOUNCED)]) == ()
    handed = ToolCall(id="f", name="final_answer", arguments={"answer": "x"})
    assert visible_plans([turn(0, ANNOUNCED, handed)]) == ()


def test_a_plan_that_waits_for_the_user_is_an_answer() -> None:
    assert visible_plans([turn(0, ANNOUNCED), turn(1, "", look(), user_turn=1), turn(2, "Booked.", user_turn=1)]) == ()


def test_where_tools_are_run_from_code_every_turn_but_the_last_acts() -> None:
    turns = [turn(0, ANNOUNCED), turn(1, "print(search())"), turn(2, ANNOUNCED)]
    assert visible_plans(turns) == ()
    assert [plan.turn for plan in visible_plans(turns, acts_unseen=True)] == [0]


def test_a_list_with_other_states_is_the_same_plan_further_on() -> None:
    turns = [
        turn(0, "", todos(("look", "in_progress"), ("book", "pending"))),
        turn(1, "", look()),
        turn(2, "", todos(("look", "completed"), ("book", "in_progress"))),
        turn(3, "Booked."),
    ]
    (plan,) = visible_plans(turns)
    assert (plan.turn, plan.revises) == (0, False)
    assert [step.state for step in plan.steps] == [PlanState.COMPLETED, PlanState.IN_PROGRESS]


def test_other_steps_after_acting_are_a_change_of_plan() -> None:
    turns = [turn(0, ANNOUNCED, look()), turn(1, REVISED, look("d")), turn(2, "Booked.")]
    first, second = visible_plans(turns)
    assert (first.revises, second.revises, second.turn) == (False, True, 1)
    assert standing_plans(Run(turns=tuple(turns), plans=(first, second)), use_reasoning=False) == [second]


def test_the_same_plan_put_down_again_before_acting_is_one_plan() -> None:
    turns = [turn(0, ANNOUNCED, todos(("look", "pending"), ("book", "pending"))), turn(1, "", look()), turn(2, "Ok.")]
    (plan,) = visible_plans(turns)
    assert (plan.source, plan.turn) == (PlanSource.LIST, 0)


def test_a_plan_for_another_message_of_the_user_replaces_none() -> None:
    turns = [turn(0, ANNOUNCED, look()), turn(1, "Booked."), turn(2, REVISED, look("d"), user_turn=1), turn(3, "Ok.")]
    plans = visible_plans(turns)
    assert [plan.revises for plan in plans] == [False, False]
    assert len(standing_plans(Run(plans=plans), use_reasoning=False)) == 2


def test_lists_may_be_written_in_parts() -> None:
    turns = [
        turn(0, "", todos(("look", "pending"), ("book", "pending"))),
        turn(1, "", look()),
        turn(2, "", todos(("look", "completed"), merge=True)),
        turn(3, "Booked."),
    ]
    (plan,) = visible_plans(turns)
    assert [(step.text, step.state) for step in plan.steps] == [
        ("look", PlanState.COMPLETED),
        ("book", PlanState.PENDING),
    ]


def test_steps_may_be_written_one_by_one() -> None:
    def task(name: str, **arguments: Any) -> ToolCall:
        return ToolCall(id=str(arguments), name=name, arguments=arguments)

    turns = [
        turn(0, "", task("TaskCreate", subject="look"), task("TaskCreate", subject="book")),
        turn(1, "", look()),
        turn(2, "", task("TaskUpdate", taskId="1", status="completed")),
    ]
    (plan,) = visible_plans(turns)
    assert [(step.text, step.state) for step in plan.steps] == [("look", PlanState.COMPLETED), ("book", None)]


def test_a_list_that_the_user_dictated_is_no_plan_of_the_agent() -> None:
    listed = ToolCall(id="t", name="add_todos", arguments={"todos": ["milk", "bread"]})
    turns = [turn(0, "", listed), turn(1, "Done.")]
    assert visible_plans(turns, ["Put milk and bread on my shopping list."]) == ()
    assert len(visible_plans(turns, ["Bake me a toast."])) == 1


def test_todos_that_the_user_asked_for_are_no_plan_of_the_agent() -> None:
    listed = ToolCall(id="t", name="add_todos", arguments={"todos": [{"content": "milk"}, {"content": "eggs"}]})
    assert visible_plans([turn(0, "", listed)], ["Put milk and eggs on my to-do list."]) == ()
    assert len(visible_plans([turn(0, "", listed)], ["Book me a flight."])) == 1


def test_several_tasks_handed_out_are_the_plan_of_whoever_did() -> None:
    asked = [ToolCall(id=f"d{n}", name="ask", arguments={}) for n in range(2)]
    delegations = [
        Delegation(turns=(n + 1,), task=f"task {n}", agent=f"agent {n}", call_id=f"d{n}", ref=f"a{n}") for n in range(2)
    ]
    turns = [turn(0, "", *asked), turn(1, "x", agent="agent 0"), turn(2, "y", agent="agent 1"), turn(3, "Done.")]
    (plan,) = visible_plans(turns, delegations=delegations)
    assert plan.source is PlanSource.DELEGATION
    assert [(step.text, step.owner, step.call_id) for step in plan.steps] == [
        ("task 0", "agent 0", "d0"),
        ("task 1", "agent 1", "d1"),
    ]
    assert visible_plans(turns, delegations=delegations[:1]) == ()
    assert standing_plans(Run(plans=(plan,)), use_reasoning=False) == []


def test_an_agent_that_was_asked_for_help_has_plans_of_its_own() -> None:
    turns = (
        turn(0, "", look("d")),
        turn(1, ANNOUNCED, look(), agent="inner"),
        turn(2, "x", agent="inner"),
        turn(3, "y"),
    )
    plans = visible_plans(turns)
    run = Run(turns=turns, plans=plans, delegations=(Delegation(turns=(1, 2), call_id="d"),))
    assert len(plans) == 1 and judged_plans(run, use_reasoning=False) == []
