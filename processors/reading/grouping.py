"""Which spans of a trace belong to one run of an agent.

A run is the topmost agent, workflow or chain span and everything below it; what stands above (an HTTP server's span) is
no part of it.  Spans without such a span above them are grouped by the root they share, or by the parent that never
arrived.  Several spans below the same parent that never arrived are steps of a run whose span is missing, if there are
chains or tools among them; a span that has no such siblings, or was called from another process, is itself the topmost
there is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from processors.conventions.facts import Kind
from processors.otlp import SpanKind
from processors.reading.tree import Node

_FROM_ANOTHER_PROCESS = 0x300
"""Of a span's flags: it is known whether the parent is remote, and it is."""
_TELLING = frozenset({Kind.LLM, Kind.TOOL, Kind.AGENT, Kind.WORKFLOW})
_STEPS = _TELLING | {Kind.CHAIN}
_PARTS = frozenset({Kind.CHAIN, Kind.TOOL})
"""Work that is done within a run; agents and model calls may as well stand for themselves."""


@dataclass(slots=True)
class Group:
    """The nodes of one run, parents first. `top` is the span it is named after; None where spans only share a root."""

    top: Node | None
    nodes: list[Node] = field(default_factory=list)


def grouped(nodes: Sequence[Node]) -> list[Group]:
    """The runs of a trace in order of their first span; groups that hold no work of an agent are left out."""
    lost = _lost_runs(nodes)
    groups: dict[str, Group] = {}
    for node in nodes:
        key, top = _key(node, lost)
        group = groups.setdefault(key, Group(top=top))
        group.nodes.append(node)
    told_elsewhere = {child.id for node in nodes if node.kind is Kind.BOOKKEEPING for child in node.children}
    found = [
        group
        for group in groups.values()
        if any(node.kind in _TELLING for node in group.nodes)
        and (group.top is None or group.top.id not in told_elsewhere or _says_anything(group.nodes))
        and not _is_served(group.nodes)
    ]
    return sorted(found, key=lambda group: min(node.place for node in group.nodes))


def is_headless(group: Group) -> bool:
    """Whether nothing shows that the group is all there is of its run: no span is round it, or one of a single step."""
    if group.top is None:
        return True
    kinds = [node.kind for node in group.nodes if node.kind in _STEPS and node.kind is not Kind.CHAIN]
    return group.top.kind is Kind.CHAIN and kinds == [Kind.LLM]


def _is_served(nodes: Iterable[Node]) -> bool:
    """Whether all that the nodes tell of is a server's side of tools that an agent in another trace called."""
    telling = [node for node in nodes if node.kind in _TELLING]
    return all(node.kind is Kind.TOOL and (node.tool or node).span.kind is SpanKind.SERVER for node in telling)


def _says_anything(nodes: Iterable[Node]) -> bool:
    """Whether there is a model call among the nodes, or a tool with content."""
    for node in nodes:
        tool = node.facts.tool if node.facts is not None else None
        if node.kind is Kind.LLM or (tool is not None and (tool.arguments is not None or tool.result is not None)):
            return True
    return False


def _lost_runs(nodes: Iterable[Node]) -> set[str]:
    """Ids of spans that never arrived, but steps directly below them did."""
    steps: dict[str, list[Kind]] = {}
    for node in nodes:
        parent = node.span.parent_id
        if node.root is node and parent is not None and node.kind in _STEPS and not _is_called(node):
            steps.setdefault(parent, []).append(node.kind)
    return {parent for parent, kinds in steps.items() if len(kinds) > 1 and not _PARTS.isdisjoint(kinds)}


def _key(node: Node, lost: Collection[str]) -> tuple[str, Node | None]:
    top, root = node.top, node.root or node
    parent = root.span.parent_id
    if top is not None and (top is not root or parent not in lost or _is_called(root)):
        return top.id, top
    # Steps whose run span never arrived still belong together.
    return f"below {parent}" if parent is not None else f"in {root.id}", None


def _is_called(root: Node) -> bool:
    return root.span.flags & _FROM_ANOTHER_PROCESS == _FROM_ANOTHER_PROCESS
