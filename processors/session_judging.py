"""Sessions judged when they are over: the runs of a session as one case, the verdict on a span of its own.

In: runs of traces that were judged.  Out: for each session that is over its verdicts, as evaluation spans below the
session's last run.  The run's own span has long left by then.  A session that goes on after it was judged is judged
again with all of its runs, as long as they are remembered.  Where a judge gave no answer it is asked once more later:
nobody waits for a session, and an endpoint that is down may be back by then.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evaluators.calibration.record import Calibration
from evaluators.cases import JsonValue, Reference, Run
from evaluators.evaluation import Item, evaluate
from evaluators.evaluator import Evaluator
from evaluators.judge.question import Judge
from evaluators.sessions import session_case
from evaluators.status import UNANSWERED
from evaluators.verdict import Verdict
from processors.admission import Admission, Subject
from processors.otlp import Span
from processors.references import RunReferences
from processors.sessions import Session, SessionRun, Sessions, Told
from processors.trace_jobs import Route, TraceInput
from processors.verdicts.marks import outcome_of
from processors.verdicts.scores import Emission, EvaluationSpan, Target, evaluation_span, evaluation_span_id, is_told
from processors.verdicts.telling import PlacedVerdict, Raw

_log = logging.getLogger(__name__)
_LONGEST_VALUE = 256
_AT_ONCE = 16
"""So many sessions are judged at a time: their runs are unpacked, and a judge's line is for others too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionScores:
    """What came of a session.

    `verdicts` are all of them, `spans` those that are told, `route` is that of the trace of its last run.
    """

    verdicts: tuple[PlacedVerdict, ...]
    spans: tuple[EvaluationSpan, ...]
    route: Route


class SessionJudge:
    """Judges sessions with a fixed set of evaluators.

    Args:
        evaluators: those of sessions that are configured.
        judges: by the id that evaluators' settings name.
        sessions: what is remembered.
        emission: what is written besides scores.
        admission: what is judged, and about which of it a judge is asked.
        calibration: which judges are known to agree with people; without it nobody looks.
        references: what is known from outside of runs and sessions, by the session's id or the last run's attributes.
    """

    def __init__(
        self,
        evaluators: Iterable[Evaluator[Any]],
        judges: Mapping[str, Judge],
        sessions: Sessions,
        emission: Emission,
        admission: Admission,
        calibration: Calibration | None = None,
        references: RunReferences | None = None,
    ) -> None:
        self._evaluators = {evaluator.name: evaluator for evaluator in evaluators}
        self._judges = judges
        self._sessions = sessions
        self._emission = emission
        self._admission = admission
        self._calibration = calibration
        self._references = references
        self._places = asyncio.Semaphore(_AT_ONCE)

    def remember(
        self,
        session_id: str | None,
        runs: Sequence[Run],
        spans: Mapping[str, tuple[Raw, Span]],
        trace: TraceInput,
        instead_of: Iterable[bytes],
    ) -> None:
        """Take note of the runs of a trace that was judged as complete.

        Args:
            session_id: of the trace; without one it belongs to no session.
            runs: those whose spans are of this trace.
            spans: the trace's by id (lower-case hex).
            trace: as it came.
            instead_of: ids of other traces that these runs go on from.
        """
        if not self._evaluators or session_id is None:
            return
        kept = [
            SessionRun(run=run, trace_id=trace.trace_id, span=_bare(span), resource=resource, route=trace.route)
            for run in runs
            if run.ref is not None
            for (resource, _, _), span in (spans[run.ref],)
        ]
        if kept:
            self._sessions.remember(session_id, kept, trace.arrived_s, instead_of=instead_of)

    async def judge_over(
        self, now_s: float | None, on_scores: Callable[[SessionScores], None] = lambda _: None
    ) -> list[SessionScores]:
        """The scores of all sessions that are over at `now_s`, or with None of all that there are.

        Args:
            now_s: the time, on the clock of `TraceInput.arrived_s`.
            on_scores: given the scores of each session as soon as there are any; a slow judge may take its time with
                others.
        """
        sessions = self._sessions.all() if now_s is None else self._sessions.over(now_s)
        given = await asyncio.gather(*(self._in_turn(session, now_s, on_scores) for session in sessions))
        return [scores for scores in given if scores is not None]

    async def _in_turn(
        self, session: Session, now_s: float | None, on_scores: Callable[[SessionScores], None]
    ) -> SessionScores | None:
        async with self._places:
            scores = await self._guarded(session)
        verdicts = [placed.verdict for placed in scores.verdicts] if scores is not None else []
        unanswered = {verdict.evaluator for verdict in verdicts if verdict.status in UNANSWERED}
        self._sessions.done(session, unanswered, now_s)
        if scores is not None:
            on_scores(scores)
        return scores

    async def _guarded(self, session: Session) -> SessionScores | None:
        try:
            return await self._judge(session)
        except Exception as error:
            # As for traces: one session must not end the judging of all others, and nothing of it may be told.
            frame = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{Path(frame.filename).name}:{frame.lineno} ({frame.name})"
            _log.error("a session is left unscored: %s in %s", type(error).__name__, place)
            return None

    async def _judge(self, session: Session) -> SessionScores:
        runs = session.runs()
        last = runs[-1]
        case = session_case([one.run for one in runs], self._reference(session, last))
        subject = Subject(case, last.span)
        items = [
            Item(
                evaluator=evaluator,
                case=case,
                judge=self._judges.get(evaluator.settings.judge or ""),
                excluded=self._admission.excluded(name, subject),
                declines=self._declining(name, subject, session.session_id),
            )
            for name, evaluator in self._evaluators.items()
            if not session.unanswered or name in session.unanswered
        ]
        verdicts = [self._finished(verdict, runs) for verdict in await evaluate(items)]
        spans = [span for verdict in verdicts if (span := self._told(session, last, verdict)) is not None]
        return SessionScores(
            verdicts=tuple(_placed(session, last, verdict) for verdict in verdicts),
            spans=tuple(spans),
            route=last.route,
        )

    def _reference(self, session: Session, last: SessionRun) -> Reference | None:
        if self._references is None:
            return None
        of_session = replace(last.run, session_id=session.session_id, ref=last.span.span_id)
        return self._references.find(of_session, {last.span.span_id: last.span})

    def _declining(self, name: str, subject: Subject, key: str) -> Callable[[Any], str | None]:
        return lambda screening: self._admission.declined(name, subject, screening, key)

    def _finished(self, verdict: Verdict, runs: Sequence[SessionRun]) -> Verdict:
        # Spans of other traces can't be found by their ids alone.
        here = {turn.ref for turn in runs[-1].run.turns} | {call.ref for call in runs[-1].run.calls}
        here |= {runs[-1].run.ref}
        verdict = verdict if self._calibration is None else self._calibration.marked(verdict)
        return replace(verdict, evidence=tuple(ref for ref in verdict.evidence if ref in here))

    def _told(self, session: Session, last: SessionRun, verdict: Verdict) -> EvaluationSpan | None:
        """The span that tells a verdict, unless there is nothing new in it."""
        before = session.told.get(verdict.evaluator)
        same_place = before is not None and before.span_id == last.span.span_id
        if same_place and before is not None and before.outcome == outcome_of(verdict):
            return None
        if not (is_told(verdict, self._emission) or same_place):
            return None
        sequence = before.sequence + 1 if same_place and before is not None else 0
        target = Target(
            trace_id=last.trace_id,
            span_id=bytes.fromhex(last.span.span_id),
            end_unix_nano=last.span.end_ns or last.span.start_ns,
            resource=last.resource,
        )
        superseded = None
        if same_place and before is not None:
            superseded = evaluation_span_id(
                target.trace_id, target.span_id, verdict.evaluator, before.revision, before.sequence
            )
        session.told[verdict.evaluator] = Told(last.span.span_id, verdict.revision, sequence, outcome_of(verdict))
        return evaluation_span(target, verdict, sequence, superseded, session_id=session.session_id)


def _placed(session: Session, last: SessionRun, verdict: Verdict) -> PlacedVerdict:
    return PlacedVerdict(
        trace_id=last.trace_id.hex(),
        span_id=last.span.span_id,
        span_name=last.span.name,
        session_id=session.session_id,
        sequence=0,
        verdict=verdict,
    )


def _bare(span: Span) -> Span:
    """The span without its content: what filters and an evaluation of it have to know."""
    short = {key: value for key, value in span.attributes.items() if _is_short(value)}
    return replace(span, attributes=short, events=(), links=())


def _is_short(value: JsonValue) -> bool:
    return len(value) <= _LONGEST_VALUE if isinstance(value, str) else not isinstance(value, list | dict)
