"""The parts of a run that agents did which other agents of the run had asked.

In: drafts of turns with their scopes, loose calls, the nodes of the run.  Out: `evaluators.cases.Delegation`s in order.
A tool that asks a model something by itself is no agent: there has to be an agent's span, or calls, or tools on offer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from evaluators.cases import Delegation, Turn
from processors.conventions.facts import Kind
from processors.reading.drafts import CallDraft, Draft
from processors.reading.scopes import RUN, opening, scope_of, tasks_in
from processors.reading.signatures import name_key
from processors.reading.tree import Node

_DEEPEST = 32
_ADDRESSEES = frozenset({"coworker", "agent", "agent_name", "recipient", "to", "subagent_type", "assistant"})
"""Arguments that say who is asked."""


class Scopes:
    """Which scope each part of a run has, and which scope that one is in. `nodes` are the spans of the run."""

    def __init__(self, nodes: Sequence[Node], scopes: dict[int, str]) -> None:
        self._scopes = scopes
        self.nodes = nodes
        self.by_id = {node.id: node for node in nodes}

    def around(self, scope: str) -> Iterator[str]:
        """The scope itself and those that it is in, the run's own left out."""
        for _ in range(_DEEPEST):
            if scope == RUN:
                return
            yield scope
            node = self.by_id.get(scope)
            scope = scope_of(node, self._scopes) if node is not None else RUN

    def of(self, call: CallDraft) -> str:
        """The scope in which a call was made."""
        return scope_of(call.execution, self._scopes) if call.execution is not None else RUN

    def agent_in(self, scope: str) -> Node | None:
        """The span of the agent that works in a scope: its outermost."""
        own = self.by_id.get(scope)
        if own is not None and own.kind is not Kind.TOOL:
            return own
        return next(
            (
                node
                for node in self.nodes
                if node.kind in (Kind.AGENT, Kind.WORKFLOW)
                and node.agent is None
                and node.tool is not None
                and node.tool.id == scope
            ),
            None,
        )


def delegations_of(
    scopes: Scopes, drafts: Sequence[Draft], turns: Sequence[Turn], loose: Sequence[CallDraft]
) -> tuple[Delegation, ...]:
    """The delegations of a run whose turns were made of these drafts."""
    turns_in: dict[str, list[int]] = {}
    own: dict[str, list[int]] = {}
    calls_in: dict[str, list[str]] = {}
    for at, draft in enumerate(drafts):
        own.setdefault(draft.scope, []).append(at)
        for scope in scopes.around(draft.scope):
            turns_in.setdefault(scope, []).append(at)
    for made in loose:
        for scope in scopes.around(scopes.of(made)):
            calls_in.setdefault(scope, []).append(made.key)
    asked = _asking(drafts, loose)
    found = []
    for scope in dict.fromkeys([*turns_in, *calls_in]):
        agent = scopes.agent_in(scope)
        here = [turns[at] for at in own.get(scope, ())]
        if agent is None and not any(turn.calls or turn.tools for turn in here):
            continue
        call = asked.get(scope) or _above(agent, asked) or _by_name(agent, drafts[: min(turns_in.get(scope, [0]))])
        found.append(
            Delegation(
                turns=tuple(turns_in.get(scope, ())),
                task=_task(call, [drafts[at] for at in own.get(scope, ())], agent),
                agent=_name(here, agent),
                calls=tuple(calls_in.get(scope, ())),
                call_id=call.key if call is not None else None,
                answer=_answer(call, here),
                ref=agent.id if agent is not None else here[-1].ref if here else None,
            )
        )
    return tuple(sorted(found, key=lambda one: min(one.turns, default=len(turns))))


def _asking(drafts: Sequence[Draft], loose: Sequence[CallDraft]) -> Mapping[str, CallDraft]:
    """Calls by the scope of what they may have asked another agent to do."""
    asked: dict[str, CallDraft] = {}
    for draft in drafts:
        for call in draft.calls:
            asked.setdefault(f"{draft.node.id}/{call.id or call.name}", call)
    for call in [*(call for draft in drafts for call in draft.calls), *loose]:
        if call.execution is not None:
            asked[call.execution.id] = call
    return asked


def _above(agent: Node | None, asked: Mapping[str, CallDraft]) -> CallDraft | None:
    return asked.get(agent.tool.id) if agent is not None and agent.tool is not None and agent.agent is None else None


def _by_name(agent: Node | None, before: Sequence[Draft]) -> CallDraft | None:
    """The last call before an agent began that has its name and that no tool is known to have executed."""
    name = agent.facts.agent_name if agent is not None and agent.facts is not None else None
    if name is None or not before:
        return None
    named = [call for call in before[-1].calls if call.execution is None and name_key(call.name) == name_key(name)]
    return named[0] if len(named) == 1 else None


def _task(call: CallDraft | None, drafts: Sequence[Draft], agent: Node | None) -> str | None:
    if call is not None and isinstance(call.arguments, dict):
        kept = {key: value for key, value in call.arguments.items() if key.lower() not in _ADDRESSEES}
        if told := list(tasks_in(replace(call, arguments=kept))):
            return "\n".join(told)
    first = opening(drafts[0]) if drafts else None
    return first or (agent.facts.input_text if agent is not None and agent.facts is not None else None)


def _name(turns: Sequence[Turn], agent: Node | None) -> str | None:
    named = next((turn.agent for turn in turns if turn.agent), None)
    return named or (agent.facts.agent_name if agent is not None and agent.facts is not None else None)


def _answer(call: CallDraft | None, turns: Sequence[Turn]) -> str | None:
    if call is not None and call.tool is not None and call.tool.result is not None:
        return call.tool.result
    if call is not None and call.seen is not None and call.seen.text is not None:
        return call.seen.text
    last = turns[-1] if turns else None
    return last.text or None if last is not None and not last.calls else None
