"""What a run's turns were given: which earlier calls' results each of them was the first to see.

Every model call repeats the conversation so far.  Only what a turn's input adds to that of the turn before it is looked
at, message by message, so that a call id that is used again still finds the call it answers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import islice, pairwise

from evaluators.cases import Role
from processors.conventions.facts import CallFacts, MessageFacts
from processors.reading.drafts import CallDraft, Draft, call_draft, calls_of
from processors.reading.scopes import RUN
from processors.reading.signatures import call_key, signature

_FEWEST_KEPT, _MOST_TRIED = 2, 16
"""Messages by which it is told that a history is the end of another one, and places where it is looked for."""
_LOOK_BACK = 64
"""Calls that are looked through where an id doesn't tell which of several is meant."""


def recover_outputs(drafts: Sequence[Draft]) -> None:
    """Fill outputs that weren't captured from the next turn's history, in turns of one scope in order.

    Calls may be lost alone: of streamed answers some instrumentations record the words and leave out the calls.
    What another turn asked for is none of a turn's, whose span may be that of a preparation.
    """
    asked = {(call.id, *call_key(call.name, call.arguments)) for draft in drafts for call in draft.calls if call.id}
    for draft, following in pairwise(drafts):
        if draft.calls or draft.facts.error is not None or draft.input is None:
            continue
        # The next turn may have been an other agent's, under instructions of its own.
        talk, history = _talk(draft.input), _talk(following.input or ())
        if history[: len(talk)] != talk:
            continue
        said: list[MessageFacts] = []
        for message in history[len(talk) :]:
            if message.role is not Role.ASSISTANT:
                break
            said.append(message)
        words = "\n".join(message.text for message in said if message.text)
        calls = [call for message in said for call in message.calls]
        known = any((call.id, *call_key(call.name, call.arguments)) in asked for call in calls)
        calls_lost = bool(calls) and draft.text in (None, "", words)
        if said and not known and (draft.output is None or calls_lost):
            draft.output = tuple(said)
            draft.calls = calls_of(draft)


def lost_calls(draft: Draft) -> bool:
    """Whether a turn ended to call tools, and neither its span nor the next history has the calls."""
    reasons = draft.facts.finish_reasons or ()
    meant_to_call = any("tool" in reason.lower() or "function" in reason.lower() for reason in reasons)
    return meant_to_call and not draft.calls and not draft.text


def pair(drafts: Sequence[Draft]) -> list[CallDraft]:
    """Hang results on calls, in turns of one scope in order.

    Returns:
        Calls that only the history knows: those of the current exchange that no captured turn asked for.
    """
    history = _History()
    before: tuple[MessageFacts, ...] = ()
    for number, draft in enumerate(drafts):
        given = draft.input
        if given is not None:
            first = number == 0 and draft.scope == RUN
            start = _exchange_start(given) if number == 0 else _continued(before, given)
            history.walk(given[start:], draft, earlier=first)
            before = given
        history.add(draft.calls)
        history.close(draft)
    return history.found


def common_length(before: tuple[MessageFacts, ...], given: tuple[MessageFacts, ...]) -> int:
    """How many messages two histories begin with in common."""
    if given[: len(before)] == before:
        return len(before)
    for at, (ours, theirs) in enumerate(zip(before, given, strict=False)):
        if ours is not theirs and ours != theirs:
            return at
    return min(len(before), len(given))


def _continued(before: tuple[MessageFacts, ...], given: tuple[MessageFacts, ...]) -> int:
    """Where a history goes on from the one before it.

    It may have been told under other instructions; and it may have lost its earlier messages, where only the latest are
    sent along or those before them were summed up in one.
    """
    start = common_length(before, given)
    ours, theirs = _instructions(before), _instructions(given)
    if start < theirs:
        start = max(start, theirs + common_length(before[ours:], given[theirs:]))
    return start if start >= len(before) else max(start, _after_latest(before, given, start))


def _after_latest(before: tuple[MessageFacts, ...], given: tuple[MessageFacts, ...], start: int) -> int:
    """Where a history goes on whose messages from `start` on are the last of the one before; 0 if they aren't.

    One message more may stand before them, as a summary of those that are left out.
    """
    for first in range(start, min(start + 2, len(given))):
        alike = (
            place
            for place in range(start, len(before) - _FEWEST_KEPT + 1)
            if before[place] is given[first] or before[place] == given[first]
        )
        for place in islice(alike, _MOST_TRIED):
            end = first + len(before) - place
            if given[first:end] == before[place:]:
                return end
    return 0


def _talk(messages: tuple[MessageFacts, ...]) -> tuple[MessageFacts, ...]:
    return messages[_instructions(messages) :]


def _instructions(messages: Sequence[MessageFacts]) -> int:
    """How many messages of instructions a history begins with."""
    return next((at for at, message in enumerate(messages) if message.role is not Role.SYSTEM), len(messages))


def _exchange_start(given: Sequence[MessageFacts]) -> int:
    """Where the exchange begins that the first turn continues: after the last message of the user."""
    for at in range(len(given) - 1, -1, -1):
        if given[at].role is Role.USER:
            return at + 1
    return 0


def _is_alone(messages: Sequence[MessageFacts], at: int) -> bool:
    """Whether a result has neither an id nor a name, nor another result beside it."""
    message = messages[at]
    beside = [messages[place] for place in (at - 1, at + 1) if 0 <= place < len(messages)]
    return not message.call_id and not message.tool_name and all(other.role is not Role.TOOL for other in beside)


class _History:
    """The calls of a scope so far, and what the history says of them."""

    def __init__(self) -> None:
        self._by_id: dict[str, list[CallDraft]] = {}
        self._unmentioned: dict[str, deque[CallDraft]] = {}
        self._open: list[CallDraft] = []
        self._own: dict[str, CallDraft] = {}
        self.found: list[CallDraft] = []

    def add(self, calls: Sequence[CallDraft]) -> None:
        for call in calls:
            if call.id is not None:
                self._by_id.setdefault(call.id, []).append(call)
                self._unmentioned.setdefault(call.id, deque()).append(call)
            self._open.append(call)

    def walk(self, messages: Sequence[MessageFacts], draft: Draft, *, earlier: bool) -> None:
        pending: dict[str, CallDraft] = {}
        asked: list[CallDraft] = []
        # Some spans hold several model calls, each written over the one before: their output keeps calls that their
        # input already answers.
        self._own = {call.id: call for call in draft.calls if call.id is not None}
        # Results that an answer of the model already follows were new to the turn that gave it, captured or not.
        new_from = max((at + 1 for at, message in enumerate(messages) if message.role is Role.ASSISTANT), default=0)
        for at, message in enumerate(messages):
            if message.role is Role.ASSISTANT and message.calls:
                asked = [self._placed(call, earlier) for call in message.calls]
                pending.update({facts.id: call for facts, call in zip(message.calls, asked, strict=True) if facts.id})
            elif message.role is Role.TOOL:
                call = self._answered(message, pending, asked)
                if call is not None and call.seen is not None and _says_more(message, call.seen):
                    call.seen = message
                answered = [call] if call is not None and call.seen is None else []
                if answered and _is_alone(messages, at):
                    # Results of all calls in one message that names none of them.
                    answered += [other for other in asked if other is not call and other.seen is None]
                for call in answered:
                    call.seen, call.seen_on = message, draft.node.id
                    if at >= new_from:
                        draft.seen_calls.append(call)
                    if call in self._open[-_LOOK_BACK:]:
                        self._open.remove(call)

    def close(self, draft: Draft) -> None:
        """Hang the results that no turn saw on the calls they answer."""
        for message in draft.unseen:
            call = self._answered(message, {}, draft.calls)
            if call is not None and call.seen is None:
                call.seen, call.seen_on = message, draft.node.id

    def _placed(self, facts: CallFacts, earlier: bool) -> CallDraft:
        """The call that a history's message speaks of."""
        own = self._own.get(facts.id or "")
        same_id = self._by_id.get(facts.id or "", [])
        mark = signature(facts.arguments)
        if own is not None and not same_id and (not facts.arguments or signature(own.arguments) == mark):
            return own
        unmentioned = self._unmentioned.get(facts.id or "", deque())
        while unmentioned and unmentioned[0].in_history:
            unmentioned.popleft()
        waiting = list(islice(unmentioned, 1))
        if not same_id:
            near = [call for call in self._open[-_LOOK_BACK:] if not call.in_history]
            named = [call for call in near if call.name == facts.name]
            waiting = [call for call in named if signature(call.arguments) == mark] or named
        if waiting:
            waiting[0].in_history = True
            return waiting[0]
        known = next((call for call in same_id[-_LOOK_BACK:] if signature(call.arguments) == mark), None)
        if known is None and same_id and (not facts.arguments or same_id[-1].seen is None):
            # Histories may have emptied the arguments.
            known = same_id[-1]
        if known is not None:
            return known
        call = call_draft(facts, None)
        call.in_history, call.earlier = True, earlier
        self.found.append(call)
        self.add([call])
        return call

    def _answered(
        self, message: MessageFacts, pending: dict[str, CallDraft], asked: Sequence[CallDraft]
    ) -> CallDraft | None:
        """The call that a result answers."""
        if message.call_id is not None:
            if message.call_id in pending:
                return pending[message.call_id]
            known = self._by_id.get(message.call_id)
            if known:
                return next((call for call in reversed(known[-_LOOK_BACK:]) if call.seen is None), known[-1])
        open_calls = [call for call in asked if call.seen is None] or [
            call for call in self._open[-_LOOK_BACK:] if call.seen is None
        ]
        if message.tool_name:
            named = [call for call in open_calls if call.name == message.tool_name]
            open_calls = named or open_calls
        return open_calls[0] if open_calls else None


def _says_more(message: MessageFacts, seen: MessageFacts) -> bool:
    """Whether a result that was told before is told again with word of whether it failed."""
    return seen.failed is None and message.failed is not None and message.text == seen.text


def infer_unshown(drafts: Sequence[Draft], loose: Sequence[CallDraft]) -> None:
    """Let turns whose input doesn't show results have seen those of the calls before them, in turns of one scope.

    For turns whose input wasn't captured, or lost every call and result; and for results that a framework passed on in
    words, in a message of role user.
    """
    waiting: list[CallDraft] = []
    executed = sorted((call for call in loose if call.execution is not None), key=_start)
    at = 0
    for draft in drafts:
        blind = draft.input is None or not any(message.role is Role.TOOL or message.calls for message in draft.input)
        while at < len(executed) and _start(executed[at]) <= draft.node.place:
            if executed[at].seen is None:
                waiting.append(executed[at])
            at += 1
        if blind:
            draft.seen_calls += [call for call in waiting if call.seen is None and call.execution is not None]
        else:
            for call in _passed_on(waiting[-_LOOK_BACK:], draft):
                draft.seen_calls.append(call)
                waiting.remove(call)
        waiting = [] if blind else waiting
        waiting += draft.calls


def _passed_on(calls: Sequence[CallDraft], draft: Draft) -> list[CallDraft]:
    """Those of the calls whose results stand in what the user is made to say last."""
    said: list[str] = []
    for message in reversed(draft.input or ()):
        if message.role is not Role.USER:
            break
        said.append(message.text or "")
    words = "\n".join(said)
    return [
        call
        for call in calls
        if call.seen is None and call.tool is not None and call.tool.result and call.tool.result.strip() in words
    ]


def _start(call: CallDraft) -> tuple[int, int]:
    return call.execution.place if call.execution is not None else (0, 0)
