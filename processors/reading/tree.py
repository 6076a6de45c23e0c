"""The spans of a trace as a tree, with what each of them stands for and what encloses it.

Everything that later asks "what is above this span" is answered here once, from the top down, so that a trace of any
depth and size costs one pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from processors.conventions.facts import Kind, SpanFacts
from processors.otlp import Span
from processors.reading.functions import with_tools_told_apart

ValueT = TypeVar("ValueT")
_RUNS = frozenset({Kind.AGENT, Kind.WORKFLOW, Kind.CHAIN})


@dataclass(slots=True, eq=False)
class Node:
    """One span in its place.

    `agent`  the nearest agent or workflow above, without a tool in between.
    `tool`   the nearest tool above.
    `llm`    the outermost model call above, without an agent or a tool in between.
    `top`    the topmost agent, workflow or chain above, or the span itself.
    `root`   the topmost span above that there is, or the span itself.
    `orphan`  the span's parent never arrived.
    """

    span: Span
    facts: SpanFacts | None
    order: int
    children: list[Node] = field(default_factory=list)
    agent: Node | None = None
    tool: Node | None = None
    llm: Node | None = None
    top: Node | None = None
    root: Node | None = None
    orphan: bool = False

    @property
    def id(self) -> str:
        """The span's id."""
        return self.span.span_id

    @property
    def kind(self) -> Kind:
        """What the span stands for."""
        return self.facts.kind if self.facts is not None else Kind.OTHER

    @property
    def place(self) -> tuple[int, int]:
        """Sorts by start; spans of one moment by arrival."""
        return (self.span.start_ns, self.order)


def grown(spans: Iterable[Span], read: Callable[[Span], SpanFacts | None]) -> list[Node]:
    """All nodes, parents before children and otherwise in order of start."""
    listed = list(spans)
    told = with_tools_told_apart([read(span) for span in listed])
    nodes = {
        span.span_id: Node(span, facts, order) for order, (span, facts) in enumerate(zip(listed, told, strict=True))
    }
    roots: list[Node] = []
    for node in nodes.values():
        parent = nodes.get(node.span.parent_id or "")
        if parent is None or parent is node:
            roots.append(node)
            node.orphan = node.span.parent_id is not None
        else:
            parent.children.append(node)
    _leave_to_their_judge(roots)
    seen: set[int] = set()
    ordered = _descend(sorted(roots, key=lambda node: node.place), seen, _whole(roots))
    if len(ordered) < len(nodes):
        # Spans that are each other's parents: the earliest of each circle is taken for a root.
        for node in sorted(nodes.values(), key=lambda node: node.place):
            if id(node) not in seen:
                ordered += _descend([node], seen)
    return ordered


def inherited(nodes: Iterable[Node], own: Callable[[Node], ValueT | None]) -> dict[int, ValueT]:
    """For each node by its `id()`: its own value, or that of the nearest agent above without a tool in between.

    Args:
        nodes: parents before children.
        own: a node's value; None where it has none of its own.
    """
    found: dict[int, ValueT] = {}
    for node in nodes:
        value = own(node)
        if value is None and node.agent is not None:
            value = found.get(id(node.agent))
        if value is not None:
            found[id(node)] = value
    return found


def _whole(roots: Iterable[Node]) -> Node | None:
    """The run that all else in the trace is work of, even where the spans in between never arrived.

    Everything is below a trace's one parentless span.  That it is a run's is all that is then known of orphans.
    """
    parentless = [node for node in roots if node.span.parent_id is None]
    return parentless[0] if len(parentless) == 1 and parentless[0].kind in _RUNS else None


def _leave_to_their_judge(roots: Iterable[Node]) -> None:
    """Where a trace's one parentless span is an evaluation, orphans are a judge's work as well."""
    parentless = [node for node in roots if node.span.parent_id is None]
    if len(parentless) == 1 and parentless[0].kind is Kind.EVALUATION:
        for node in roots:
            _take_for_evaluation(node, parentless[0])


def _take_for_evaluation(node: Node, above: Node) -> None:
    # What a judge of the agent does is no work of the agent.
    if above.facts is not None:
        node.facts = SpanFacts(kind=Kind.EVALUATION, dialect=above.facts.dialect)


def _descend(roots: list[Node], seen: set[int], whole: Node | None = None) -> list[Node]:
    """The roots and all that is below them and wasn't seen before; `seen` are ids of nodes, and grows."""
    seen.update(id(node) for node in roots)
    ordered: list[Node] = []
    level = roots
    for node in level:
        node.root = whole or node
        node.top = whole or (node if node.kind in _RUNS else None)
    while level:
        below: list[Node] = []
        for node in level:
            ordered.append(node)
            for child in sorted(node.children, key=lambda child: child.place):
                if id(child) not in seen:
                    seen.add(id(child))
                    _place_under(child, node)
                    below.append(child)
        level = below
    return ordered


def _place_under(child: Node, parent: Node) -> None:
    kind = parent.kind
    if kind is Kind.EVALUATION:
        _take_for_evaluation(child, parent)
    boundary = kind in (Kind.AGENT, Kind.WORKFLOW)
    child.root = parent.root
    child.top = parent.top or (child if child.kind in _RUNS else None)
    child.tool = parent if kind is Kind.TOOL else parent.tool
    child.agent = parent if boundary else None if kind is Kind.TOOL else parent.agent
    child.llm = parent.llm or (parent if kind is Kind.LLM else None)
    if boundary or kind is Kind.TOOL:
        child.llm = None
