"""Errors that spans carry on without having failed: some exporters write the error of one step on all that follow it.

In: the nodes of a trace.  Out: nothing; facts of model calls and executions lose an error that isn't theirs.  An
execution that has no outcome of its own keeps it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from processors.conventions.facts import Kind
from processors.otlp import StatusCode
from processors.reading.tree import Node


def drop_carried_errors(nodes: Iterable[Node]) -> None:
    """Drop errors of which an earlier span, that had ended by then, recorded the exception in the same words.

    The span that carries it on has recorded none, and has an answer or a result; or it is a model call, and what failed
    was a tool.
    """
    failed = [node for node in nodes if node.span.status is StatusCode.ERROR and node.span.status_message]
    raised: dict[str, int] = {}
    of_tools = {node.span.status_message for node in failed if node.kind is Kind.TOOL and _raised(node)}
    for node in failed:
        if _raised(node):
            ended = raised.get(node.span.status_message)
            raised[node.span.status_message] = min(node.span.end_ns, ended) if ended is not None else node.span.end_ns
    for node in failed:
        facts, ended = node.facts, raised.get(node.span.status_message)
        if facts is None or ended is None or node.span.start_ns < ended or _raised(node):
            continue
        if facts.kind is Kind.LLM and (facts.output or node.span.status_message in of_tools):
            node.facts = replace(facts, error=None)
        elif facts.tool is not None and facts.tool.result is not None:
            node.facts = replace(facts, error=None, tool=replace(facts.tool, error=None))


def _raised(node: Node) -> bool:
    return any(event.name == "exception" for event in node.span.events)
