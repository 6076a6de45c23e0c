"""Spans of plain functions that are executions of tools.

Applications trace their tools with a library's decorator, which writes name, arguments and result, but often not that
the function is a tool.  That it is one shows in the trace: a model was offered a tool of this name, or asked for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from processors.conventions.facts import Kind, SpanFacts
from processors.reading.signatures import name_key

_UNDECIDED = frozenset({Kind.CHAIN, Kind.OTHER})


def with_tools_told_apart(facts: Sequence[SpanFacts | None]) -> list[SpanFacts | None]:
    """The facts of a trace's spans, those of functions that are tools as executions."""
    if not any(one is not None and _may_be_tool(one) for one in facts):
        return list(facts)
    tools = _tool_names(one for one in facts if one is not None)
    return [
        replace(one, kind=Kind.TOOL)
        if one is not None and _may_be_tool(one) and one.tool is not None and name_key(one.tool.name) in tools
        else one
        for one in facts
    ]


def _may_be_tool(facts: SpanFacts) -> bool:
    return facts.kind in _UNDECIDED and facts.tool is not None


def _tool_names(facts: Iterable[SpanFacts]) -> set[str]:
    """Names of the tools that models were offered or asked for, in one spelling."""
    names: set[str] = set()
    seen: set[int] = set()
    for one in facts:
        if one.tools is not None and id(one.tools) not in seen:
            seen.add(id(one.tools))
            names.update(name_key(tool.name) for tool in one.tools)
        for message in (*(one.output or ()), *(one.input or ())):
            if id(message) in seen:
                continue
            seen.add(id(message))
            names.update(name_key(call.name) for call in message.calls)
    return names
