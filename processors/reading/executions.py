"""Which tool span executed which call.

By call id where the span has one; else by name and arguments, else by name alone, in order, first among calls of the
same agent.  Spans of one execution (a client's, a server's, a wrapper's) are one.  That a call was asked for, or how a
server saw it, adds none to those that other spans tell of.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Sequence

from evaluators.cases import JsonValue
from processors.conventions.decoding.cut import is_cut
from processors.conventions.decoding.values import as_text
from processors.conventions.facts import Kind, MessageFacts, ToolFacts
from processors.conventions.merging import merged_tool
from processors.otlp import SpanKind
from processors.reading.drafts import CallDraft
from processors.reading.plumbing import is_handoff, is_output
from processors.reading.scopes import scope_of
from processors.reading.signatures import call_key, name_key, signature
from processors.reading.tree import Node

_SPACE = re.compile(r"\s+")
_LOOK_BACK = 64
"""Executions of the same call that are looked through for one that encloses another."""


def executed(nodes: Iterable[Node]) -> list[tuple[Node, ToolFacts]]:
    """The executions among the nodes in order of start: outermost span and what all spans of it say together."""
    found: dict[int, tuple[Node, ToolFacts]] = {}
    part_of: dict[int, int] = {}
    for node in nodes:
        tool = node.facts.tool if node.facts is not None else None
        if node.kind is not Kind.TOOL or tool is None:
            continue
        above = node.tool
        outer = part_of.get(id(above)) if above is not None and node.agent is None and node.llm is None else None
        if outer is not None and _same(found[outer][1], tool):
            part_of[id(node)] = outer
            found[outer] = (found[outer][0], merged_tool(found[outer][1], tool))
        else:
            part_of[id(node)] = id(node)
            found[id(node)] = (node, tool)
    return _without_orphaned_parts(sorted(found.values(), key=lambda pair: pair[0].place))


def _without_orphaned_parts(executions: Iterable[tuple[Node, ToolFacts]]) -> list[tuple[Node, ToolFacts]]:
    """Executions in order of start, without spans of one of them whose link to it was lost: within its time, they tell
    of the same arguments, and of nothing else."""
    kept: list[tuple[Node, ToolFacts]] = []
    latest: dict[tuple[str, bytes], deque[int]] = {}
    for node, tool in executions:
        before = latest.setdefault(call_key(tool.name, tool.arguments), deque(maxlen=_LOOK_BACK))
        outer = next((at for at in before if node.orphan and _may_be_around(kept[at], node, tool)), None)
        if outer is None:
            before.append(len(kept))
            kept.append((node, tool))
        else:
            kept[outer] = (kept[outer][0], merged_tool(kept[outer][1], tool))
    return kept


def _may_be_around(outer: tuple[Node, ToolFacts], node: Node, tool: ToolFacts) -> bool:
    around, by_outer = outer[0].span, outer[1]
    told = ((by_outer.call_id, tool.call_id), (by_outer.result, tool.result))
    return (
        tool.arguments is not None
        and around.start_ns < around.end_ns
        and node.span.end_ns <= around.end_ns
        and node.span.parent_id != around.parent_id
        and all(None in pair or len(set(pair)) == 1 for pair in told)
    )


def _same(outer: ToolFacts, inner: ToolFacts) -> bool:
    if name_key(outer.name) == name_key(inner.name) or inner.arguments is None:
        return True
    if outer.call_id is not None and outer.call_id == inner.call_id:
        return True
    return outer.arguments is not None and signature(outer.arguments) == signature(inner.arguments)


def match(
    calls: Sequence[CallDraft], executions: Sequence[tuple[Node, ToolFacts]], scopes: dict[int, str]
) -> list[CallDraft]:
    """Tell each call which execution is its own.

    Returns:
        Executions that no call asked for, as calls; their name is empty where nothing tells it.
    """
    asked = [pair for pair in executions if _is_request(*pair)]
    served = [pair for pair in executions if _is_served(pair[0])]
    apart = {id(node) for node, _ in (*asked, *served)}
    left = _match_each(calls, [pair for pair in executions if id(pair[0]) not in apart], scopes)
    known = {call.id for call in calls if call.execution is not None}
    asked = [pair for pair in _match_each(calls, asked, scopes) if pair[1].call_id not in known]
    requests = [_loose(node, tool) for node, tool in asked]
    left = _match_each(requests, left, scopes)
    for request, (node, tool) in zip(requests, asked, strict=True):
        if request.execution is None:
            request.execution, request.tool = node, tool
    found = [*requests, *(_loose(node, tool, executed=True) for node, tool in left)]
    told = {name_key(call.name) for call in (*calls, *found)}
    left = [pair for pair in _match_each(calls, served, scopes) if name_key(pair[1].name) not in told]
    found += [_loose(node, tool, executed=True) for node, tool in left]
    _exchange_results(calls)
    _complete([*calls, *found])
    return sorted(found, key=lambda call: call.execution.place if call.execution is not None else (0, 0))


def _loose(node: Node, tool: ToolFacts, *, executed: bool = False) -> CallDraft:
    """A call that only a tool's span tells of; `executed`: it is the execution as well."""
    return CallDraft(
        name=tool.name or "",
        id=tool.call_id,
        arguments=tool.arguments,
        truncated=is_cut(tool.arguments, None),
        from_model=False,
        execution=node if executed else None,
        tool=tool if executed else None,
    )


def _is_served(node: Node) -> bool:
    """Whether the span is a server's account of a call, and the client's span above it never arrived."""
    return node.span.kind is SpanKind.SERVER and node.orphan


def _is_request(node: Node, tool: ToolFacts) -> bool:
    """Whether the span only tells that a model asked for a call: below the model call, and without any outcome.

    Where the span above was lost, that may have been a model call if the span knows the call's id.
    """
    asked = node.llm is not None or (node.orphan and tool.call_id is not None)
    return asked and tool.result is None and tool.error is None and not tool.pending


def _match_each(
    calls: Sequence[CallDraft], executions: Sequence[tuple[Node, ToolFacts]], scopes: dict[int, str]
) -> list[tuple[Node, ToolFacts]]:
    """Give calls that have none yet their executions; what is returned is left over."""
    open_executions = list(executions)
    for of_call, of_tool in _KEYS:
        waiting: dict[Hashable, deque[CallDraft]] = {}
        for call in calls:
            key = of_call(call)
            if call.execution is None and key is not None:
                waiting.setdefault(key, deque()).append(call)
        coming = Counter(of_tool(node, tool, scopes) for node, tool in open_executions)
        few = {key for key, queue in waiting.items() if coming[key] < len(queue)}
        left: list[tuple[Node, ToolFacts]] = []
        for node, tool in open_executions:
            key = of_tool(node, tool, scopes)
            queue = waiting.get(key)
            if queue:
                if key in few:
                    _pass_over(queue, node)
                call = queue.popleft()
                call.execution, call.tool = node, tool
            else:
                left.append((node, tool))
        open_executions = left
    return open_executions


def _pass_over(queue: deque[CallDraft], node: Node) -> None:
    """Drop calls of turns before the last one that precedes an execution: where not every call has one, theirs is lost.

    Executions of calls that failed are often told of without their arguments.
    """
    latest = None
    for call in queue:
        if call.turn is None or call.turn.node.place > node.place:
            break
        latest = call.turn
    while latest is not None and queue[0].turn is not latest:
        queue.popleft()


def _complete(calls: Iterable[CallDraft]) -> None:
    """Give calls what limits took from them and their execution has: the name, and arguments of which a beginning is
    left."""
    for call in calls:
        if not call.name and call.tool is not None:
            call.name = call.tool.name or ""
        whole = call.tool.arguments if call.tool is not None else None
        if call.truncated and isinstance(whole, dict) and _is_beginning(call.arguments, whole):
            call.arguments, call.truncated = whole, False


def _is_beginning(left: JsonValue, whole: dict[str, JsonValue]) -> bool:
    if isinstance(left, dict):
        return all(key in whole and whole[key] == value for key, value in left.items())
    if not isinstance(left, str):
        return False
    written = _SPACE.sub("", as_text(whole) or "")
    begun = _SPACE.sub("", left)
    return len(begun) < len(written) and written.startswith(begun)


def _exchange_results(calls: Sequence[CallDraft]) -> None:
    """Put right results that were hung on the wrong ones of several calls of one turn, by what the executions gave.

    Where results have ids of another kind than calls, only their order told which call each of them answers.
    """
    together: dict[tuple[int, str | None], list[CallDraft]] = {}
    for call in calls:
        if call.seen is not None and call.seen.call_id != call.id and call.tool is not None and call.tool.result:
            together.setdefault((id(call.turn), call.seen_on), []).append(call)
    for group in together.values():
        if len(group) == 1 or all(_gave(call) == _text(call.seen) for call in group):
            continue
        results = [call.seen for call in group]
        open_calls: list[CallDraft] = []
        for call in group:
            own = next((result for result in results if _text(result) == _gave(call)), None)
            if own is None:
                open_calls.append(call)
            else:
                results.remove(own)
                call.seen = own
        for call, left in zip(open_calls, results, strict=True):
            call.seen = left


def _gave(call: CallDraft) -> str | None:
    return call.tool.result.strip() if call.tool is not None and call.tool.result is not None else None


def _text(message: MessageFacts | None) -> str | None:
    return message.text.strip() if message is not None and message.text is not None else None


def is_bookkeeping(call: CallDraft, offered: set[str]) -> bool:
    """Whether an execution that nobody asked for is only a framework's own span about tools.

    It names no tool that was offered, and has neither arguments nor an outcome.
    """
    tool = call.tool
    if tool is None or call.from_model or not offered or name_key(call.name) in offered:
        return False
    return tool.arguments is None and tool.result is None and tool.error is None


def _scope(call: CallDraft) -> str | None:
    return call.turn.scope if call.turn is not None else None


def _hands_over(name: str | None) -> bool:
    return name is not None and is_handoff(name) and not is_output(name)


_Keys = tuple[Callable[[CallDraft], Hashable], Callable[[Node, ToolFacts, dict[int, str]], Hashable]]
_KEYS: tuple[_Keys, ...] = (
    (
        lambda call: (call.id, name_key(call.name)) if call.id else None,
        lambda node, tool, scopes: (tool.call_id, name_key(tool.name)),
    ),
    (
        lambda call: call.id,
        lambda node, tool, scopes: tool.call_id,
    ),
    (
        lambda call: (_scope(call), name_key(call.name), signature(call.arguments)),
        lambda node, tool, scopes: (scope_of(node, scopes), name_key(tool.name), signature(tool.arguments)),
    ),
    (
        lambda call: (name_key(call.name), signature(call.arguments)),
        lambda node, tool, scopes: (name_key(tool.name), signature(tool.arguments)),
    ),
    (
        lambda call: (_scope(call), name_key(call.name)),
        lambda node, tool, scopes: (scope_of(node, scopes), name_key(tool.name)),
    ),
    (
        lambda call: name_key(call.name),
        lambda node, tool, scopes: name_key(tool.name),
    ),
    (
        # Spans that don't name their tool.
        lambda call: signature(call.arguments) if call.arguments else None,
        lambda node, tool, scopes: signature(tool.arguments) if tool.arguments and not tool.name else None,
    ),
    (
        # A framework's own span of a hand-off may have another name than the call, such as the agent's.
        lambda call: (_scope(call), _hands_over(call.name)) if _hands_over(call.name) else None,
        lambda node, tool, scopes: (scope_of(node, scopes), _hands_over(tool.name)),
    ),
)
