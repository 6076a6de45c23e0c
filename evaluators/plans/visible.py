"""From the turns of a run to the plans that are visible in them, in order.

A plan is what an agent puts down as steps before taking them: in words before or beside its calls, with a tool for
plans or todos, or by handing tasks to other agents.  Writing the same list again with other states is progress, with
other steps a new plan that takes the place of the one before.  An answer is no plan, however it is numbered.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from evaluators.cases import Delegation, Plan, PlanSource, PlanStep, ToolCall, Turn
from evaluators.plans.announced import announced_steps
from evaluators.plans.kept import Kept, KeptStep, keeps_plan, kept_by
from evaluators.plans.listed import MOST_ITEMS
from evaluators.rules.tool_names import is_plumbing

_MOST_PLANS = 50
_FEWEST_DELEGATIONS = 2
_MOST_SAID_CHARS = 20_000


def visible_plans(
    turns: Sequence[Turn],
    user_inputs: Sequence[str] = (),
    delegations: Sequence[Delegation] = (),
    *,
    acts_unseen: bool = False,
) -> tuple[Plan, ...]:
    """The plans of a run.

    Args:
        turns: its turns in order.
        user_inputs: what the user said, one per message.
        delegations: what other agents were asked to do in it.
        acts_unseen: tools were executed that no turn asked for, so that every turn but the last was followed by action.
    """
    book = _Book()
    last_acts = {turn.user_turn: turn.index for turn in turns if _acts(turn)}
    last_of_agent = {(turn.agent, turn.user_turn): turn.index for turn in turns if _acts(turn)}
    lists_are_asked_for = any(_TODO_APP.search(text) for text in user_inputs)
    acted: set[tuple[str | None, int]] = set()
    for turn in turns:
        key = (turn.agent, turn.user_turn)
        own = turn.index <= last_of_agent.get(key, -1)
        followed = turn.index <= last_acts.get(turn.user_turn, -1) or (acts_unseen and turn is not turns[-1])
        if turn.text and (own or followed) and turn.error is None:
            opening = key not in acted and (own or acts_unseen)
            book.announce(turn, announced_steps(turn.text, opening=opening))
        for call in turn.calls:
            kept = kept_by(call)
            if kept is not None and (kept.well_known or not (lists_are_asked_for or _is_dictated(kept, user_inputs))):
                book.keep(turn, call, kept)
        if _acts(turn):
            acted.add(key)
            book.acted(turn.agent)
    return (*book.plans[:_MOST_PLANS], *_delegated(delegations, turns))


def _is_dictated(kept: Kept, user_inputs: Sequence[str]) -> bool:
    """Whether the user said every item: milk and bread are the user's list, and no plan of the agent's."""
    said = plain(" ".join(user_inputs)[:_MOST_SAID_CHARS])
    return all(plain(one.step.text) in said for one in kept.steps)


def _acts(turn: Turn) -> bool:
    return any(not is_plumbing(call) and not keeps_plan(call.name) for call in turn.calls)


class _Book:
    """The plans so far, and which of them each agent holds to."""

    def __init__(self) -> None:
        self.plans: list[Plan] = []
        self._current: dict[str | None, int] = {}
        self._ids: dict[str | None, list[KeptStep]] = {}
        self._untouched: set[str | None] = set()
        self._task: dict[str | None, int] = {}

    def announce(self, turn: Turn, steps: Sequence[PlanStep]) -> None:
        """Take down a plan in words, unless it only says the present one again."""
        if steps:
            self._put(turn, tuple(steps), PlanSource.TEXT, turn.ref)

    def keep(self, turn: Turn, call: ToolCall, kept: Kept) -> None:
        """Take down what a call wrote into a list."""
        known = self._ids.get(turn.agent, [])
        listed = _merged(known, kept) if kept.merges else list(kept.steps)
        self._ids[turn.agent] = listed
        steps = tuple(one.step for one in listed if one.step.text)
        if steps:
            self._put(turn, steps, PlanSource.LIST, call.ref or turn.ref)

    def acted(self, agent: str | None) -> None:
        """Note that an agent did something, so that its next plan is a change of plan."""
        self._untouched.discard(agent)

    def _put(self, turn: Turn, steps: tuple[PlanStep, ...], source: PlanSource, ref: str | None) -> None:
        agent, at = turn.agent, self._current.get(turn.agent)
        before = self.plans[at] if at is not None else None
        same_task = self._task.get(agent) == turn.user_turn
        if before is not None and at is not None:
            if _alike(before.steps, steps):
                if any(step.state is not None for step in steps):
                    self.plans[at] = replace(before, steps=steps)
                return
            if agent in self._untouched and same_task:
                # Nothing was done yet: the same plan, put down anew or in more detail.
                self.plans[at] = replace(before, steps=steps, source=source, ref=ref)
                return
        self._current[agent] = len(self.plans)
        self._untouched.add(agent)
        self._task[agent] = turn.user_turn
        revises = before is not None and same_task
        self.plans.append(Plan(steps=steps, source=source, turn=turn.index, agent=agent, revises=revises, ref=ref))


def _merged(known: Sequence[KeptStep], kept: Kept) -> list[KeptStep]:
    listed = list(known)
    for new in kept.steps:
        at = next((place for place, old in enumerate(listed) if _is_same(old, new)), None)
        if at is None:
            if new.step.text:
                listed.append(new if new.id is not None else KeptStep(new.step, str(len(listed) + 1)))
            continue
        old = listed[at].step
        listed[at] = KeptStep(
            replace(old, text=new.step.text or old.text, state=new.step.state or old.state), listed[at].id
        )
    return listed[:MOST_ITEMS]


def _is_same(old: KeptStep, new: KeptStep) -> bool:
    return old.id == new.id if new.id is not None else plain(old.step.text) == plain(new.step.text)


def _alike(one: Sequence[PlanStep], other: Sequence[PlanStep]) -> bool:
    return [plain(step.text) for step in one] == [plain(step.text) for step in other]


def plain(text: str) -> str:
    """A step's words without case, blanks and punctuation."""
    return re.sub(r"[\W_]+", "", text.casefold())


def _delegated(delegations: Sequence[Delegation], turns: Sequence[Turn]) -> list[Plan]:
    """The tasks that the run's own agent handed out, as its plan."""
    asked = {call.id: turn for turn in turns for call in turn.calls}
    inner = {at for one in delegations for at in one.turns}
    handed = [
        one
        for one in delegations
        if one.task and one.call_id is not None and (one.call_id not in asked or asked[one.call_id].index not in inner)
    ]
    if len(handed) < _FEWEST_DELEGATIONS:
        return []
    first = next((asked[one.call_id] for one in handed if one.call_id in asked), None)
    return [
        Plan(
            steps=tuple(
                PlanStep(text=one.task or "", owner=one.agent, call_id=one.call_id) for one in handed[:MOST_ITEMS]
            ),
            source=PlanSource.DELEGATION,
            turn=first.index if first is not None else -1,
            agent=first.agent if first is not None else None,
            ref=first.ref if first is not None else None,
        )
    ]


_TODO_APP = re.compile(
    r"\bto-?do(?:s| list)?\b|\btask list\b|\bchecklist\b|\bremind\w*|待办|清单|提醒|任务列表|やることリスト|할 ?일",
    re.IGNORECASE,
)
