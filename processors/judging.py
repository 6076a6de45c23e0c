"""From a trace's bytes to its scores: the whole of the processors' work on one trace, behind one call.

    judge = TraceJudge(evaluators, judges={"judge/default": client})
    scores = await judge.judge(TraceInput(trace_id=..., spans=[(resource, scope, span), ...], complete=True))

A trace may be judged several times while it grows: with `complete=False` only those steps whose inputs are there, with
`complete=True` the remaining steps and the runs, and once more when spans come late.  `TraceScores.marks` carries what
was said from one call to the next; hand it back as it is.  Nothing is said twice.  Where a judge failed on a step
or wasn't to be asked, it is asked with the next call that is `complete`; a failure never withdraws a score.

Where each model call is a trace of its own, a trace is judged together with the other pieces of its run that were seen
of late (`processors.pieces`), but verdicts are given on its own spans alone.  What a piece asked for may turn out badly
in a later one: `TraceScores.again` names the traces that are worth judging again because of this one.

In and out go plain, picklable data, so that the caller may be another process.  Nothing here reads a clock, a file or
the network (a judge does), and `judge` never raises for what a trace contains.
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ParamSpec, TypeAlias, TypeVar

from evaluators.calibration.record import Calibration
from evaluators.cases import CaseKind, Reference, Run, RunCase
from evaluators.evaluation import Item, Screened, ask_judges, derive, screen
from evaluators.evaluator import Evaluator
from evaluators.judge.question import Judge
from evaluators.names import require_name
from evaluators.run_settings import RunSettings
from evaluators.status import UNANSWERED
from evaluators.verdict import Status, Verdict
from processors.admission import Admission, Subject
from processors.cases.spans import PLACERS, Placed, shows_results
from processors.cases.traces import place_runs
from processors.otlp import Span, decode_log, decode_span
from processors.pieces import Pieces, Surroundings
from processors.reading.absent import told_how
from processors.reading.readiness import REQUIRED, missing_of
from processors.reading.rejoining import Rejoin
from processors.references import RunReferences
from processors.session_judging import SessionJudge
from processors.trace_jobs import TraceInput, TraceScores
from processors.transcript import Missing, Transcript
from processors.verdicts.combine import combine
from processors.verdicts.deriving import Said, sources
from processors.verdicts.marks import Mark, Marks, inputs_of, mark, outcome_of
from processors.verdicts.roll_ups import roll_ups_of_runs
from processors.verdicts.scores import Emission, is_told
from processors.verdicts.telling import Raw, Telling
from processors.whole_runs import Reader, WholeRuns

__all__ = ["TraceInput", "TraceJudge", "TraceScores"]

Verdicts: TypeAlias = dict[tuple[str, str], tuple[str, Verdict]]
"""(span, evaluator) → what the verdict rests on, and the verdict."""
ItemT = TypeVar("ItemT")
Args = ParamSpec("Args")
# What takes long in one go with a trace of more than this is done beside the event loop.
_LARGE_SPANS = 1000
_LARGE_BYTES = 4 << 20

ROLL_UPS = "run"
"""Stands for the roll-ups of a run among the marks; no evaluator can have this name."""


class TraceJudge:
    """Judges traces with a fixed set of evaluators. Between calls it remembers pieces of runs, and nothing else.

    Args:
        evaluators: those that are configured, each at most once.
        judges: judge clients by the id that evaluators' settings name. An evaluator whose judge isn't among them
            works by its rules alone.
        emission: what is written besides scores.
        read: turns decoded spans and log records of one trace into a transcript.
        pieces: remembers traces that are pieces of a run; without it each trace is judged by itself.
        admission: what is judged, and about which of it a judge is asked; without it everything.
        calibration: which judges are known to agree with people; without it nobody looks.
        sessions: told of the runs of complete traces, so that sessions can be judged when they are over.
        references: knows what should have come of runs; without it nobody does.

    Raises:
        ValueError: an evaluator's name can't be an attribute key or comes twice, or one needs verdicts that are
            themselves derived.
    """

    def __init__(
        self,
        evaluators: Iterable[Evaluator[Any]],
        judges: Mapping[str, Judge] | None = None,
        emission: Emission | None = None,
        *,
        read: Reader,
        pieces: Pieces | None = None,
        admission: Admission | None = None,
        calibration: Calibration | None = None,
        sessions: SessionJudge | None = None,
        references: RunReferences | None = None,
    ) -> None:
        self._evaluators: dict[str, Evaluator[Any]] = {}
        self._judges = judges or {}
        self._emission = emission or Emission()
        self.admission = admission or Admission()
        self._calibration = calibration
        self.sessions = sessions
        self._references = references
        # One large trace at a time: each would take its share of the time from all others.
        self._thread = ThreadPoolExecutor(1, "large traces")
        self._runs = WholeRuns(read, pieces if pieces is not None else Pieces(Rejoin.OFF))
        for evaluator in evaluators:
            require_name(evaluator.name)
            if evaluator.name in self._evaluators:
                raise ValueError(f"the evaluator {evaluator.name!r} is given twice")
            self._evaluators[evaluator.name] = evaluator
        for evaluator in self._evaluators.values():
            derived = [name for name in evaluator.needs if name in self._evaluators and self._evaluators[name].needs]
            if derived:
                raise ValueError(f"{evaluator.name} can't need {derived[0]}, whose verdicts are themselves derived")

    def expect(self, traces: Iterable[TraceInput]) -> None:
        """Say which traces will be judged next, in order of arrival, so that they know of each other whoever is first.

        Each has to be handed to `judge` afterwards.
        """
        self._runs.expect(traces)

    async def judge(self, trace: TraceInput, on_rules: Callable[[TraceScores], None] | None = None) -> TraceScores:
        """The scores of a trace. Never raises for what it contains.

        Args:
            trace: what has arrived of it.
            on_rules: if a judge has to be asked, called before that with what rules alone have decided; what is
                returned in the end then says only what is new since.
        """
        try:
            return await self._judge(trace, on_rules)
        except Exception as error:
            # The outermost loop over other people's data: one trace must not end the judging of all others. The
            # error's own text may quote the trace, so only its place and kind are told.
            frame = traceback.extract_tb(error.__traceback__)[-1]
            failure = f"{type(error).__name__} in {Path(frame.filename).name}:{frame.lineno} ({frame.name})"
            return TraceScores(trace_id=trace.trace_id, marks=trace.marks, failure=failure)

    async def _judge(self, trace: TraceInput, on_rules: Callable[[TraceScores], None] | None) -> TraceScores:
        spans = {raw: decode_span(*raw) async for raw in _giving_way(dict.fromkeys(trace.spans))}
        by_id: dict[str, tuple[Raw, Span]] = {}
        for raw, span in spans.items():
            by_id.setdefault(span.span_id, (raw, span))
        logs = [decode_log(*raw) async for raw in _giving_way(dict.fromkeys(trace.logs))]
        large = _is_large(trace)
        transcript, pieces = await self._aside(large, self._runs.read, trace, list(spans.values()), logs)
        if trace.partial:
            transcript = replace(transcript, runs=tuple(replace(run, partial=True) for run in transcript.runs))

        references = self._known(transcript, by_id)
        placed, due = await self._aside(large, self._placed, transcript, trace, references, by_id)
        told_before = _scored(trace.marks) if pieces.after else frozenset()
        key = _sampled_by(transcript, pieces, trace)
        screened = await screen([self._item(one, by_id[one.span_id][1], key, trace, told_before) for one in due.cases])
        marks = dict(trace.marks)
        decided: Verdicts = {}
        if on_rules is not None and None in screened.verdicts:
            decided = self._combined(due, screened.verdicts, trace, told_before, transcript.missing)
            told = Telling(trace.trace_id, by_id, self._emission)
            await self._tell(decided, marks, told, transcript)
            await self._tell(
                self._derived(placed, by_id, marks, trace, pieces, due.open(screened)), marks, told, transcript
            )
            spans_told = await self._aside(large, told.scores)
            on_rules(
                TraceScores(
                    trace_id=trace.trace_id,
                    spans=spans_told,
                    verdicts=tuple(told.verdicts),
                    marks=dict(marks),
                    missing=transcript.missing,
                    dialects=transcript.dialects,
                )
            )

        answers = await ask_judges(screened)
        if self._calibration is not None:
            answers = [self._calibration.marked(verdict) for verdict in answers]
        answered = await self._aside(large, self._combined, due, answers, trace, told_before, transcript.missing)
        if trace.complete:
            answered |= self._withdrawn(trace.marks, placed, by_id)
        told = Telling(trace.trace_id, by_id, self._emission)
        await self._tell(
            {key: verdict for key, verdict in answered.items() if key not in decided}, marks, told, transcript
        )
        await self._tell(self._derived(placed, by_id, marks, trace, pieces), marks, told, transcript)
        if trace.complete and not pieces:
            settings = {name: evaluator.settings for name, evaluator in self._evaluators.items()}
            roll_ups = await self._aside(large, roll_ups_of_runs, placed, marks, settings)
            for run_id, rolled in roll_ups.items():
                if (run_id, ROLL_UPS) not in marks:
                    told.add_roll_ups(run_id, rolled)
                    marks[run_id, ROLL_UPS] = _ROLLED
        if trace.complete and self.sessions is not None:
            runs = [one.case.run for one in place_runs(transcript, "") if one.settled and one.span_id in by_id]
            joined = [bytes.fromhex(piece.piece.trace_id) for piece in pieces.before]
            self.sessions.remember(transcript.session_id, runs, by_id, trace, joined)
        settled: Collection[str] = by_id.keys()
        if not trace.complete:
            settled = await self._aside(large, self._settled, transcript, placed, marks)
        return TraceScores(
            trace_id=trace.trace_id,
            spans=await self._aside(large, told.scores),
            settled=frozenset(bytes.fromhex(span_id) for span_id in settled),
            verdicts=tuple(told.verdicts),
            marks=marks,
            again=frozenset(() if pieces.outdated is None else (bytes.fromhex(pieces.outdated.piece.trace_id),)),
            missing=transcript.missing,
            dialects=transcript.dialects,
        )

    async def _aside(
        self, large: bool, function: Callable[Args, ItemT], *args: Args.args, **kwargs: Args.kwargs
    ) -> ItemT:
        """Call a function that keeps no state; for a large trace in a thread, in which it shares the time with the
        judging of all others instead of keeping them waiting.
        """
        if not large:
            return function(*args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._thread, partial(function, *args, **kwargs))

    def _placed(
        self,
        transcript: Transcript,
        trace: TraceInput,
        references: Mapping[str, Reference],
        spans: Collection[str],
    ) -> tuple[list[Placed], _Due]:
        """All cases, and what of them is to be judged now."""
        placed = [one for one in self._place(transcript, trace.complete, references) if one.span_id in spans]
        return placed, self._due(placed, trace)

    async def _tell(
        self, verdicts: Verdicts, marks: dict[tuple[str, str], Mark], told: Telling, transcript: Transcript
    ) -> None:
        """Tell the verdicts that say something new, and note in `marks` what was said."""
        async for key, (inputs, verdict) in _giving_way(verdicts.items()):
            before = marks.get(key)
            sequence = 0 if before is None else before.sequence + before.told
            if before is not None and before.outcome == outcome_of(verdict):
                marks[key] = before._replace(inputs=inputs)
                continue
            # What was told before is never left standing as the last word, even if there is no score any more.
            tell = is_told(verdict, self._emission) or sequence > 0
            marks[key] = mark(verdict, inputs, sequence, tell)
            told.add(key[0], verdict, sequence, before if sequence else None, transcript.session_id)

    def _known(self, transcript: Transcript, by_id: Mapping[str, tuple[Raw, Span]]) -> dict[str, Reference]:
        """What should have come of the runs, by their spans."""
        if self._references is None:
            return {}
        spans = {span_id: span for span_id, (_, span) in by_id.items()}
        found = {run.ref: self._references.find(run, spans) for run in transcript.runs if run.ref is not None}
        return {ref: reference for ref, reference in found.items() if reference is not None}

    def _place(self, transcript: Transcript, complete: bool, references: Mapping[str, Reference]) -> Iterable[Placed]:
        for name, evaluator in self._evaluators.items():
            placer = PLACERS.get(evaluator.judges)
            if placer is not None:
                yield from placer(transcript, name, complete)
            elif evaluator.judges is CaseKind.RUN and complete:
                per_agent = isinstance(evaluator.settings, RunSettings) and evaluator.settings.per_agent
                yield from place_runs(transcript, name, references, per_agent=per_agent)

    def _due(self, placed: Sequence[Placed], trace: TraceInput) -> _Due:
        """What is to be judged now."""
        groups: dict[tuple[str, str], list[Placed]] = {}
        for one in placed:
            if not self._evaluators[one.evaluator].needs:
                groups.setdefault((one.span_id, one.evaluator), []).append(one)
        due: dict[tuple[str, str], tuple[str, list[Placed]]] = {}
        for key, cases in groups.items():
            inputs = "+".join(inputs_of(one.case) for one in cases)
            before = trace.marks.get(key)
            if before is None:
                if all(one.settled for one in cases):
                    due[key] = (inputs, cases)
            elif trace.complete and (
                before.inputs != inputs or (not trace.rules_only and self._is_open(before, key[1]))
            ):
                due[key] = (inputs, cases)
        return _Due(due)

    def _combined(
        self,
        due: _Due,
        answers: Sequence[Verdict | None],
        trace: TraceInput,
        told_before: Set[tuple[str, str]],
        missing: Sequence[Missing],
    ) -> Verdicts:
        """What is to be said now: one verdict of each evaluator on each span, as far as all its cases have theirs."""
        left = iter(answers)
        verdicts: Verdicts = {}
        for key, (inputs, cases) in due.by_target.items():
            parts = [next(left) for _ in cases]
            given = [part for part in parts if part is not None]
            if len(given) < len(parts):
                continue
            needed = REQUIRED.get(key[1]) or self._evaluators[key[1]].facts
            verdict = _with_remedy(combine(given), needed, cases[0].case.run, missing)
            if self._stands(verdict, trace, trace.marks.get(key), without_judge=trace.rules_only or key in told_before):
                verdicts[key] = (inputs, verdict)
        return verdicts

    def _derived(
        self,
        placed: Sequence[Placed],
        spans: Mapping[str, tuple[Raw, Span]],
        marks: Marks,
        trace: TraceInput,
        pieces: Surroundings,
        waiting: Set[tuple[str, str]] = frozenset(),
    ) -> Verdicts:
        """The verdicts of evaluators that need others', as far as these say something new.

        Args:
            placed: all cases.
            spans: the trace's.
            marks: what was said, those of the verdicts just given among it.
            trace: what is judged.
            pieces: other traces of the same run.
            waiting: where a judge has still to be asked; what needs one of these has to wait too.
        """
        said = Said(placed, whole=not pieces)
        verdicts: Verdicts = {}
        for one in placed:
            evaluator = self._evaluators[one.evaluator]
            if not evaluator.needs or not one.settled or not isinstance(one.case, RunCase):
                continue
            needed = said.keys(one.case.run.ref, evaluator.needs)
            case = replace(one.case, sources=sources(needed, marks))
            key, inputs = (one.span_id, one.evaluator), inputs_of(case)
            before = marks.get(key)
            if not waiting.isdisjoint(needed) or (before is not None and before.inputs == inputs):
                continue
            excluded = self.admission.excluded(one.evaluator, Subject(case, spans[one.span_id][1]))
            verdict = derive(Item(evaluator=evaluator, case=case, excluded=excluded), case.sources)
            if self._stands(verdict, trace, before, without_judge=True):
                verdicts[key] = (inputs, verdict)
        return verdicts

    def _stands(self, verdict: Verdict, trace: TraceInput, before: Mark | None, *, without_judge: bool) -> bool:
        """Whether a verdict is to be said, and not left for the next time."""
        if verdict.status is Status.MISSING_INPUT:
            # What is missing while a trace grows may still come.
            return trace.complete
        unanswered = verdict.status in UNANSWERED or (without_judge and verdict.status is Status.NEEDS_JUDGE)
        # That a judge couldn't be asked is no reason to withdraw what one said before.
        return not unanswered or before is None or before.status != Status.OK

    def _withdrawn(self, marks: Marks, placed: Iterable[Placed], spans: Collection[str]) -> Verdicts:
        """What takes back scores that were told while a trace grew, and that turned out to belong on another span."""
        here = {(one.span_id, one.evaluator) for one in placed}
        gone = {
            (span_id, name): before
            for (span_id, name), before in marks.items()
            if before.told and before.status == Status.OK and span_id in spans and name in self._evaluators
        }
        return {
            key: (before.inputs, _moved(self._evaluators[key[1]])) for key, before in gone.items() if key not in here
        }

    def _item(self, one: Placed, span: Span, key: str, trace: TraceInput, told_before: Set[tuple[str, str]]) -> Item:
        # That a run went on in another trace is no reason to pay for a second opinion; rules may know better now.
        without_judge = trace.rules_only or (one.span_id, one.evaluator) in told_before
        judge = None if without_judge else self._judge_of(one.evaluator)
        subject = Subject(one.case, span)
        return Item(
            evaluator=self._evaluators[one.evaluator],
            case=one.case,
            judge=judge,
            excluded=self.admission.excluded(one.evaluator, subject),
            declines=lambda screening: self.admission.declined(one.evaluator, subject, screening, key),
        )

    def _is_open(self, before: Mark, evaluator: str) -> bool:
        """Whether a judge may still answer what it didn't, because it failed or wasn't to be asked."""
        if before.status == Status.NEEDS_JUDGE:
            return self._judge_of(evaluator) is not None
        return before.status in UNANSWERED

    def _judge_of(self, evaluator: str) -> Judge | None:
        return self._judges.get(self._evaluators[evaluator].settings.judge or "")

    def _settled(self, transcript: Transcript, placed: Iterable[Placed], marks: Marks) -> set[str]:
        """Spans of a growing trace that can leave: steps that have all their verdicts, and what nobody reads.

        Runs, agents and whatever encloses a tool can still receive a verdict, and so can a turn without calls until it
        is known which message it answers.
        """
        turns = [turn for run in transcript.runs for turn in run.turns]
        steps = {turn.ref for turn in turns if turn.calls or shows_results(turn)}
        steps |= {call.ref for turn in turns for call in turn.calls}
        awaited = {run.ref for run in transcript.runs} | {agent.span_id for agent in transcript.agents}
        awaited |= set(transcript.enclosing.values())
        awaited |= {one.span_id for one in placed if (one.span_id, one.evaluator) not in marks}
        return {span_id for span_id in (steps | set(transcript.unread)) - awaited if span_id is not None}


@dataclass(frozen=True, slots=True)
class _Due:
    """Cases to judge, by the span and evaluator of their verdict, with what each verdict will rest on."""

    by_target: Mapping[tuple[str, str], tuple[str, list[Placed]]]

    @property
    def cases(self) -> list[Placed]:
        return [one for _, cases in self.by_target.values() for one in cases]

    def open(self, screened: Screened) -> frozenset[tuple[str, str]]:
        """Where a judge has to be asked."""
        left = iter(screened.verdicts)
        return frozenset(key for key, (_, cases) in self.by_target.items() if None in [next(left) for _ in cases])


def _with_remedy(verdict: Verdict, needed: Iterable[str], run: Run, missing: Sequence[Missing]) -> Verdict:
    """A verdict that lacks its inputs says as well where they would be, and which switch of what provides them."""
    facts = missing_of(run, needed) if verdict.status is Status.MISSING_INPUT else ()
    how = told_how(missing, facts) if not run.partial else ""
    return replace(verdict, explanation=f"{verdict.explanation} {how}".strip()) if how else verdict


def _sampled_by(transcript: Transcript, pieces: Surroundings, trace: TraceInput) -> str:
    """What decides whether a trace is in the sample: its session, so that it is judged whole, or the first of the
    traces that its run is spread over.
    """
    first = pieces.before[0].piece.trace_id if pieces.before else trace.trace_id.hex()
    return transcript.session_id or first


def _is_large(trace: TraceInput) -> bool:
    return len(trace.spans) > _LARGE_SPANS or sum(len(span) for _, _, span in trace.spans) > _LARGE_BYTES


def _scored(marks: Marks) -> frozenset[tuple[str, str]]:
    return frozenset(key for key, before in marks.items() if before.status == Status.OK)


def _moved(evaluator: Evaluator[Any]) -> Verdict:
    return Verdict(
        evaluator=evaluator.name,
        level=evaluator.level,
        status=Status.NOT_APPLICABLE,
        explanation="What was judged here before has a span of its own, which came later: its verdict stands there.",
        revision=evaluator.revision(),
    )


async def _giving_way(items: Iterable[ItemT]) -> AsyncIterator[ItemT]:
    """The items; after some of them other traces have their turn, so that a huge one doesn't starve them."""
    for place, item in enumerate(items):
        if place % _AT_A_TIME == _AT_A_TIME - 1:
            await asyncio.sleep(0)
        yield item


_AT_A_TIME = 500
_ROLLED = Mark(0, "", "", "", True, "", None, None)
