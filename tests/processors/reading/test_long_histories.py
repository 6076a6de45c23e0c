"""Histories of which only the latest is sent along: what was asked once is one call, also where calls have no ids."""

from __future__ import annotations

import json

import pytest

from evaluators.cases import Run
from tests.processors.spans_of import Message, Trace, asks, returns, says, system, user

STEPS, LATEST = 30, 8


def opening(summary: bool, step: int) -> list[Message]:
    told = [system("Find places."), user("Find all of them.")]
    return [*told, says(f"So far {step} were looked at.")] if summary and step > LATEST else told


def run_of(*, with_ids: bool, summary: bool, same: bool) -> Run:
    """A run of many steps; with `same`, every call and every result is like the one before."""
    trace = Trace()
    run = trace.add("run", {"gen_ai.operation.name": "invoke_agent"})
    history: list[Message] = []
    for step in range(STEPS):
        number = 0 if same else step
        call_id = f"call_{step}" if with_ids else None
        said = asks(call_id, "find_place", {"number": number})
        trace.add(
            f"model {step}",
            {
                "gen_ai.operation.name": "chat",
                "gen_ai.input.messages": json.dumps([*opening(summary, step), *history[-LATEST:]]),
                "gen_ai.output.messages": json.dumps([said]),
            },
            under=run,
        )
        history += [said, returns(call_id, f"place {number}")]
    trace.add(
        "last",
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.input.messages": json.dumps([*opening(summary, STEPS), *history[-LATEST:]]),
            "gen_ai.output.messages": json.dumps([says("All found.")]),
        },
        under=run,
    )
    return trace.run()


@pytest.mark.parametrize("with_ids", [True, False])
@pytest.mark.parametrize("summary", [True, False])
def test_calls_in_a_moving_window_are_each_asked_once(with_ids: bool, summary: bool) -> None:
    run = run_of(with_ids=with_ids, summary=summary, same=False)
    assert [call.arguments for call in run.calls] == [{"number": step} for step in range(STEPS)]
    assert [call.result.content for call in run.calls if call.result] == [f"place {step}" for step in range(STEPS)]
    assert not run.loose_calls and run.user_inputs == ("Find all of them.",) and run.final_answer == "All found."


def test_equal_calls_in_a_moving_window_are_no_further_calls() -> None:
    assert not run_of(with_ids=False, summary=False, same=True).loose_calls
