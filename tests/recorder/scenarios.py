"""What happens in a recorded run: the human's words, and what the scripted model answers, request by request.

The model counts requests: the n-th one gets the n-th turn, whichever agent of the program asks. What comes of the
calls isn't scripted: the tools of `agents/desk.py` really run. No scenario calls `reserve_room`: it tells whether an
instrumentation records what was offered, not only what was used.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

SYSTEM = "You work at the desk of the city library. Look things up with the tools and answer in one short sentence."
SESSION = "desk-visit-4711"
HANDED_OVER = "handed_over"
"""Name of the call by which one agent passes the run on, or consults another; each framework has its own for it."""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call of the model; arguments as text are sent as they are, valid JSON or not."""

    name: str
    arguments: dict[str, str | int | list[str]] | str


@dataclass(frozen=True, slots=True)
class Turn:
    """What the model answers to one request. With `refused`, it is an HTTP error of this status instead."""

    text: str | None = None
    calls: tuple[Call, ...] = ()
    refused: int | None = None


@dataclass(frozen=True, slots=True)
class Scenario:
    """A run: `users` are the human's turns, `turns` the model's answers, `faults` what is wrong with the calls."""

    name: str
    users: tuple[str, ...]
    turns: tuple[Turn, ...]
    tools: tuple[str, ...] = ("find_book", "reserve_room")
    faults: tuple[str, ...] = ()


_SALT_ROAD = Call("find_book", {"title": "The Salt Road", "branch": "Riverside"})
_SHELF = "Yes, The Salt Road stands at Riverside on shelf F-18."
_ASK_SHELF = "Is The Salt Road on the shelf at Riverside?"
_STEPS = ("Look the book up in the catalogue.", "Tell the reader where it stands.")
_PLAN = f"## 1. Facts survey\n- A branch is given.\n\n## 2. Plan\n1. {_STEPS[0]}\n2. {_STEPS[1]}\n<end_plan>"
_PLANNER = json.dumps(
    {
        "list_of_plans_per_task": [
            {"task_number": 1, "task": "Answer the reader.", "plan": f"1. {_STEPS[0]}\n2. {_STEPS[1]}"}
        ]
    }
)


def _todos(*states: str) -> Call:
    todos = [{"content": step, "status": state} for step, state in zip(_STEPS, states, strict=True)]
    return Call("write_todos", json.dumps({"todos": todos}))


SCENARIOS: dict[str, Scenario] = {
    scenario.name: scenario
    for scenario in (
        Scenario("lend", (_ASK_SHELF,), (Turn(calls=(_SALT_ROAD,)), Turn(_SHELF))),
        Scenario(
            "retry",
            ("Do you have Paper Lanterns at the branch in the north?",),
            (
                Turn(calls=(Call("find_book", {"title": "Paper Lanterns", "branch": "Harbour"}),)),
                Turn(calls=(Call("find_book", {"title": "Paper Lanterns", "branch": "Northgate"}),)),
                Turn("Northgate has Paper Lanterns, but it is lent until Friday."),
            ),
            faults=("bad_arguments",),
        ),
        Scenario(
            "parallel",
            ("When does Central open, and is The Salt Road on the shelf at Riverside?",),
            (
                Turn("I look both up.", (Call("opening_hours", {"branch": "Central"}), _SALT_ROAD)),
                Turn("Central is open from 9 to 8, and The Salt Road stands at Riverside, shelf F-18."),
            ),
            tools=("find_book", "opening_hours", "reserve_room"),
        ),
        Scenario(
            "turns",
            (_ASK_SHELF, "Then lend it to the holder of card C-2093, please."),
            (
                Turn(calls=(_SALT_ROAD,)),
                Turn(_SHELF),
                Turn(calls=(Call("lend_copy", {"copy": 5127, "card": "C-2093"}),)),
                Turn("Copy 5127 is lent to card C-2093; it is due on 17 April."),
            ),
            tools=("find_book", "lend_copy", "reserve_room"),
        ),
        Scenario(
            "unknown_tool",
            ("My card C-2093 runs out tomorrow. Can you renew it?",),
            (
                Turn(calls=(Call("renew_card", {"card": "C-2093"}),)),
                Turn("I can't renew cards from here, sorry; the cashier can."),
            ),
            faults=("unknown_tool",),
        ),
        Scenario(
            "no_tool",
            ("Good morning! What can you do for me?",),
            (Turn("I can find books, lend them, tell opening hours and reserve rooms."),),
        ),
        Scenario(
            "broken_arguments",
            (_ASK_SHELF,),
            (
                Turn(calls=(Call("find_book", '{"title": "The Salt Road", "branch": '),)),
                Turn(calls=(_SALT_ROAD,)),
                Turn(_SHELF),
            ),
            faults=("bad_arguments",),
        ),
        Scenario("model_fails", (_ASK_SHELF,), (Turn(calls=(_SALT_ROAD,)), Turn(refused=400))),
        Scenario(
            "handoff",
            (_ASK_SHELF,),
            (Turn(calls=(Call(HANDED_OVER, {}),)), Turn(calls=(_SALT_ROAD,)), Turn(_SHELF)),
        ),
        Scenario(
            "delegate",
            (_ASK_SHELF,),
            (
                Turn(calls=(Call(HANDED_OVER, {}),)),
                Turn(calls=(_SALT_ROAD,)),
                Turn("Copy 5127 of The Salt Road is on shelf F-18."),
                Turn(_SHELF),
            ),
        ),
        Scenario("plan", (_ASK_SHELF,), (Turn(_PLAN), Turn(calls=(_SALT_ROAD,)), Turn(_SHELF))),
        Scenario(
            "plan_call",
            (_ASK_SHELF,),
            (Turn(calls=(Call("Plan", {"steps": list(_STEPS)}),)), Turn(calls=(_SALT_ROAD,)), Turn(_SHELF)),
        ),
        Scenario("planner", (_ASK_SHELF,), (Turn(_PLANNER), Turn(calls=(_SALT_ROAD,)), Turn(_SHELF))),
        Scenario(
            "todos",
            (_ASK_SHELF,),
            (
                Turn(calls=(_todos("in_progress", "pending"),)),
                Turn(calls=(_SALT_ROAD,)),
                Turn(calls=(_todos("completed", "completed"),)),
                Turn(_SHELF),
            ),
        ),
    )
}
