"""One run of an agent, put together from the spans that belong to it."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from evaluators.cases import Message, Role, Run, Tool, ToolCall, ToolResult, Turn
from processors.conventions.decoding.cut import is_cut
from processors.conventions.facts import CallFacts, Kind, MessageFacts, SpanFacts
from processors.otlp import StatusCode
from processors.reading.absent import absent_in
from processors.reading.conversation import asked_by_user, count_user_turns
from processors.reading.drafts import CallDraft, Draft, calls_of, drafted, told_by
from processors.reading.endings import ending_of
from processors.reading.executions import executed, is_bookkeeping, match
from processors.reading.grouping import Group
from processors.reading.histories import infer_unshown, lost_calls, pair, recover_outputs
from processors.reading.plumbing import is_handoff
from processors.reading.scopes import RUN, in_order, move_delegated, node_scopes, scope_of, without_utilities
from processors.reading.signatures import name_key, signature
from processors.reading.tree import Node, inherited


def run_of(group: Group, session_id: str | None) -> list[Run]:
    """The run that a group of spans tells of; several where spans without a common agent answer several messages."""
    drafts = _with_told(drafted(group.nodes), group.nodes)
    scopes = node_scopes(group.nodes, drafts)
    for draft in drafts:
        draft.scope = scope_of(draft.node, scopes)
        draft.calls = calls_of(draft)
    if drafts and not any(draft.scope == RUN for draft in drafts):
        _lift(drafts)
    move_delegated(drafts, {})
    drafts = in_order(drafts)
    found: list[CallDraft] = []
    for scoped in _by_scope(drafts).values():
        recover_outputs(scoped)
        found += pair(scoped)
    drafts = without_utilities(drafts, _output_text(group.top))
    asked = [call for draft in drafts for call in draft.calls]
    found = _without_asked(found, asked, drafts)
    executions = executed(group.nodes)
    loose = found + match(asked + found, executions, scopes)
    # Hand-offs that no model asked for are written into the history by the framework itself.
    loose = [call for call in loose if call.execution is not None or not is_handoff(call.name)]
    offered = {name_key(tool.name) for draft in drafts for tool in draft.facts.tools or ()}
    loose = [call for call in loose if not is_bookkeeping(call, offered)]
    loose_by_scope: dict[str, list[CallDraft]] = {}
    for call in loose:
        loose_by_scope.setdefault(_scope_of_call(call, scopes), []).append(call)
    for scope, scoped in _by_scope(drafts).items():
        infer_unshown(scoped, loose_by_scope.get(scope, ()))
    told = _Told.by(group)
    return [_assembled(told, part, calls, session_id) for part, calls in _parts(group, drafts, loose)]


@dataclass(frozen=True, slots=True)
class _Told:
    """What a group's spans say of all its runs, looked up once however many runs there are.

    `agents` are the spans of agents and workflows, outer ones first; `system` is what they were instructed with.
    `failed`: a span failed that is neither a model call nor a tool, so that work of the run broke off.  By a span's
    `id()`: `names` is the name of its agent or of the nearest one above that has one, `outermost` the agent above all
    others, both without a tool in between.
    """

    top: Node | None
    agents: Sequence[Node]
    system: Sequence[str]
    truncated: bool
    failed: bool
    names: Mapping[int, str]
    outermost: Mapping[int, Node]

    @classmethod
    def by(cls, group: Group) -> _Told:
        read = [(node, node.facts) for node in group.nodes if node.facts is not None]
        return cls(
            top=group.top,
            agents=[node for node, _ in read if node.kind in (Kind.AGENT, Kind.WORKFLOW)],
            system=list(dict.fromkeys(text for _, facts in read for text in facts.system or ())),
            truncated=any(facts.truncated for _, facts in read),
            failed=any(
                node.span.status is StatusCode.ERROR and node.kind not in (Kind.LLM, Kind.TOOL) for node in group.nodes
            ),
            names=inherited(
                group.nodes, lambda node: node.facts.agent_name or None if node.facts is not None else None
            ),
            outermost=inherited(group.nodes, lambda node: node if node.agent is None else None),
        )


def _with_told(drafts: list[Draft], nodes: Sequence[Node]) -> list[Draft]:
    """The turns with those that agents' own spans tell of, where no model calls of theirs were captured.

    Words alone count only where nothing else was captured.
    """
    agents = [node for node in nodes if node.kind in (Kind.AGENT, Kind.WORKFLOW)]
    # Model calls without content say less than an agent that tells of them.
    speaking = [draft for draft in drafts if draft.input or draft.output or draft.facts.error is not None]
    captured = _around(draft.node for draft in speaking)
    telling_of_calls = [node for node in agents if _has_calls(node.facts)]
    asked = _Asked(speaking if telling_of_calls else ())
    found = _tellers([node for node in telling_of_calls if not asked.knows(node.facts)], captured)
    if not speaking:
        found += _tellers(
            [node for node in agents if node.facts and node.facts.output], captured | _around(found), found
        )
    if not found:
        return drafts
    tools = (node.facts.tool for node in nodes if node.facts is not None and node.facts.tool is not None)
    executions = {tool.call_id: tool for tool in tools if tool.call_id is not None}
    within = _tools_within(agents)
    calls = (_as_model_call(node, _equipped(node.facts, within.get(id(node)))) for node in found if node.facts)
    told = [draft for call in calls for draft in told_by(call, executions)]
    telling = {id(node) for node in found}
    heard = {id(draft) for draft in speaking}
    kept = [draft for draft in drafts if id(draft) in heard or telling.isdisjoint(_around([draft.node]))]
    return sorted([*kept, *told], key=lambda draft: draft.node.place)


def _tellers(agents: Iterable[Node], around: Collection[int], before: Iterable[Node] = ()) -> list[Node]:
    """The outermost of the agents (outer ones come first), but for those round what is known already."""
    found: list[Node] = []
    told = {id(node) for node in before}
    for node in agents:
        if id(node) in around or id(node) in told:
            continue
        above = node.agent
        while above is not None and id(above) not in told:
            above = above.agent
        told.add(id(node))
        if above is None:
            found.append(node)
    return found


def _tools_within(agents: Iterable[Node]) -> dict[int, tuple[Tool, ...] | None]:
    """The tools of the agents within each agent, by `id()`; None where they differ."""
    found: dict[int, tuple[Tool, ...] | None] = {}
    for node in agents:
        tools = node.facts.tools if node.facts is not None else None
        above = node.agent
        while tools and above is not None:
            found[id(above)] = tools if found.get(id(above), tools) == tools else None
            above = above.agent
    return found


def _equipped(facts: SpanFacts, tools: tuple[Tool, ...] | None) -> SpanFacts:
    return replace(facts, tools=tools) if facts.tools is None and tools else facts


class _Asked:
    """The calls that captured model calls asked for or were told of: by id, and those without one by their content."""

    def __init__(self, drafts: Iterable[Draft]) -> None:
        messages = {id(one): one for draft in drafts for one in (*(draft.output or ()), *(draft.input or ()))}
        calls = [call for message in messages.values() for call in message.calls]
        self._ids = {call.id for call in calls if call.id is not None}
        self._contents = {_key_of(call) for call in calls}
        self._without_ids = {_key_of(call) for call in calls if call.id is None}

    def knows(self, facts: SpanFacts | None) -> bool:
        """Whether all calls of a conversation are among them."""
        calls = [call for message in (facts.output if facts else None) or () for call in message.calls]
        if not any(call.id in self._ids for call in calls):
            # An agent may have ids of another kind.
            return bool(calls) and all(_key_of(call) in self._contents for call in calls)
        return all(call.id in self._ids or _key_of(call) in self._without_ids for call in calls)


def _has_calls(facts: SpanFacts | None) -> bool:
    messages = facts.output if facts is not None else None
    return any(message.calls or message.role is Role.TOOL for message in messages or ())


def _around(nodes: Iterable[Node]) -> set[int]:
    """All agents and tools round the nodes, by `id()`."""
    found: set[int] = set()
    for node in nodes:
        around = node.agent or node.tool
        while around is not None and id(around) not in found:
            found.add(id(around))
            around = around.agent or around.tool
    return found


def _as_model_call(node: Node, facts: SpanFacts) -> Node:
    return Node(span=node.span, facts=replace(facts, kind=Kind.LLM), order=node.order, agent=node.agent, tool=node.tool)


def _lift(drafts: Sequence[Draft]) -> None:
    outermost = drafts[0].scope
    for draft in drafts:
        if draft.scope == outermost:
            draft.scope = RUN


def _by_scope(drafts: Iterable[Draft]) -> dict[str, list[Draft]]:
    scoped: dict[str, list[Draft]] = {}
    for draft in drafts:
        scoped.setdefault(draft.scope, []).append(draft)
    return scoped


def _scope_of_call(call: CallDraft, scopes: dict[int, str]) -> str:
    return scope_of(call.execution, scopes) if call.execution is not None else RUN


def _without_asked(found: list[CallDraft], asked: Iterable[CallDraft], drafts: Iterable[Draft]) -> list[CallDraft]:
    """Calls that only a history knows, but for those that a turn of another scope asked for and whose result it missed.

    Where a span between an agent and its model calls is lost, these seem to be of different agents.
    """
    unanswered = {call.id: call for call in asked if call.id is not None and call.seen is None}
    same: dict[int, CallDraft] = {}
    for call in found:
        known = unanswered.get(call.id) if call.id is not None else None
        if known is not None and _key_of(known) == _key_of(call):
            same[id(call)] = known
            known.seen, known.seen_on = call.seen, call.seen_on
    if not same:
        return found
    for draft in drafts:
        draft.seen_calls = [same.get(id(call), call) for call in draft.seen_calls]
    return [call for call in found if id(call) not in same]


def _key_of(call: CallDraft | CallFacts) -> tuple[str, bytes]:
    return (name_key(call.name), signature(call.arguments))


def _parts(group: Group, drafts: list[Draft], loose: list[CallDraft]) -> Iterable[tuple[list[Draft], list[CallDraft]]]:
    """The user turns of spans that share no agent; everything in one part where they do."""
    if group.top is not None or not drafts:
        return [(drafts, loose)]
    parts: list[list[Draft]] = []
    for draft in drafts:
        previous = parts[-1][-1] if parts else None
        if previous is None or (draft.scope == RUN and _is_new_exchange(previous, draft)):
            parts.append([])
        parts[-1].append(draft)
    starts = [part[0].node.place for part in parts]
    seen_in = {draft.node.id: at for at, part in enumerate(parts) for draft in part}
    sorted_loose: list[list[CallDraft]] = [[] for _ in parts]
    for call in loose:
        at = seen_in.get(call.seen_on or "", 0)
        if call.execution is not None:
            at = max(bisect(starts, call.execution.place) - 1, 0)
        sorted_loose[at].append(call)
    return list(zip(parts, sorted_loose, strict=True))


def _is_new_exchange(previous: Draft, draft: Draft) -> bool:
    if previous.calls or draft.input is None or previous.input is None:
        return False
    return draft.users != previous.users


def _output_text(top: Node | None) -> str | None:
    return top.facts.output_text if top is not None and top.facts is not None else None


def _assembled(told: _Told, drafts: list[Draft], loose: list[CallDraft], session_id: str | None) -> Run:
    number_calls(drafts, loose)
    users = asked_by_user(drafts, told.top, told.agents)
    count_user_turns(drafts, users)
    book = _Book()
    turns = tuple(_turn(index, draft, book, told) for index, draft in enumerate(drafts))
    loose_calls = tuple(replace(_call(call), offered=_known_offer(call)) for call in loose)
    ending = ending_of(drafts, told.top, told.agents, failed=told.failed)
    run = Run(
        turns=turns,
        loose_calls=loose_calls,
        user_inputs=tuple(users) if users else None,
        system_prompts=tuple(_system_prompts(drafts) or told.system),
        final_answer=ending.answer,
        answered=ending.answered,
        aborted=ending.abort_reason is not None,
        abort_reason=ending.abort_reason,
        truncated=told.truncated
        or any(_is_cut(call) for call in (*(call for turn in turns for call in turn.calls), *loose_calls)),
        session_id=session_id,
        ref=_ref(told.top, drafts),
    )
    lost = any(lost_calls(draft) for draft in drafts) or _only_agents_tell(told, drafts, loose)
    lost = lost or (not loose and any(draft.facts.in_code for draft in drafts))
    return replace(run, missing=absent_in(run, calls_were_lost=lost))


def _only_agents_tell(told: _Told, drafts: Sequence[Draft], loose: Sequence[CallDraft]) -> bool:
    """Whether agents were offered tools, and their own spans, which tell of no calls, are all there is."""
    agents = {node.id for node in told.agents}
    if loose or not drafts or any(draft.calls or draft.node.id not in agents for draft in drafts):
        return False
    return any(draft.facts.tools for draft in drafts)


def _ref(top: Node | None, drafts: list[Draft]) -> str | None:
    if top is not None:
        return top.id
    own = [draft for draft in drafts if draft.scope == RUN]
    return own[-1].node.id if own else None


def number_calls(drafts: Iterable[Draft], loose: Iterable[CallDraft]) -> None:
    """Give calls without an id one: the tool span's, or a made-up one that no provider gives."""
    for draft in drafts:
        for at, call in enumerate(draft.calls):
            call.key = call.id or _id_of(call) or f"{draft.node.id}/{at}"
    for at, call in enumerate(loose):
        call.key = call.id or _id_of(call) or f"{call.seen_on or ''}/loose{at}"


def _id_of(call: CallDraft) -> str | None:
    if call.tool is not None and call.tool.call_id:
        return call.tool.call_id
    return f"{call.execution.id}/call" if call.execution is not None else None


class _Book:
    """Messages by the facts they were made from, so that a repeated history is built once."""

    def __init__(self) -> None:
        self._known: dict[int, Message] = {}
        self._kept: list[MessageFacts] = []

    def message(self, facts: MessageFacts, ref: str) -> Message:
        known = self._known.get(id(facts))
        if known is None:
            calls = tuple(
                ToolCall(
                    id=call.id or f"{ref}/{at}",
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


def _turn(index: int, draft: Draft, book: _Book, told: _Told) -> Turn:
    facts = draft.facts
    context = (
        tuple(book.message(message, draft.node.id) for message in draft.input) if draft.input is not None else None
    )
    tools = _offered(draft)
    return Turn(
        index=index,
        text=draft.text,
        calls=tuple(_call(call, tools) for call in draft.calls),
        context=context,
        tools=tools,
        # What a framework wrote into the history to hand over was no call, and has no key.
        answers=tuple(call.key for call in draft.seen_calls if call.key),
        tool_choice=facts.tool_choice,
        agent=_agent_name(draft, told),
        user_turn=draft.user_turn,
        partial=facts.partial,
        error=facts.error,
        ref=draft.node.id,
    )


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


def _known_offer(call: CallDraft) -> tuple[Tool, ...] | None:
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


def _agent_name(draft: Draft, told: _Told) -> str | None:
    if draft.facts.agent_name:
        return draft.facts.agent_name
    agent, tool = draft.node.agent, draft.node.tool
    name = told.names.get(id(agent))
    if name is not None:
        return name
    if draft.scope != RUN and tool is not None:
        return told.outermost.get(id(agent), tool).span.name
    return told.top.span.name if told.top is not None else None


def _call(call: CallDraft, tools: tuple[Tool, ...] | None = None) -> ToolCall:
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


def _is_cut(call: ToolCall) -> bool:
    return call.truncated or (call.result is not None and call.result.truncated)


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


def _system_prompts(drafts: Iterable[Draft]) -> list[str]:
    found: dict[str, None] = {}
    for draft in drafts:
        for message in draft.input or ():
            if message.role is Role.SYSTEM and message.text:
                found[message.text] = None
            elif message.role is not Role.SYSTEM:
                break
    return list(found)
