"""What a transcript lacks, and how to make the instrumentation provide it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from evaluators.cases import Run, ToolCall, Turn
from processors.conventions.capture import remedies
from processors.conventions.fact_names import (
    ARGUMENTS,
    FINAL_ANSWER,
    SCHEMAS,
    SYSTEM_PROMPT,
    TOOL_CALLS,
    TOOL_RESULTS,
    TOOLS,
    USER_INPUT,
)
from processors.conventions.facts import Kind
from processors.reading.tree import Node
from processors.transcript import Missing

__all__ = [
    "ARGUMENTS",
    "FINAL_ANSWER",
    "SCHEMAS",
    "SYSTEM_PROMPT",
    "TOOLS",
    "TOOL_CALLS",
    "TOOL_RESULTS",
    "USER_INPUT",
    "absent_in",
    "open_calls",
    "told_how",
    "with_remedies",
]


def absent_in(run: Run, *, calls_were_lost: bool = False) -> tuple[str, ...]:
    """The facts that were looked for in a run and are not there. Nothing is missing that there was no reason for.

    `calls_were_lost`: a model asked for tools, and nothing tells for which.
    """
    found: list[str] = []
    calls = [call for call in run.calls if not call.is_handoff]
    if run.user_inputs is None:
        found.append(USER_INPUT)
    captured = any(turn.text is not None or turn.calls for turn in run.turns)
    if not run.system_prompts and not any(_is_told(turn) for turn in run.turns):
        found.append(SYSTEM_PROMPT)
    asking = [turn for turn in run.turns if any(not call.is_handoff for call in turn.calls)]
    if not any(turn.tools for turn in asking or run.turns) and (calls or not captured):
        found.append(TOOLS)
    elif calls and _lacks_schemas(run):
        found.append(SCHEMAS)
    if (not captured and (run.turns or not calls)) or calls_were_lost:
        found.append(TOOL_CALLS)
    if any(call.arguments is None and not call.provider_executed for call in calls):
        found.append(ARGUMENTS)
    if any(
        call.result is not None and call.result.content is None and not call.result.error and not call.awaiting_approval
        for call in calls
    ) or _went_on_without_results(run):
        found.append(TOOL_RESULTS)
    last = run.turns[-1] if run.turns else None
    to_be_continued = last is not None and (
        (last.ref == run.ref and bool(last.calls)) or any(call.awaiting_approval for call in last.calls)
    )
    if run.final_answer is None and run.answered is None and not to_be_continued:
        found.append(FINAL_ANSWER)
    return tuple(found)


def open_calls(turn: Turn) -> tuple[ToolCall, ...]:
    """The calls of a turn whose results are still to come."""
    return tuple(
        call
        for call in turn.calls
        if call.result is None and not (call.is_handoff or call.provider_executed or call.awaiting_approval)
    )


def _went_on_without_results(run: Run) -> bool:
    """Whether an agent went on after calls of which nothing came back: it was told something that wasn't captured."""
    last = {turn.agent: turn.index for turn in run.turns}
    return any(open_calls(turn) for turn in run.turns if turn.index < last[turn.agent])


def _lacks_schemas(run: Run) -> bool:
    """Whether calls were made by an agent whose tools are known by name alone."""
    offers = [turn.tools for turn in run.turns if turn.tools]
    calling = [turn.tools for turn in run.turns if turn.tools and any(not call.is_handoff for call in turn.calls)]
    return any(all(tool.parameters is None for tool in tools) for tools in calling or offers)


def _is_told(turn: Turn) -> bool:
    """Whether the words of what the model was given were captured."""
    return any(message.text for message in turn.context or ())


def with_remedies(nodes: Sequence[Node], runs: Sequence[Run], dialects: Iterable[str]) -> tuple[Missing, ...]:
    """What the runs of a trace lack, each fact once, with what would carry it and how to have it recorded."""
    found = remedies(
        (fact for run in runs for fact in run.missing),
        model_scopes=[*_scopes(nodes, _MODELS), *_scopes(nodes, _AGENTS)],
        tool_scopes=_scopes(nodes, _TOOLS),
        dialects=dialects,
        captured=_recorded_in(runs),
    )
    return tuple(Missing(fact=fact, attribute=remedy.attribute, switch=remedy.switch) for fact, remedy in found.items())


def _recorded_in(runs: Sequence[Run]) -> frozenset[str]:
    """The facts whose kind of content is recorded somewhere in a trace: what lacks of them, no switch is hiding."""
    calls = [call for run in runs for call in run.calls]
    signs = (
        ((TOOLS, SCHEMAS), any(run.user_inputs for run in runs)),
        ((TOOL_CALLS, FINAL_ANSWER), any(turn.text for run in runs for turn in run.turns)),
        ((ARGUMENTS,), any(call.arguments for call in calls)),
        ((TOOL_RESULTS,), any(call.result is not None and call.result.content for call in calls)),
    )
    return frozenset(fact for facts, recorded in signs if recorded for fact in facts)


def told_how(missing: Iterable[Missing], facts: Collection[str]) -> str:
    """A sentence on how to have these facts recorded, as far as they are missing; empty when none of them is."""
    by_switch: dict[str, dict[str, None]] = {}
    for one in missing:
        if one.fact in facts:
            by_switch.setdefault(one.switch, {})[one.attribute] = None
    return " ".join(
        f"Looked for in {', '.join(attributes)}. To capture it: {switch}." for switch, attributes in by_switch.items()
    )


def _scopes(nodes: Iterable[Node], kinds: Collection[Kind]) -> list[str]:
    """The scopes of the spans of these kinds, the most frequent first."""
    return [scope for scope, _ in Counter(node.span.scope_name for node in nodes if node.kind in kinds).most_common()]


_MODELS = frozenset({Kind.LLM})
_AGENTS = frozenset({Kind.AGENT, Kind.WORKFLOW, Kind.CHAIN})
_TOOLS = frozenset({Kind.TOOL})
