"""Which spans of a trace belong to one run of an agent.

A run is the topmost agent, workflow or chain span and everything below it; what stands above (an HTTP server's span) is
no part of it.  Spans without such a span above them are grouped by the root they share, or by the parent that never
arrived.  Several chains below the same parent that never arrived are steps of a run whose span is missing; a chain that
has no such siblings, or was called from another process, is itself the topmost there is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from processors.conventions.facts import Kind
from processors.tree import Node

_FROM_ANOTHER_PROCESS = 0x300
"""Of a span's flags: it is known whether the parent is remote, and it is."""
_TELLING = frozenset({Kind.LLM, Kind.TOOL, Kind.AGENT, Kind.WORKFLOW})


@dataclass(slots=True)
class Group:
    """The nodes of one run, parents first. `top` is the span it is named after; None where spans only share a root."""

    top: Node | None
    nodes: list[Node] = field(default_factory=list)


def grouped(nodes: Iterable[Node]) -> list[Group]:
    """The runs of a trace in order of their first span; groups that hold no work of an agent are left out."""
    groups: dict[str, Group] = {}
    for node in nodes:
        key, top = _key(node)
        group = groups.setdefault(key, Group(top=top))
        group.nodes.append(node)
    for group in groups.values():
        roots = {id(node.root) for node in group.nodes}
        only = group.nodes[0].root if len(roots) == 1 else None
        if group.top is None and only is not None and only.kind is Kind.CHAIN:
            group.top = only
    found = [group for group in groups.values() if any(node.kind in _TELLING for node in group.nodes)]
    return sorted(found, key=lambda group: min(node.place for node in group.nodes))


def _key(node: Node) -> tuple[str, Node | None]:
    top, root = node.top, node.root or node
    orphan = root.span.parent_id
    called = root.span.flags & _FROM_ANOTHER_PROCESS == _FROM_ANOTHER_PROCESS
    if top is not None and (top.kind is not Kind.CHAIN or top is not root or orphan is None or called):
        return top.id, top
    # Steps whose run span never arrived still belong together.
    return f"below {orphan}" if orphan is not None else f"in {root.id}", None
