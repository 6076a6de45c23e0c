"""Turns that agents' own spans tell of, where no model calls of theirs were captured.

In: the turns that were captured, and all spans of a run.  Out: these with the ones that agents tell of beside them.
What model calls tell themselves is never taken from an agent's account of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from evaluators.cases import Role, Tool
from processors.conventions.facts import Kind, SpanFacts
from processors.reading.drafts import Draft, told_by
from processors.reading.signatures import call_key
from processors.reading.tree import Node


def with_told(drafts: list[Draft], nodes: Sequence[Node]) -> list[Draft]:
    """The turns with those that agents' own spans tell of, where no model calls of theirs were captured.

    Words alone count only where nothing else was captured.
    """
    agents = [node for node in nodes if node.kind in (Kind.AGENT, Kind.WORKFLOW)]
    # Model calls without content say less than an agent that tells of them.
    speaking = [draft for draft in drafts if draft.input or draft.output or draft.facts.error is not None]
    captured = _around(draft.node for draft in speaking)
    telling_of_calls = [node for node in agents if _has_calls(node.facts)]
    asked = _Asked(speaking if telling_of_calls else ())
    found = _tellers([node for node in telling_of_calls if not asked.knows(node.facts)], captured)
    if not speaking:
        found += _tellers(
            [node for node in agents if node.facts and node.facts.output], captured | _around(found), found
        )
    if not found:
        return drafts
    tools = (node.facts.tool for node in nodes if node.facts is not None and node.facts.tool is not None)
    executions = {tool.call_id: tool for tool in tools if tool.call_id is not None}
    within = _tools_within(agents)
    calls = (_as_model_call(node, _equipped(node.facts, within.get(id(node)))) for node in found if node.facts)
    told = [draft for call in calls for draft in told_by(call, executions)]
    telling = {id(node) for node in found}
    heard = {id(draft) for draft in speaking}
    kept = [draft for draft in drafts if id(draft) in heard or telling.isdisjoint(_around([draft.node]))]
    return sorted([*kept, *told], key=lambda draft: draft.node.place)


def _tellers(agents: Iterable[Node], around: Collection[int], before: Iterable[Node] = ()) -> list[Node]:
    """The outermost of the agents (outer ones come first), but for those round what is known already."""
    found: list[Node] = []
    told = {id(node) for node in before}
    for node in agents:
        if id(node) in around or id(node) in told:
            continue
        above = node.agent
        while above is not None and id(above) not in told:
            above = above.agent
        told.add(id(node))
        if above is None:
            found.append(node)
    return found


def _tools_within(agents: Iterable[Node]) -> dict[int, tuple[Tool, ...] | None]:
    """The tools of the agents within each agent, by `id()`; None where they differ."""
    found: dict[int, tuple[Tool, ...] | None] = {}
    for node in agents:
        tools = node.facts.tools if node.facts is not None else None
        above = node.agent
        while tools and above is not None:
            found[id(above)] = tools if found.get(id(above), tools) == tools else None
            above = above.agent
    return found


def _equipped(facts: SpanFacts, tools: tuple[Tool, ...] | None) -> SpanFacts:
    return replace(facts, tools=tools) if facts.tools is None and tools else facts


class _Asked:
    """The calls that captured model calls asked for or were told of: by id, and those without one by their content."""

    def __init__(self, drafts: Iterable[Draft]) -> None:
        messages = {id(one): one for draft in drafts for one in (*(draft.output or ()), *(draft.input or ()))}
        calls = [call for message in messages.values() for call in message.calls]
        self._ids = {call.id for call in calls if call.id is not None}
        self._contents = {call_key(call.name, call.arguments) for call in calls}
        self._without_ids = {call_key(call.name, call.arguments) for call in calls if call.id is None}

    def knows(self, facts: SpanFacts | None) -> bool:
        """Whether all calls of a conversation are among them."""
        calls = [call for message in (facts.output if facts else None) or () for call in message.calls]
        if not any(call.id in self._ids for call in calls):
            # An agent may have ids of another kind.
            return bool(calls) and all(call_key(call.name, call.arguments) in self._contents for call in calls)
        return all(call.id in self._ids or call_key(call.name, call.arguments) in self._without_ids for call in calls)


def _has_calls(facts: SpanFacts | None) -> bool:
    messages = facts.output if facts is not None else None
    return any(message.calls or message.role is Role.TOOL for message in messages or ())


def _around(nodes: Iterable[Node]) -> set[int]:
    """All agents and tools round the nodes, by `id()`."""
    found: set[int] = set()
    for node in nodes:
        around = node.agent or node.tool
        while around is not None and id(around) not in found:
            found.add(id(around))
            around = around.agent or around.tool
    return found


def _as_model_call(node: Node, facts: SpanFacts) -> Node:
    return Node(span=node.span, facts=replace(facts, kind=Kind.LLM), order=node.order, agent=node.agent, tool=node.tool)
