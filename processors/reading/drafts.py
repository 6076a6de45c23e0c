"""Model turns and calls while they are being put together, and how several spans of one model call become one turn.

One call of a model may leave several spans: the instrumentor's and the SDK's own below or beside it, a framework's
round a provider's, a failed attempt before the one that succeeded.  Each is one decision.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

from evaluators.cases import JsonValue, Role
from processors.conventions.facts import CallFacts, Kind, MessageFacts, SpanFacts, ToolFacts
from processors.conventions.merging import merged
from processors.reading.signatures import signature
from processors.reading.tree import Node

_MOST_HELD = 200_000
"""Messages that the turns of one span may have before them, taken together. A span that holds thousands of turns says
each message once, but every turn has all of those before it: what is beyond this is cut to its opening and latest."""
_OPENING, _LATEST = 16, 64
_NEAR = 5
"""How many turns before or after are looked at for one that tells of the same model call."""


@dataclass(slots=True, eq=False)
class CallDraft:
    """A call with what is known of its outcome so far.

    `turn`       who asked; None for calls that no captured turn asked for.
    `execution`  the tool span that executed it, `tool` what that span says.
    `seen`       the result as a later model call was given it, `seen_on` that call's span.
    `earlier`    it was asked for before this trace began.
    """

    name: str
    id: str | None = None
    arguments: JsonValue = None
    truncated: bool = False
    provider_executed: bool = False
    from_model: bool = True
    earlier: bool = False
    turn: Draft | None = None
    execution: Node | None = None
    tool: ToolFacts | None = None
    seen: MessageFacts | None = None
    seen_on: str | None = None
    in_history: bool = False
    key: str = ""


@dataclass(slots=True, eq=False)
class Draft:
    """A turn. `output` None: not captured. `scope` names the agent at work, "" the run's own.

    `seen_calls` are the calls whose results this turn was the first to see; `unseen` are results that came after its
    words and that no turn saw.  `told`: an agent's own span tells of it, and no span of a model call.
    """

    node: Node
    facts: SpanFacts
    input: tuple[MessageFacts, ...] | None
    output: tuple[MessageFacts, ...] | None
    scope: str = ""
    calls: list[CallDraft] = field(default_factory=list)
    seen_calls: list[CallDraft] = field(default_factory=list)
    unseen: tuple[MessageFacts, ...] = ()
    user_turn: int = 0
    told: bool = False

    @property
    def text(self) -> str | None:
        """What the model said; "" when it said nothing, None when that isn't known."""
        if self.output is None:
            return None
        own = [message for message in self.output if message.role is Role.ASSISTANT]
        if own and all(message.text is None and not message.calls for message in own):
            return None
        return "\n".join(message.text for message in own if message.text)

    @property
    def users(self) -> list[str]:
        """The texts of the user's messages that the model was given."""
        return [message.text for message in self.input or () if message.role is Role.USER and message.text]


def drafted(nodes: Iterable[Node]) -> list[Draft]:
    """The turns among the nodes, in order of start."""
    llm = [node for node in nodes if node.kind is Kind.LLM and node.facts is not None and _is_turn(node.facts)]
    outer: dict[int, list[Node]] = {}
    for node in llm:
        outer.setdefault(id(node.llm or node), []).append(node)
    drafts: list[Draft] = []
    for group in outer.values():
        drafts += _of_nested(group)
    drafts.sort(key=lambda draft: draft.node.place)
    return [part for draft in _without_copies(drafts) for part in _split(draft)]


def told_by(node: Node, executions: Mapping[str, ToolFacts]) -> list[Draft]:
    """The turns of a conversation that stands on one span as its input and output.

    Args:
        node: the span, as that of a model call.
        executions: what tools' own spans say, by call id, for conversations without the results.
    """
    facts = node.facts
    if facts is None:
        return []
    given = facts.input or ((MessageFacts(role=Role.USER, text=facts.input_text),) if facts.input_text else None)
    said: tuple[MessageFacts, ...] | None = tuple(_with_results(facts.output or (), executions))
    if not facts.whole and not any(message.calls for message in facts.output or ()):
        # What an agent said in the end doesn't tell what it did before.
        said = None
    turns = _split(_draft(node, replace(facts, input=given, output=said)))
    for turn in turns:
        turn.told = True
    return turns


def _with_results(messages: Sequence[MessageFacts], executions: Mapping[str, ToolFacts]) -> Iterable[MessageFacts]:
    answered = {message.call_id for message in messages if message.call_id is not None}
    for message in messages:
        yield message
        for call in message.calls:
            tool = executions.get(call.id or "")
            if tool is not None and call.id not in answered:
                text = tool.result if tool.result is not None else tool.error
                failed = tool.error is not None or None
                yield MessageFacts(role=Role.TOOL, text=text, call_id=call.id, tool_name=call.name, failed=failed)


def _is_turn(facts: SpanFacts) -> bool:
    """Embeddings and preparations are marked as model calls too.

    They have no messages and no reason to finish, or hand the conversation on as their output.
    """
    if any(message.role in (Role.USER, Role.SYSTEM) for message in facts.output or ()):
        return False
    return bool(facts.input or facts.output or facts.finish_reasons or facts.hidden or facts.error is not None)


def _weight(facts: SpanFacts) -> int:
    calls = sum(len(message.calls) for message in facts.output or ())
    texts = any(message.text for message in facts.output or ())
    return 4 * bool(calls) + 4 * texts + 2 * (facts.input is not None) + (facts.output is not None)


def _of_nested(group: list[Node]) -> list[Draft]:
    facts = [(node, node.facts) for node in group if node.facts is not None]
    if len(facts) == 1:
        node, only = facts[0]
        return [_draft(node, only)]
    telling = [(node, one) for node, one in facts if _weight(one) >= 4 and node.llm is not None]
    if len({_said(one) for _, one in telling}) > 1:
        # A span round a whole loop of model calls is no call itself.
        return [_draft(node, one) for node, one in telling]
    best = max(facts, key=lambda pair: _weight(pair[1]))
    rest = [one for node, one in facts if node is not best[0]]
    return [_draft(best[0], reduce(merged, rest, best[1]))]


def _said(facts: SpanFacts) -> tuple[object, ...]:
    return tuple(
        (message.text, tuple((call.id or call.name, signature(call.arguments)) for call in message.calls))
        for message in facts.output or ()
    )


def _draft(node: Node, facts: SpanFacts) -> Draft:
    given = facts.input
    if given is not None and facts.system and not any(message.role is Role.SYSTEM for message in given):
        given = (*(MessageFacts(role=Role.SYSTEM, text=text) for text in facts.system), *given)
    return Draft(node=node, facts=facts, input=given, output=facts.output)


def _without_copies(drafts: Sequence[Draft]) -> list[Draft]:
    """Turns without second spans of the same model call, and without attempts that were made again."""
    kept: list[Draft] = []
    by_response: dict[str, Draft] = {}
    by_call: dict[str, Draft] = {}
    for draft in drafts:
        twin = by_response.get(draft.facts.response_id or "")
        if twin is not None and twin.output and draft.output and _said(twin.facts) != _said(draft.facts):
            twin = None
        if twin is None:
            twin = _same_output(draft, by_call) or _same_failure(draft, kept[-_NEAR:])
        if twin is not None:
            _absorb(twin, draft)
            continue
        kept.append(draft)
        if draft.facts.response_id:
            by_response[draft.facts.response_id] = draft
        for message in draft.output or ():
            for call in message.calls:
                if call.id:
                    by_call[call.id] = draft
    return [draft for at, draft in enumerate(kept) if not _was_retried(draft, kept[at + 1 : at + 1 + _NEAR])]


def _same_output(draft: Draft, by_call: dict[str, Draft]) -> Draft | None:
    """An overlapping turn with the same calls by id."""
    ids = [call.id for message in draft.output or () for call in message.calls]
    if not ids or not all(ids):
        return None
    twin = by_call.get(ids[0] or "")
    if twin is None or _said(twin.facts) != _said(draft.facts):
        return None
    return twin if twin.node.span.end_ns >= draft.node.span.start_ns else None


def _same_failure(draft: Draft, before: Sequence[Draft]) -> Draft | None:
    """An overlapping turn beside this one that another instrumentation recorded, when both failed and one has no input.

    Without a response there is no id by which they could be known as the same.
    """
    if draft.facts.error is None or draft.output:
        return None
    span = draft.node.span
    for twin in reversed(before):
        other = twin.node.span
        if (
            twin.facts.error is not None
            and not twin.output
            and (draft.input is None or twin.input is None)
            and other.scope_name != span.scope_name
            and other.parent_id == span.parent_id
            and other.end_ns >= span.start_ns
        ):
            return twin
    return None


def _absorb(twin: Draft, other: Draft) -> None:
    if _weight(other.facts) > _weight(twin.facts):
        twin.node = other.node
        twin.facts = merged(other.facts, twin.facts)
    else:
        twin.facts = merged(twin.facts, other.facts)
    renewed = _draft(twin.node, twin.facts)
    twin.input, twin.output = renewed.input, renewed.output


def _was_retried(draft: Draft, later: Sequence[Draft]) -> bool:
    """Whether a turn without an answer was taken again: after a failure, or on the span of the streamed answer."""
    if draft.output:
        return False
    again = [other for other in later if other.input == draft.input and other.node.tool is draft.node.tool]
    return bool(again) if draft.facts.error is not None else any(draft.input and other.output for other in again)


def _unfolded(draft: Draft) -> Draft:
    """A turn written over those before it on the same span, with these given back to its output.

    Beside its last words, its output still asks for calls that its input has already; what came since the user's last
    words was said on this span.
    """
    given, said = draft.input or (), draft.output or ()
    calls = [call for message in said for call in message.calls]
    if not calls or not all(call.id for call in calls) or not any(message.text for message in said):
        return draft
    asked = {(call.id, call.name, signature(call.arguments)) for message in given for call in message.calls}
    if not all((call.id, call.name, signature(call.arguments)) in asked for call in calls):
        return draft
    kept = tuple(replace(message, calls=()) for message in said if message.text)
    start = max((at + 1 for at, message in enumerate(given) if message.role is Role.USER), default=0)
    output = (*given[start:], *kept)
    facts = replace(draft.facts, input=given[:start], output=output)
    return Draft(node=draft.node, facts=facts, input=given[:start], output=output, scope=draft.scope)


def _split(draft: Draft) -> list[Draft]:
    """A span that holds a whole loop of calls and results as the turns it was made of."""
    draft = _unfolded(draft)
    output = draft.output or ()
    if all(message.role is Role.ASSISTANT for message in output):
        return [draft]
    parts: list[Draft] = []
    given = draft.input or ()
    held = 0
    spoken: list[MessageFacts] = []
    returned: list[MessageFacts] = []
    latest: list[MessageFacts] = []
    for message in (*output, None):
        if message is not None and message.role is not Role.ASSISTANT:
            returned.append(message)
            continue
        if message is None or returned:
            if spoken:
                facts = replace(draft.facts, output=tuple(spoken))
                parts.append(Draft(node=draft.node, facts=facts, input=given, output=tuple(spoken), scope=draft.scope))
            given = (*given, *spoken, *returned)
            held += len(given)
            if held > _MOST_HELD and len(given) > _OPENING + _LATEST:
                given = (*given[:_OPENING], *given[-_LATEST:])
            latest, spoken, returned = returned, [], []
        if message is not None:
            spoken.append(message)
    if parts:
        parts[-1].unseen = tuple(message for message in latest if message.role is Role.TOOL)
    return parts or [draft]


def calls_of(draft: Draft) -> list[CallDraft]:
    """The calls that the turn's output asks for."""
    return [
        call_draft(call, draft)
        for message in draft.output or ()
        if message.role is Role.ASSISTANT
        for call in message.calls
    ]


def call_draft(call: CallFacts, turn: Draft | None) -> CallDraft:
    """A call as a model gave it."""
    return CallDraft(
        name=call.name,
        id=call.id,
        arguments=call.arguments,
        truncated=call.truncated,
        provider_executed=call.provider_executed,
        turn=turn,
    )
