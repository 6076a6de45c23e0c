"""The plans that are visible in a run: those of its turns, of planning steps that a framework recorded, of reasoning.

In: the turns of a run, what other agents were asked in it, the run's nodes.  Out: `evaluators.cases.Plan`s in order.
What a plan is, is told in `evaluators.plans`; here it is only known where else one may stand.  Plans read from
reasoning are marked as such, and count for nobody who wasn't told to use them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from evaluators.cases import Delegation, Plan, PlanSource, PlanStep, Turn
from evaluators.plans.announced import FEWEST, announced_steps
from evaluators.plans.kept import steps_in_list
from evaluators.plans.visible import plain, visible_plans
from processors.conventions.facts import Kind
from processors.reading.tree import Node

_STEPS_AROUND = frozenset({Kind.CHAIN, Kind.AGENT, Kind.WORKFLOW, Kind.OTHER})
_DEEPEST = 4
_PLAN_OF_CREW = '"list_of_plans_per_task"'
"""The planner of CrewAI has no name of its own on its span."""
_PLANNING = re.compile(r"(?:^|[^a-z])(?:re)?plan(?:s|ner|ning)?(?:[^a-z]|$)|计划|规划", re.IGNORECASE)


def plans_of(
    turns: Sequence[Turn],
    user_inputs: Sequence[str],
    delegations: Sequence[Delegation],
    nodes: Iterable[Node],
    reasoning: Mapping[int, str],
    *,
    acts_unseen: bool,
) -> tuple[Plan, ...]:
    """All plans of a run, in order of the turns that stated them.

    Args:
        turns: its turns.
        user_inputs: what the user said.
        delegations: what other agents were asked to do.
        nodes: the spans of the run.
        reasoning: what a model thought, by the index of the turn.
        acts_unseen: tools were executed that no turn asked for.
    """
    plans = list(visible_plans(turns, user_inputs, delegations, acts_unseen=acts_unseen))
    known = {_words(plan.steps) for plan in plans}
    places = {turn.ref: turn.index for turn in turns}
    for plan in [*_recorded(nodes, places), *_thought(turns, reasoning)]:
        if _words(plan.steps) not in known:
            known.add(_words(plan.steps))
            plans.append(plan)
    return tuple(sorted(plans, key=lambda plan: plan.turn))


def _recorded(nodes: Iterable[Node], places: Mapping[str | None, int]) -> Iterable[Plan]:
    """What planning steps of a framework came to, as their spans say."""
    before = -1
    for node in sorted(nodes, key=lambda node: node.place):
        before = places.get(node.id, before)
        facts = node.facts
        if node.kind not in _STEPS_AROUND or (facts is None and not node.children):
            continue
        name = (facts.agent_name if facts is not None else None) or node.span.name
        told = (facts.output_text if facts is not None else None) or ""
        if _PLANNING.search(name) is None and _PLAN_OF_CREW not in told:
            continue
        steps = _planned(told) or _planned(_said_below(node))
        if steps:
            agent = facts.agent_name if facts is not None else None
            yield Plan(steps=steps, source=PlanSource.SPAN, turn=before, agent=agent, ref=node.id)


def _planned(text: str) -> tuple[PlanStep, ...]:
    """The steps of what a planning step said: announced, or else its list."""
    listed = announced_steps(text, opening=True) or tuple(steps_in_list(text))
    return listed if len(listed) >= FEWEST else ()


def _said_below(node: Node) -> str:
    """What the first model call below a planning step said."""
    level = node.children
    for _ in range(_DEEPEST):
        for child in level:
            if child.kind is Kind.LLM and child.facts is not None:
                return "\n".join(message.text for message in child.facts.output or () if message.text)
        level = [grandchild for child in level if child.kind in _STEPS_AROUND for grandchild in child.children]
    return ""


def _thought(turns: Sequence[Turn], reasoning: Mapping[int, str]) -> Iterable[Plan]:
    acted: set[tuple[str | None, int]] = set()
    for turn in turns:
        key = (turn.agent, turn.user_turn)
        steps = announced_steps(reasoning.get(turn.index, ""), opening=key not in acted)
        if steps:
            yield Plan(
                steps=steps,
                source=PlanSource.REASONING,
                turn=turn.index,
                agent=turn.agent,
                revises=key in acted,
                ref=turn.ref,
            )
        if turn.calls or steps:
            acted.add(key)


def _words(steps: Iterable[PlanStep]) -> tuple[str, ...]:
    return tuple(plain(step.text) for step in steps)
