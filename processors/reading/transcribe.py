"""From the spans and log records of one trace to its transcript.

In go decoded spans and records, in any order, with copies, gaps and wrong clocks; out comes what the agents did, in
neutral words.  It never raises for what a trace contains, guesses nothing, and costs time in proportion to the size of
the trace however often its spans repeat the conversation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from processors.conventions.decoding.sessions import session_of
from processors.conventions.dialects.generic import UNKNOWN
from processors.conventions.facts import Kind
from processors.conventions.limits import length_limit
from processors.conventions.registry import Readers
from processors.otlp import Log, Span
from processors.reading.absent import with_remedies
from processors.reading.carried_errors import drop_carried_errors
from processors.reading.grouping import grouped, is_headless
from processors.reading.joining import joined
from processors.reading.offers import complete_offers
from processors.reading.own_requests import is_by_a_judge
from processors.reading.runs import run_of
from processors.reading.tree import Node, grown, inherited
from processors.transcript import Agent, Transcript


def transcribe(trace_id: str, spans: Sequence[Span], logs: Sequence[Log] = ()) -> Transcript:
    """What was understood of one trace.

    Args:
        trace_id: lower-case hex.
        spans: the trace's spans in order of arrival.
        logs: log records that name the trace.
    """
    whole = joined(spans, logs)
    readers = Readers(length_limit(whole))
    nodes = grown(whole, readers.read)
    complete_offers(nodes)
    drop_carried_errors(nodes)
    session_id = _session(nodes)
    groups = grouped(nodes)
    runs = tuple(run for group in groups for run in run_of(group, session_id) if not is_by_a_judge(run))
    dialects = tuple(sorted({name for node in nodes if node.facts is not None for name in node.facts.dialects}))
    return Transcript(
        trace_id=trace_id,
        session_id=session_id,
        runs=runs,
        agents=tuple(_agents(nodes)),
        missing=with_remedies(nodes, runs, dialects),
        dialects=dialects,
        enclosing=_enclosing(nodes, {run.ref for run in runs if run.ref is not None}),
        unread=tuple(node.id for node in nodes if node.facts is None),
        unknown=tuple(node.id for node in nodes if node.facts is not None and node.facts.dialect == UNKNOWN),
        headless=all(is_headless(group) for group in groups),
    )


def transcribe_trace(spans: Sequence[Span], logs: Sequence[Log] = ()) -> Transcript:
    """`transcribe` for spans that say themselves which trace they are of."""
    known = next(iter(spans), None) or next(iter(logs), None)
    return transcribe(known.trace_id if known is not None else "", spans, logs)


def _session(nodes: Sequence[Node]) -> str | None:
    """The root's session id, or else the one that most spans carry; spans of no dialect may carry one as well.

    Agents that are asked by a tool call may keep sessions of their own.
    """
    told = [(node, session_id) for node in nodes if (session_id := _session_of(node)) is not None]
    rooted = next((session_id for node, session_id in told if node.root is node), None)
    if rooted is not None or not told:
        return rooted
    counted = Counter(session_id for node, session_id in told if node.tool is None)
    counted = counted or Counter(session_id for _, session_id in told)
    return max(counted, key=lambda session_id: counted[session_id])


def _session_of(node: Node) -> str | None:
    if node.facts is not None and node.facts.session_id:
        return node.facts.session_id
    return session_of(node.span.attributes)


def _agents(nodes: Sequence[Node]) -> list[Agent]:
    named = {
        node.id: node for node in nodes if node.kind is Kind.AGENT and node.facts is not None and node.facts.agent_name
    }
    nearest = inherited(nodes, lambda node: named.get(node.id))
    agents = []
    for node in named.values():
        around = node.agent or (node.tool.agent if node.tool is not None else None)
        above = nearest.get(id(around)) if around is not None else None
        name = node.facts.agent_name if node.facts is not None else None
        agents.append(Agent(name=name, span_id=node.id, parent=above.id if above is not None else None))
    return agents


def _enclosing(nodes: Sequence[Node], refs: set[str]) -> dict[str, str]:
    """For each tool span the nearest agent span above it, or else its run's span."""
    found: dict[str, str] = {}
    outermost: dict[int, Node] = {}
    for node in nodes:
        if node.kind is not Kind.TOOL:
            continue
        # Of tools within tools, the outermost below the same agent.
        above = node.tool if node.agent is None else None
        around = outermost[id(node)] = outermost.get(id(above), node)
        agent = around.agent if around.agent is not None and around.agent.kind is Kind.AGENT else None
        place = agent.id if agent is not None else node.top.id if node.top is not None else None
        if place is not None and (agent is not None or place in refs):
            found[node.id] = place
    return found
