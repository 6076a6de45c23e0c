"""Span level: from a transcript to the steps that are to be judged, each placed on the span its verdict goes to.

In: a `Transcript`.  Out: `Placed` cases, in order.  Nothing is judged here and nothing is left out because of what it
contains: whether a step can be judged is the evaluator's to say.

Where a verdict goes:

* on a decision  the LLM span that decided
* on calls       the call's tool span; all calls of a turn without one share the LLM span that decided
* on a response  the first LLM span whose input contains the results, once for all results new to it

Without such a span: the nearest agent span around the tool span, else the run's span.  Executions of tools in a trace
without any model or agent in it are no steps of anything that could be judged.

A step of a trace that is still growing is `settled` when everything that a verdict on it needs is there, and when no
span that may still come can make it another step: parents come after their children, so until a trace is complete it
falls into pieces, and what was inferred from the order of its turns doesn't hold yet.
"""

from __future__ import annotations

import sys
from bisect import bisect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from evaluators.cases import CallsCase, Case, CaseKind, DecisionCase, ResponseCase, Role, Run, ToolCall, Turn
from evaluators.rules.errors import ErrorClass, error_of
from evaluators.verdict import Level
from processors.conventions.decoding.definitions import distinct
from processors.transcript import Transcript

MOST_LATER = 256
"""Later turns that a case about results is given; what comes after so many more answers is no reaction to them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A case for the evaluator of this name, and the span (lower-case hex) on which its verdict belongs."""

    evaluator: str
    level: Level
    span_id: str
    case: Case
    settled: bool


Placer: TypeAlias = Callable[[Transcript, str, bool], Iterator[Placed]]
"""From a transcript, the name of an evaluator and whether the transcript is complete to that evaluator's cases."""


def place_decisions(transcript: Transcript, evaluator: str, complete: bool) -> Iterator[Placed]:
    """One case per turn that chose tools or, as the first answer to a message of the user, chose none of those offered.

    Executed calls that no captured turn asked for are cases too, of a turn of which nothing but its calls is known;
    unless a turn was captured without what it decided: then that turn lacks its input, and says so once.
    """

    def placed(span_id: str, run: Run, turn: Turn, settled: bool) -> Placed:
        case = DecisionCase(run=run, turn=turn)
        return Placed(evaluator=evaluator, level=Level.SPAN, span_id=span_id, case=case, settled=complete or settled)

    for run in _agents_runs(transcript):
        openings, last = _openings(run), _last_turns(run)
        calls_tools = any(turn.calls for turn in run.turns) or bool(run.loose_calls)
        for turn in run.turns:
            # A plain chat has no tools to choose from. Where the offer wasn't captured, only a run that calls tools
            # shows that there was one.
            in_play = bool(turn.tools) if turn.tools is not None else calls_tools
            span_id = turn.ref or _Around(transcript, run).first(turn.calls)
            if span_id is not None and (turn.calls or (turn.index in openings and in_play)):
                decided = bool(turn.calls) and (_returned(turn.calls) or turn.index < last[turn.agent])
                yield placed(span_id, run, turn, decided)
        unseen = any(_decided_unseen(turn) for turn in run.turns)
        for span_id, calls in _by_target(_executed_here(run), _Around(transcript, run)).items():
            offers = [call.offered for call in calls]
            tools = distinct(tool for offered in offers for tool in offered or ()) if all(offers) else None
            if tools is not None or not unseen:
                yield placed(span_id, run, Turn(index=len(run.turns), calls=calls, tools=tools), False)


def place_calls(transcript: Transcript, evaluator: str, complete: bool) -> Iterator[Placed]:
    """One case per tool span, and one per turn for its calls that have none."""

    def placed(
        run: Run,
        turn: Turn | None,
        calls: tuple[ToolCall, ...],
        followed: bool,
        executes: bool,
        later: Mapping[str, ToolCall],
    ) -> Iterator[Placed]:
        without_span = (turn.ref if turn else None) or _Around(transcript, run).first(calls)
        for span_id, here in _by_target(calls, lambda call: call.ref or without_span).items():
            # Where calls have tool spans, one that has none yet may still get its own.
            placed_for_good = not executes or all(call.ref is not None or call.is_handoff for call in here)
            unexplained = dict.fromkeys(call.name for call in here if _failed_unexplained(call))
            yield Placed(
                evaluator=evaluator,
                level=Level.SPAN,
                span_id=span_id,
                case=CallsCase(
                    run=run, calls=here, turn=turn, later=tuple(later[name] for name in unexplained if name in later)
                ),
                # What an error doesn't tell, a later call may.
                settled=complete
                or (placed_for_good and not unexplained and (followed or (turn is not None and _returned(here)))),
            )

    for run in _agents_runs(transcript):
        last = _last_turns(run)
        executes = any(call.ref is not None for call in run.calls)
        nexts = _next_calls(run)
        for turn in run.turns:
            yield from placed(run, turn, turn.calls, turn.index < last[turn.agent], executes, nexts[turn.index])
        yield from placed(run, None, _executed_here(run), False, executes, {})


def place_responses(transcript: Transcript, evaluator: str, complete: bool) -> Iterator[Placed]:
    """One case per turn that saw results first, and one per place for results that no captured turn saw."""

    def placed(span_id: str, case: ResponseCase, settled: bool) -> Placed:
        return Placed(evaluator=evaluator, level=Level.SPAN, span_id=span_id, case=case, settled=settled)

    for run in _agents_runs(transcript):
        calls, unanswered, ends = run.calls, _Unanswered(run), _exchange_ends(run)
        seen: set[int] = set()
        for turn in run.turns:
            places = unanswered.taken_by(turn)
            seen.update(places)
            answered = tuple(calls[place] for place in places)
            span_id = turn.ref or _Around(transcript, run).first(answered)
            if answered and span_id is not None:
                later = run.turns[turn.index + 1 : min(ends[turn.index], turn.index + 1 + MOST_LATER)]
                case = ResponseCase(run=run, calls=answered, turn=turn, later=later)
                yield placed(span_id, case, complete or (_returned(answered) and shows_results(turn)))
        unseen = tuple(
            call
            for place, call in enumerate(calls)
            if place not in seen and call.result is not None and not call.is_handoff and not call.earlier
        )
        for span_id, here in _by_target(unseen, _Around(transcript, run)).items():
            yield placed(span_id, ResponseCase(run=run, calls=here, turn=None), complete)


PLACERS: Mapping[CaseKind, Placer] = {
    CaseKind.DECISION: place_decisions,
    CaseKind.CALLS: place_calls,
    CaseKind.RESPONSE: place_responses,
}


def _agents_runs(transcript: Transcript) -> Iterator[Run]:
    """The runs in which anything shows an agent at work. Tools alone, as a server of tools traces them, are none."""
    return (run for run in transcript.runs if run.turns or not transcript.headless)


class _Unanswered:
    """The calls of a run by id; several calls may have the same id, in one turn or in several."""

    def __init__(self, run: Run) -> None:
        asked_in = [turn.index for turn in run.turns for _ in turn.calls] + [-1] * len(run.loose_calls)
        self._known: dict[str, list[tuple[int, int]]] = {}
        for place, call in enumerate(run.calls):
            # What the provider executes itself is answered within the turn that asked.
            known_from = asked_in[place] + (0 if call.provider_executed else 1)
            self._known.setdefault(call.id, []).append((known_from, place))
        for known in self._known.values():
            known.sort()

    def taken_by(self, turn: Turn) -> list[int]:
        """Places in `run.calls` of the calls whose results the turn is the first to see: the nearest of each id."""
        places: list[int] = []
        for call_id in turn.answers:
            known = self._known.get(call_id, [])
            before = bisect(known, (turn.index, sys.maxsize))
            if before:
                places.append(known.pop(before - 1)[1])
        return sorted(places)


def _executed_here(run: Run) -> tuple[ToolCall, ...]:
    """The calls that no captured turn asked for and that were executed in this trace.

    One that was only seen in a message history was decided in another trace, and is judged there.
    """
    return tuple(call for call in run.loose_calls if call.ref is not None)


def _openings(run: Run) -> frozenset[int]:
    """Indexes of the turns that were an agent's first answer to a message of the user; failed requests don't answer."""
    first: dict[tuple[str | None, int], int] = {}
    for turn in run.turns:
        if turn.error is None and not _continues(turn):
            first.setdefault((turn.agent, turn.user_turn), turn.index)
    return frozenset(first.values())


def _decided_unseen(turn: Turn) -> bool:
    return turn.text is None and not turn.calls and turn.error is None and turn.ref is not None


def _continues(turn: Turn) -> bool:
    """Whether the turn goes on from tool results or from its own words: where every model call is a trace of its own,
    the first turn of a trace needn't be the first answer.
    """
    said = [message.role for message in turn.context or () if message.role is not Role.SYSTEM]
    return bool(turn.answers) or (bool(said) and said[-1] is not Role.USER)


def _last_turns(run: Run) -> dict[str | None, int]:
    return {turn.agent: turn.index for turn in run.turns}


def _next_calls(run: Run) -> Sequence[Mapping[str, ToolCall]]:
    """For each turn with a call that failed without saying why, its agent's next calls of the same tools, by name."""
    nexts: list[Mapping[str, ToolCall]] = [{}] * len(run.turns)
    later: dict[str | None, dict[str, ToolCall]] = {}
    for turn in reversed(run.turns):
        known = later.setdefault(turn.agent, {})
        nexts[turn.index] = {
            call.name: known[call.name] for call in turn.calls if call.name in known and _failed_unexplained(call)
        }
        known.update({call.name: call for call in reversed(turn.calls)})
    return nexts


def _failed_unexplained(call: ToolCall) -> bool:
    error = error_of(call.result)
    return error is not None and error.kind is ErrorClass.OPAQUE


def _exchange_ends(run: Run) -> list[int]:
    """For each turn, the index after the last turn that answers the same message of the user."""
    ends = [len(run.turns)] * len(run.turns)
    for at in range(len(run.turns) - 2, -1, -1):
        ends[at] = ends[at + 1] if run.turns[at].user_turn == run.turns[at + 1].user_turn else at + 1
    return ends


def _returned(calls: Iterable[ToolCall]) -> bool:
    return all(call.result is not None for call in calls)


def shows_results(turn: Turn) -> bool:
    """Whether the turn was captured with results of tools in what it saw, so that they needn't be inferred."""
    return any(message.role is Role.TOOL for message in turn.context or ())


@dataclass(frozen=True, slots=True)
class _Around:
    """The nearest agent span around a call's tool span, else the run's span."""

    transcript: Transcript
    run: Run

    def __call__(self, call: ToolCall) -> str | None:
        return self.transcript.enclosing.get(call.ref or "") or self.run.ref

    def first(self, calls: Iterable[ToolCall]) -> str | None:
        """The same for several calls that share a place."""
        found = (self.transcript.enclosing.get(call.ref or "") for call in calls)
        return next((span_id for span_id in found if span_id), self.run.ref)


def _by_target(calls: Iterable[ToolCall], target: Callable[[ToolCall], str | None]) -> dict[str, tuple[ToolCall, ...]]:
    grouped: dict[str, list[ToolCall]] = {}
    for call in calls:
        span_id = target(call)
        if span_id is not None:
            grouped.setdefault(span_id, []).append(call)
    return {span_id: tuple(here) for span_id, here in grouped.items()}
