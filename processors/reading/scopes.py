"""Which agent a turn belongs to: the run's own, or one that was asked by a tool call or by another agent.

A scope is named by the id of the span that encloses the inner agent's work, "" is the run's own.  Agents that hand over
to each other share a scope, since they share the conversation; an agent inside a tool, or below an agent that calls
models itself and hasn't handed over, has its own.  Turns whose span was placed at the wrong level are recognised by
their conversation: it opens with words that an earlier call passed on.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Sequence
from itertools import pairwise

from processors.conventions.facts import Kind
from processors.reading.drafts import CallDraft, Draft
from processors.reading.plumbing import is_handoff, is_output
from processors.reading.tree import Node

RUN = ""
_MIN_TASK_CHARS = 8


def node_scopes(nodes: Sequence[Node], drafts: Iterable[Draft]) -> dict[int, str]:
    """The scope of what stands directly below each node, by the node's `id()`. Parents come before children."""
    calling: dict[int, list[Draft]] = {}
    for draft in drafts:
        if draft.node.agent is not None:
            calling.setdefault(id(draft.node.agent), []).append(draft)
    scopes: dict[int, str] = {}
    for node in nodes:
        if node.kind is Kind.TOOL:
            scopes[id(node)] = node.id
        elif node.kind in (Kind.AGENT, Kind.WORKFLOW):
            above = node.agent
            inner = above is not None and id(above) in calling and not _was_handed_over(calling[id(above)], node)
            scopes[id(node)] = node.id if inner else scope_of(node, scopes)
    return scopes


def _was_handed_over(turns: Sequence[Draft], agent: Node) -> bool:
    """Whether the last of the turns before an agent began handed the conversation over."""
    at = bisect(turns, agent.place, key=lambda draft: draft.node.place)
    last = turns[at - 1].output if at else None
    calls = [call.name for message in last or () for call in message.calls]
    return any(is_handoff(name) and not is_output(name) for name in calls)


def scope_of(node: Node, scopes: dict[int, str]) -> str:
    """The scope that a node itself stands in."""
    enclosing = node.agent or node.tool
    return scopes.get(id(enclosing), RUN) if enclosing is not None else RUN


def tasks_in(call: CallDraft) -> Iterable[str]:
    """Texts in a call's arguments that may be another agent's task."""
    if isinstance(call.arguments, dict):
        for value in call.arguments.values():
            if isinstance(value, str) and len(value) >= _MIN_TASK_CHARS:
                yield value.strip()


def opening(draft: Draft) -> str | None:
    """The first words of the user in the conversation that a model was given."""
    users = draft.users
    return users[0].strip() if users else None


def move_delegated(drafts: Sequence[Draft], scopes_by_tool_call: dict[str, str]) -> dict[str, str]:
    """Give turns at the run's level that work on a task from a call's arguments a scope of their own.

    Args:
        drafts: all turns in order, with their calls.
        scopes_by_tool_call: scope by opening words, for openings that are already known to be delegated.

    Returns:
        All tasks that calls have passed on, with the scope that works on each.
    """
    tasks = dict(scopes_by_tool_call)
    own: set[str] = set()
    for draft in drafts:
        words = opening(draft)
        if draft.scope == RUN and words is not None:
            if words in tasks and words not in own:
                draft.scope = tasks[words]
            else:
                own.add(words)
        elif words is not None and words in tasks:
            tasks[words] = draft.scope
        for call in draft.calls:
            for task in tasks_in(call):
                tasks.setdefault(task, f"{draft.node.id}/{call.id or call.name}")
    return tasks


def without_utilities(drafts: list[Draft], answer: str | None) -> list[Draft]:
    """The turns without those that don't belong to the conversation: titles, summaries, side questions.

    Such a turn stands at the run's level, opens with other words, is offered no tools and asks for none, while another
    conversation of the run has some and comes to an answer by itself.
    """
    threads: dict[str | None, list[Draft]] = {}
    for draft in drafts:
        if draft.scope == RUN and draft.input is not None:
            threads.setdefault(opening(draft), []).append(draft)
    working = [thread for thread in threads.values() if any(_works(draft) for draft in thread)]
    if not working or len(working) == len(threads):
        return drafts
    answered = any(not thread[-1].calls and thread[-1].text for thread in working)
    if not answered:
        return drafts
    kept = {id(thread) for thread in working}
    aside = {
        id(draft)
        for thread in threads.values()
        if id(thread) not in kept
        for draft in thread
        if answer is None or draft.text != answer
    }
    return [draft for draft in drafts if id(draft) not in aside]


def _works(draft: Draft) -> bool:
    return bool(draft.calls or draft.facts.tools or draft.told)


def in_order(drafts: list[Draft]) -> list[Draft]:
    """Turns in the order in which they were taken, by clock unless their histories say otherwise.

    Within a scope a conversation only grows: when every turn's input begins with an other's whole input, the longer one
    came later, whatever the clocks of their spans say.
    """
    by_scope: dict[str, list[Draft]] = {}
    for draft in drafts:
        by_scope.setdefault(draft.scope, []).append(draft)
    moved = False
    for scope, group in by_scope.items():
        lengths = [len(draft.input) if draft.input is not None else -1 for draft in group]
        if lengths != sorted(lengths) and -1 not in lengths and len(set(lengths)) == len(lengths):
            grown = sorted(group, key=lambda draft: len(draft.input or ()))
            if all(_continues(later, earlier) for earlier, later in pairwise(grown)):
                by_scope[scope] = grown
                moved = True
    if not moved:
        return drafts
    queues = {scope: iter(group) for scope, group in by_scope.items()}
    return [next(queues[draft.scope]) for draft in drafts]


def _continues(later: Draft, earlier: Draft) -> bool:
    start = earlier.input or ()
    return (later.input or ())[: len(start)] == start
