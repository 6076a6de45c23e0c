"""One run of an agent, put together from the spans that belong to it."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from evaluators.cases import Role, Run
from processors.conventions.facts import Kind
from processors.otlp import StatusCode
from processors.reading.absent import absent_in
from processors.reading.conversation import asked_by_user, count_user_turns
from processors.reading.delegations import Scopes, delegations_of
from processors.reading.drafts import CallDraft, Draft, calls_of, drafted
from processors.reading.endings import ending_of
from processors.reading.executions import executed, is_bookkeeping, match
from processors.reading.grouping import Group
from processors.reading.histories import infer_unshown, lost_calls, pair, recover_outputs
from processors.reading.plans import plans_of
from processors.reading.plumbing import is_handoff
from processors.reading.scopes import RUN, in_order, move_delegated, node_scopes, scope_of, without_utilities
from processors.reading.signatures import call_key, name_key
from processors.reading.told_turns import with_told
from processors.reading.tree import Node, inherited
from processors.reading.turns import Book, call_of, is_incomplete, number_calls, tools_of_caller, turn_of


def run_of(group: Group, session_id: str | None) -> list[Run]:
    """The run that a group of spans tells of; several where spans without a common agent answer several messages."""
    drafts = with_told(drafted(group.nodes), group.nodes)
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
    unnamed = any(not call.name for call in loose)
    loose = [call for call in loose if call.name]
    loose_by_scope: dict[str, list[CallDraft]] = {}
    for call in loose:
        loose_by_scope.setdefault(_scope_of_call(call, scopes), []).append(call)
    for scope, scoped in _by_scope(drafts).items():
        infer_unshown(scoped, loose_by_scope.get(scope, ()))
    told = _Told.by(group, unnamed=unnamed)
    placed = Scopes(group.nodes, scopes)
    return [_assembled(told, placed, part, calls, session_id) for part, calls in _parts(group, drafts, loose)]


@dataclass(frozen=True, slots=True)
class _Told:
    """What a group's spans say of all its runs, looked up once however many runs there are.

    `agents` are the spans of agents and workflows, outer ones first; `system` is what they were instructed with.
    `failed`: a span failed that is neither a model call nor a tool, so that work of the run broke off.
    `whole`: no span in it lacks its parent.  `unnamed`: tools were called of which nothing tells the names.
    By a span's `id()`: `names` is the name of its agent or of the nearest one above that has one, `outermost` the agent
    above all others, both without a tool in between.
    """

    top: Node | None
    agents: Sequence[Node]
    system: Sequence[str]
    truncated: bool
    failed: bool
    whole: bool
    unnamed: bool
    names: Mapping[int, str]
    outermost: Mapping[int, Node]

    @classmethod
    def by(cls, group: Group, *, unnamed: bool) -> _Told:
        read = [(node, node.facts) for node in group.nodes if node.facts is not None]
        return cls(
            top=group.top,
            agents=[node for node, _ in read if node.kind in (Kind.AGENT, Kind.WORKFLOW)],
            system=list(dict.fromkeys(text for _, facts in read for text in facts.system or ())),
            whole=not any(node.orphan for node in group.nodes if node is not group.top),
            unnamed=unnamed,
            truncated=any(facts.truncated for _, facts in read),
            failed=any(
                node.span.status is StatusCode.ERROR and node.kind not in (Kind.LLM, Kind.TOOL) for node in group.nodes
            ),
            names=inherited(
                group.nodes, lambda node: node.facts.agent_name or None if node.facts is not None else None
            ),
            outermost=inherited(group.nodes, lambda node: node if node.agent is None else None),
        )


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
        if known is not None and call_key(known.name, known.arguments) == call_key(call.name, call.arguments):
            same[id(call)] = known
            known.seen, known.seen_on = call.seen, call.seen_on
    if not same:
        return found
    for draft in drafts:
        draft.seen_calls = [same.get(id(call), call) for call in draft.seen_calls]
    return [call for call in found if id(call) not in same]


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


def _assembled(told: _Told, scopes: Scopes, drafts: list[Draft], loose: list[CallDraft], session_id: str | None) -> Run:
    number_calls(drafts, loose)
    users = asked_by_user(drafts, told.top, told.agents)
    count_user_turns(drafts, users)
    book = Book()
    turns = tuple(turn_of(index, draft, book, _agent_name(draft, told)) for index, draft in enumerate(drafts))
    loose_calls = tuple(replace(call_of(call), offered=tools_of_caller(call)) for call in loose)
    ending = ending_of(drafts, told.top, told.agents, failed=told.failed, whole=told.whole)
    delegations = delegations_of(scopes, drafts, turns, loose)
    unseen = any(call.execution is not None and scopes.of(call) == RUN for call in loose)
    run = Run(
        turns=turns,
        loose_calls=loose_calls,
        user_inputs=tuple(users) if users else None,
        system_prompts=tuple(_system_prompts(drafts) or told.system),
        plans=plans_of(turns, users, delegations, scopes.nodes, _reasoning(drafts), acts_unseen=unseen),
        delegations=delegations,
        final_answer=ending.answer,
        answered=ending.answered,
        aborted=ending.abort_reason is not None,
        abort_reason=ending.abort_reason,
        truncated=told.truncated
        or any(is_incomplete(call) for call in (*(call for turn in turns for call in turn.calls), *loose_calls)),
        session_id=session_id,
        ref=_ref(told.top, drafts),
    )
    lost = any(lost_calls(draft) for draft in drafts) or _only_agents_tell(told, drafts, loose)
    lost = lost or told.unnamed or (not loose and any(draft.facts.in_code for draft in drafts))
    return replace(run, missing=absent_in(run, calls_were_lost=lost))


def _reasoning(drafts: Iterable[Draft]) -> dict[int, str]:
    thought = {
        at: "\n".join(message.reasoning for message in draft.output or () if message.reasoning)
        for at, draft in enumerate(drafts)
    }
    return {at: text for at, text in thought.items() if text}


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


def _system_prompts(drafts: Iterable[Draft]) -> list[str]:
    found: dict[str, None] = {}
    for draft in drafts:
        for message in draft.input or ():
            if message.role is Role.SYSTEM and message.text:
                found[message.text] = None
            elif message.role is not Role.SYSTEM:
                break
    return list(found)
