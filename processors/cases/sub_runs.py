"""What an agent did that another one had asked, as a run of its own.

In: a run and one of its delegations.  Out: a `Run` whose task is the delegation's and whose answer is what came back.
Nothing is added that the outer run doesn't tell; what it lacks, the inner one lacks too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from evaluators.cases import Delegation, Role, Run, Turn
from processors.conventions.fact_names import FINAL_ANSWER, SYSTEM_PROMPT, USER_INPUT


def sub_runs(run: Run) -> Iterator[Run]:
    """The delegations of a run as runs, those that have a span of their own and in which anything was done."""
    seen = {run.ref}
    for delegation in run.delegations:
        if delegation.ref not in seen and (delegation.turns or delegation.calls):
            seen.add(delegation.ref)
            yield delegated_run(run, delegation)


def delegated_run(run: Run, delegation: Delegation) -> Run:
    """One delegation as a run. Turns are numbered anew."""
    places = {old: new for new, old in enumerate(delegation.turns)}
    turns = tuple(replace(run.turns[old], index=new, user_turn=0) for old, new in places.items())
    known = {USER_INPUT} if delegation.task else set()
    known |= {FINAL_ANSWER} if delegation.answer is not None else set()
    prompts = _system_prompts(turns)
    known |= {SYSTEM_PROMPT} if prompts else set()
    return Run(
        turns=turns,
        loose_calls=tuple(call for call in run.loose_calls if call.id in delegation.calls),
        user_inputs=(delegation.task,) if delegation.task else None,
        system_prompts=prompts,
        plans=tuple(replace(plan, turn=places[plan.turn]) for plan in run.plans if plan.turn in places),
        delegations=tuple(_inner(one, places) for one in run.delegations if _is_within(one, delegation)),
        final_answer=delegation.answer,
        answered=True if delegation.answer is not None else None,
        partial=run.partial,
        truncated=run.truncated,
        missing=tuple(fact for fact in run.missing if fact not in known),
        session_id=run.session_id,
        ref=delegation.ref,
    )


def _is_within(one: Delegation, outer: Delegation) -> bool:
    return one is not outer and bool(one.turns) and set(one.turns) < set(outer.turns)


def _inner(one: Delegation, places: dict[int, int]) -> Delegation:
    return replace(one, turns=tuple(places[turn] for turn in one.turns))


def _system_prompts(turns: tuple[Turn, ...]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for turn in turns:
        for message in turn.context or ():
            if message.role is not Role.SYSTEM:
                break
            if message.text:
                found[message.text] = None
    return tuple(found)
