"""Turns and calls in the form in which they are judged, from drafts to which nothing more is added.

In: drafts with their calls, results and scopes.  Out: frozen `Turn`s, `ToolCall`s and `Message`s of the neutral model.
Where model, history and tool span disagree about a call, it is settled here whose word counts.
"""

from __future__ import annotations

from collections.abc import Iterable

from evaluators.cases import Message, Tool, ToolCall, ToolResult, Turn
from processors.conventions.decoding.cut import is_cut
from processors.conventions.facts import MessageFacts
from processors.reading.drafts import CallDraft, Draft
from processors.reading.plumbing import is_handoff
from processors.reading.signatures import name_key


def number_calls(drafts: Iterable[Draft], loose: Iterable[CallDraft]) -> None:
    """Give calls without an id one: the tool span's, or a made-up one that no provider gives."""
    for draft in drafts:
        for at, call in enumerate(draft.calls):
            call.key = call.id or _id_of(call) or f"{draft.node.id}/{at}"
    for at, call in enumerate(loose):
        call.key = call.id or _id_of(call) or f"{call.seen_on or ''}/loose{at}"


class Book:
    """Messages by the facts they were made from, so that a repeated history is built once."""

    def __init__(self) -> None:
        self._known: dict[int, Message] = {}
        self._kept: list[MessageFacts] = []

    def message(self, facts: MessageFacts, ref: str) -> Message:
        """The message; `ref` is the span that it was read from first."""
        known = self._known.get(id(facts))
        if known is None:
            calls = tuple(
                ToolCall(
                    # No other message's call has it, and none that a turn asked for.
                    id=call.id or f"{ref}/message{len(self._kept)}/{at}",
                    name=call.name,
                    arguments=call.arguments if isinstance(call.arguments, dict | str) else None,
                    truncated=call.truncated,
                    is_handoff=is_handoff(call.name),
                    provider_executed=call.provider_executed,
                )
                for at, call in enumerate(facts.calls)
            )
            known = Message(
                role=facts.role,
                text=facts.text,
                calls=calls,
                call_id=facts.call_id,
                # What a picture shows is as unknown as what was cut off.
                truncated=facts.truncated or bool(facts.media),
                ref=ref,
            )
            self._known[id(facts)] = known
            self._kept.append(facts)
        return known


def turn_of(index: int, draft: Draft, book: Book, agent: str | None) -> Turn:
    """A draft as a turn of its run, the `index`-th; `agent` is the name of the one whose turn it is."""
    facts = draft.facts
    context = (
        tuple(book.message(message, draft.node.id) for message in draft.input) if draft.input is not None else None
    )
    tools = _offered(draft)
    return Turn(
        index=index,
        text=draft.text,
        calls=tuple(call_of(call, tools) for call in draft.calls),
        context=context,
        tools=tools,
        # What a framework wrote into the history to hand over was no call, and has no key.
        answers=tuple(call.key for call in draft.seen_calls if call.key),
        tool_choice=facts.tool_choice,
        agent=agent,
        user_turn=draft.user_turn,
        partial=facts.partial,
        error=facts.error,
        ref=draft.node.id,
    )


def call_of(call: CallDraft, tools: tuple[Tool, ...] | None = None) -> ToolCall:
    """A draft as a call with its result; `tools` are what its turn was offered."""
    arguments = call.arguments
    if arguments is None and _takes_nothing(call.name, tools):
        arguments = {}
    from_model = call.from_model
    if arguments is None and call.tool is not None and call.tool.arguments is not None:
        arguments, from_model = call.tool.arguments, False
    pending = call.tool is not None and call.tool.pending and call.seen is None
    return ToolCall(
        id=call.key,
        name=call.name,
        arguments=arguments if isinstance(arguments, dict | str) else None,
        result=None if pending else _result(call),
        from_model=from_model,
        truncated=call.truncated or (not from_model and is_cut(arguments, None)),
        is_handoff=is_handoff(call.name),
        provider_executed=call.provider_executed,
        awaiting_approval=pending,
        earlier=call.earlier,
        ref=call.execution.id if call.execution is not None else None,
    )


def is_incomplete(call: ToolCall) -> bool:
    """Whether something of a call or its result was cut off."""
    return call.truncated or (call.result is not None and call.result.truncated)


def _id_of(call: CallDraft) -> str | None:
    if call.tool is not None and call.tool.call_id:
        return call.tool.call_id
    return f"{call.execution.id}/call" if call.execution is not None else None


def _offered(draft: Draft) -> tuple[Tool, ...] | None:
    """The tools that a model was offered; those of its agent where the turn doesn't say, or didn't say all.

    Instrumentations leave out of the turn's tools what isn't a function, such as other agents: a call of one that the
    agent is known to have was offered.  Of a list that was cut only what it says is known: where it doesn't have a
    called tool, the offer wasn't captured.
    """
    agent = draft.node.agent
    around = agent.facts if agent is not None else None
    known = around.tools if around is not None else None
    tools, cut = draft.facts.tools, draft.facts.tools_cut
    if tools is None and around is not None:
        tools, cut = known, around.tools_cut
    if tools is None or not draft.calls:
        return tools
    names = {name_key(tool.name) for tool in tools}
    called = {name_key(call.name) for call in draft.calls} - names
    added = tuple(tool for tool in known or () if name_key(tool.name) in called)
    if cut and called > {name_key(tool.name) for tool in added}:
        return None
    return (*tools, *added) if added else tools


def tools_of_caller(call: CallDraft) -> tuple[Tool, ...] | None:
    """The tools of the agent that made a call which no captured turn asked for; None where its span doesn't tell.

    A tool may call others by itself, and what tells of a whole run's tools doesn't say which agent has them: then, as
    where a list was cut, it was only offered if it is among them.
    """
    if call.execution is None:
        return None
    agent = call.execution.agent
    around = agent or call.execution.top
    facts = around.facts if around is not None else None
    if facts is None or not facts.tools:
        return None
    is_whole = agent is not None and not facts.tools_cut
    return facts.tools if is_whole or name_key(call.name) in {name_key(tool.name) for tool in facts.tools} else None


def _takes_nothing(name: str, tools: tuple[Tool, ...] | None) -> bool:
    for tool in tools or ():
        if tool.name == name and tool.parameters is not None:
            return not tool.parameters.get("required")
    return False


def _result(call: CallDraft) -> ToolResult | None:
    tool, seen = call.tool, call.seen
    if tool is None and seen is None:
        return None
    content = seen.text if seen is not None and seen.text is not None else tool.result if tool is not None else None
    if seen is not None and tool is not None and seen.call_id is None and _is_part(tool.result, content):
        # A framework put its own words, or the results of other calls, into the same message.
        content = tool.result
    error = tool.error if tool is not None else None
    if not error and seen is not None and (seen.failed or error == ""):
        error = seen.text or ""
    duration_s = started_s = None
    if call.execution is not None:
        span = call.execution.span
        started_s = span.start_ns / 1e9
        duration_s = (span.end_ns - span.start_ns) / 1e9 if span.end_ns >= span.start_ns > 0 else None
    told_by_span = tool is not None and (tool.result is not None or tool.error is not None)
    return ToolResult(
        content=content,
        error=error,
        truncated=tool.truncated
        if tool is not None and (seen is None or seen.text is None)
        else bool(seen and seen.truncated),
        duration_s=duration_s,
        started_s=started_s,
        ref=call.execution.id if call.execution is not None and (told_by_span or seen is None) else call.seen_on,
    )


def _is_part(result: str | None, text: str | None) -> bool:
    return bool(result and text and result.strip() and result.strip() in text)
