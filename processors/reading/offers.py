"""Tools that were offered by name alone, completed by what the spans of their executions say about them.

Some instrumentations list names on the agent's or the model call's span, and describe each tool on the span of its
execution.  What was offered stays what it was: a tool that was only executed is not added, and a list that would be
known in part only is left alone, since a call can be held against the definitions only where all are known.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from evaluators.cases import Tool
from processors.conventions.facts import Kind
from processors.reading.signatures import name_key
from processors.reading.tree import Node


def complete_offers(nodes: Iterable[Node]) -> None:
    """Give tools on the nodes' facts the schemas and descriptions that executions of tools of that name show."""
    nodes = list(nodes)
    described: dict[str, Tool] = {}
    for node in nodes:
        if node.kind is Kind.TOOL and node.facts is not None:
            for tool in node.facts.tools or ():
                if tool.parameters is not None:
                    described.setdefault(name_key(tool.name), tool)
    if not described:
        return
    known: dict[int, tuple[tuple[Tool, ...], tuple[Tool, ...]]] = {}
    for node in nodes:
        if node.facts is None or not node.facts.tools or node.kind is Kind.TOOL:
            continue
        offered = node.facts.tools
        kept = known.get(id(offered))
        if kept is None:
            kept = known[id(offered)] = (offered, tuple(_completed(tool, described) for tool in offered))
        if kept[1] != offered and all(tool.parameters is not None for tool in kept[1]):
            node.facts = replace(node.facts, tools=kept[1])


def _completed(tool: Tool, described: dict[str, Tool]) -> Tool:
    found = described.get(name_key(tool.name))
    if tool.parameters is not None or found is None:
        return tool
    return replace(tool, parameters=found.parameters, description=tool.description or found.description)
