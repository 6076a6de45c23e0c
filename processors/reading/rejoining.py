"""Which traces are pieces of one run: model calls and tools that were traced without a span around them.

In: transcripts of single traces.  Out: a `Piece` of each that may be part of something longer, and whether one piece
continues another.  A model call repeats the conversation it continues, so a later piece shows the calls an earlier
one asked for, with their results.  Nothing is joined because it is near in time, nothing where ids or words disagree.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple

from evaluators.cases import Message, Role, Run, ToolCall, Turn
from processors.otlp import Span
from processors.reading.absent import open_calls
from processors.reading.signatures import name_key, signature
from processors.transcript import Transcript

_PARENT = "rejoined"
"""Stands for the run's span that was never made. No span has this id."""
_UNIQUE_ID_CHARS = 16
"""Call ids of providers are random and longer than this; shorter ones may be numbers that every run begins with."""
_MOST_CALLS = 64


class Rejoin(StrEnum):
    """By what pieces are joined: the history they repeat, that and a session id in common, or not at all."""

    HISTORY = "history"
    SESSION = "session"
    OFF = "off"


class Asked(NamedTuple):
    """A call by what identifies it. `id` is None where the instrumentation gave none."""

    id: str | None
    name: str
    arguments: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """What a trace without a span of its own for the run shows of the conversation it is part of.

    `source`    service and instrumentation.
    `asked`     calls that its last turn asked for and that nothing in the trace answers.
    `shown`     ids of the calls whose results its first turn was given.
    `repeated`  the calls that these results answer, as its history has them.
    `opening`, `closing`  fingerprints of what the user had said by its first and by its last turn; None: not captured.
    `results_before`, `results`  how many results there are in the history of its first and of its last turn.
    `blind`     the first turn was shown neither calls nor results.
    `failed`    its last request to a model failed.
    `executed`  the calls that were executed in it, if there is no turn of a model in it.
    """

    trace_id: str
    source: tuple[str, ...]
    session_id: str | None
    asked: tuple[Asked, ...] = ()
    shown: frozenset[str] = frozenset()
    repeated: tuple[Asked, ...] = ()
    opening: tuple[bytes, ...] | None = None
    closing: tuple[bytes, ...] | None = None
    results_before: int = 0
    results: int = 0
    blind: bool = False
    failed: bool = False
    executed: tuple[Asked, ...] = ()


def piece_of(transcript: Transcript, spans: Iterable[Span]) -> Piece | None:
    """What a trace shows of a run it is a piece of; None for what is a whole, or could not be joined."""
    if not transcript.headless or len(transcript.runs) != 1:
        return None
    run = transcript.runs[0]
    if not run.turns:
        executed = tuple(_asked(call, call.ref) for call in run.loose_calls if call.ref is not None)[:_MOST_CALLS]
        return (
            Piece(trace_id=transcript.trace_id, source=(), session_id=transcript.session_id, executed=executed)
            if executed
            else None
        )
    first, last = run.turns[0], run.turns[-1]
    asked = tuple(_asked(call, last.ref) for call in open_calls(last))
    repeated, shown = _shown(first.context or ())
    if not (asked or shown or repeated or transcript.session_id):
        return None
    return Piece(
        trace_id=transcript.trace_id,
        source=_source(first, spans),
        session_id=transcript.session_id,
        asked=asked[:_MOST_CALLS],
        shown=shown,
        repeated=repeated,
        opening=_users(first),
        closing=_users(last),
        results_before=_results(first),
        results=_results(last),
        blind=not any(message.role in (Role.ASSISTANT, Role.TOOL) for message in first.context or ()),
        failed=last.error is not None,
    )


def continues(later: Piece, earlier: Piece, by: Rejoin) -> bool:
    """Whether a piece goes on where another one left off: it was given the results of all calls the other asked for."""
    if by is Rejoin.OFF or not earlier.asked or later.executed or later.trace_id == earlier.trace_id:
        return False
    if not _sessions_agree(later, earlier, by):
        return False
    agrees = _conversations_agree(later, earlier)
    if names(later, earlier):
        unique = all(len(call.id or "") >= _UNIQUE_ID_CHARS for call in earlier.asked)
        return unique or bool(agrees) or (agrees is None and _same_session(later, earlier))
    # An instrumentation may write one id for a call and another one for its result.
    return bool(agrees) and has_grown(later, earlier) and _calls(later.repeated) == _calls(earlier.asked)


def names(later: Piece, earlier: Piece) -> bool:
    """Whether a piece was given results under the ids of all calls that another one asked for."""
    return bool(earlier.asked) and all(call.id is not None and call.id in later.shown for call in earlier.asked)


def has_grown(later: Piece, earlier: Piece) -> bool:
    """Whether the history of a piece has just the results of another one's calls more than that one had."""
    return later.results_before == earlier.results + len(earlier.asked)


def may_follow(later: Piece, earlier: Piece) -> bool:
    """Whether a piece without any history may go on where another one of its session left off: nothing speaks against
    it, the user has said the same, and the other one had asked for calls.
    """
    return (
        later.blind
        and bool(earlier.asked)
        and later.trace_id != earlier.trace_id
        and _same_session(later, earlier)
        and later.opening is not None
        and later.opening == earlier.closing
    )


def executes(tool: Piece, earlier: Piece, by: Rejoin) -> bool:
    """Whether a piece that is nothing but executed tools executed calls that another one asked for."""
    if by is Rejoin.OFF or not tool.executed or not _sessions_agree(tool, earlier, by):
        return False
    ids = {call.id for call in earlier.asked} - {None}
    if all(call.id in ids for call in tool.executed):
        unique = all(len(call.id or "") >= _UNIQUE_ID_CHARS for call in tool.executed)
        return unique or _same_session(tool, earlier)
    return all(call.id is None for call in tool.executed) and not (_calls(tool.executed) - _calls(earlier.asked))


def rejoined(own: Sequence[Span], others: Iterable[Span]) -> list[Span]:
    """The spans of several pieces as those of one run whose own span never arrived; of equal ids `own` stands."""
    ids = {span.span_id for span in own}
    spans = [*own, *(span for span in others if span.span_id not in ids)]
    known = {span.span_id for span in spans}
    return [span if span.parent_id in known else replace(span, parent_id=_PARENT, flags=0) for span in spans]


def without_foreign_tools(transcript: Transcript, own: Collection[str]) -> Transcript:
    """A transcript of several pieces in which a call that was executed in another piece than the one that asked for it
    has no tool span: its verdict belongs to the model call that asked, which may have left with it before.
    """

    def at_home(call: ToolCall, turn: Turn | None) -> ToolCall:
        asked_here = turn is not None and turn.ref in own
        return call if call.ref is None or (asked_here and call.ref in own) else replace(call, ref=None)

    def settled(run: Run) -> Run:
        turns = tuple(replace(turn, calls=tuple(at_home(call, turn) for call in turn.calls)) for turn in run.turns)
        loose = tuple(at_home(call, None) for call in run.loose_calls)
        return replace(run, turns=turns, loose_calls=loose)

    return replace(transcript, runs=tuple(settled(run) for run in transcript.runs))


def completed(own: Transcript, whole: Transcript) -> Transcript:
    """The transcript of a piece, with the results that other pieces of its run tell of the calls that it asked for."""
    told = {
        (turn.ref, call.id): call.result
        for run in whole.runs
        for turn in run.turns
        for call in turn.calls
        if call.result is not None
    }

    def answered(turn: Turn) -> Turn:
        calls = tuple(replace(call, result=call.result or told.get((turn.ref, call.id))) for call in turn.calls)
        return replace(turn, calls=calls)

    return replace(own, runs=tuple(replace(run, turns=tuple(map(answered, run.turns))) for run in own.runs))


def _asked(call: ToolCall, ref: str | None) -> Asked:
    # What has no id of its own is numbered by its place, see `processors.reading.turns.number_calls`.
    made_up = "/" in call.id and call.id.partition("/")[0] in (ref, "")
    return Asked(None if made_up else call.id, name_key(call.name), signature(call.arguments or {}))


def _shown(context: Sequence[Message]) -> tuple[tuple[Asked, ...], frozenset[str]]:
    """The model's last calls in a history, if results came since, and the ids of these results."""
    results: list[Message] = []
    for message in reversed(context):
        if message.role is Role.TOOL:
            results.append(message)
        elif message.role is Role.ASSISTANT:
            calls = message.calls[:_MOST_CALLS] if results else ()
            return tuple(_asked(call, message.ref) for call in calls), _ids(results)
    return (), _ids(results)


def _ids(results: Iterable[Message]) -> frozenset[str]:
    return frozenset(result.call_id for result in results if result.call_id is not None)


def _results(turn: Turn) -> int:
    return sum(message.role is Role.TOOL for message in turn.context or ())


def _users(turn: Turn) -> tuple[bytes, ...] | None:
    texts = [message.text for message in turn.context or () if message.role is Role.USER and message.text]
    return tuple(hashlib.blake2b(text.encode(errors="replace"), digest_size=8).digest() for text in texts) or None


def _source(turn: Turn, spans: Iterable[Span]) -> tuple[str, ...]:
    for span in spans:
        if span.span_id == turn.ref:
            return str(span.resource.get("service.name", "")), span.scope_name
    return ()


def _calls(calls: Iterable[Asked]) -> Counter[tuple[str, bytes]]:
    return Counter((call.name, call.arguments) for call in calls)


def _same_session(one: Piece, other: Piece) -> bool:
    return one.session_id is not None and one.session_id == other.session_id


def _sessions_agree(one: Piece, other: Piece, by: Rejoin) -> bool:
    if by is Rejoin.SESSION or (one.session_id is not None and other.session_id is not None):
        return _same_session(one, other)
    return True


def _conversations_agree(later: Piece, earlier: Piece) -> bool | None:
    """Whether what the user had said is the beginning of what the later piece knows of it; None: not captured."""
    if later.opening is None or earlier.closing is None:
        return None
    return later.opening[: len(earlier.closing)] == earlier.closing
