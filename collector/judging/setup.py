"""What to judge with, as a configuration says, and the judge of traces that comes of it.

The same for the live sidecar (whose judging process gets a `Plan` over a pipe), for `replay` and for `evaluate`.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from collector.config import Config
from collector.config.telemetry_settings import LogSettings, TraceSettings
from collector.control.settings import control_settings_of
from collector.holding import settings as assembler_settings
from collector.judging.sources import without_sources
from evaluators.calibration.record import Calibration
from evaluators.calibration.settings import CalibrationSettings
from evaluators.cases import CaseKind
from evaluators.escalation import EscalatingJudge
from evaluators.evaluator import Evaluator, EvaluatorSettings
from evaluators.judge.client import OpenAIJudge
from evaluators.judge.limits.gate import Gates
from evaluators.judge.question import Judge
from evaluators.judge.report import QuestionsReport, RequestReport, SpendingReport
from evaluators.judge.settings import JudgeSettings, off_reason
from evaluators.python_class import LoadError, PythonSettings
from evaluators.reference.lookup import References
from evaluators.reference.metric import ReferenceMetric
from evaluators.registry import EVALUATORS, create_evaluator
from processors import sessions
from processors.admission import Admission
from processors.admission_settings import AdmissionSettings
from processors.judging import TraceJudge
from processors.otlp import Log, Span, decode_log, decode_span
from processors.pieces import MAX_BYTES, Pieces
from processors.reading.rejoining import Rejoin
from processors.reading.transcribe import transcribe
from processors.reference_settings import ReferencesSettings
from processors.references import RunReferences
from processors.session_judging import SessionJudge
from processors.sessions import Sessions
from processors.transcript import Transcript
from processors.verdicts.scores import Emission
from processors.verdicts.telling import Raw

_log = logging.getLogger(__name__)
_ADD_REFERENCES = "add the processor references before it, with a file of references or from_attributes: true"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to judge with: evaluators' settings by name, judges' settings by extension id.

    `rejoin` says by what traces that are pieces of one run are judged together: history, session or off.
    `references` say where it is known from what should have come of runs; None where nobody knows.
    `calibration` knows which judges agree with people; without it nobody looks.
    `session_idle_s` is how long nothing must have come of a session for it to be over.
    `traces` say where the judges' own traces go, with `resource` as further attributes of their resource, and `logs`
    how the judging process logs.
    `show_content` lets the record of what became of traces have texts that quote them.
    `notes` are sentences for the operator about what is off.
    """

    evaluators: dict[str, EvaluatorSettings]
    judges: dict[str, JudgeSettings] = field(default_factory=dict)
    emission: Emission = field(default_factory=Emission)
    admission: AdmissionSettings = field(default_factory=AdmissionSettings)
    rejoin: str = "history"
    session_idle_s: float = 1800.0
    references: ReferencesSettings | None = None
    calibration: Calibration | None = None
    traces: TraceSettings = field(default_factory=TraceSettings)
    resource: dict[str, str] = field(default_factory=dict)
    logs: LogSettings = field(default_factory=LogSettings)
    show_content: bool = False
    notes: tuple[str, ...] = ()


def plan_of(config: Config) -> Plan:
    """The plan that a configuration describes. A judge that can't work as it is configured is off, with a note."""
    judges: dict[str, JudgeSettings] = {}
    notes: list[str] = []
    for component in config.extensions.values():
        if isinstance(component.settings, JudgeSettings):
            reason = off_reason(component.id, component.settings)
            if reason is None:
                judges[component.id] = component.settings
            else:
                notes.append(reason)
    evaluators = {
        component.name: component.settings
        for component in config.processors.values()
        if isinstance(component.settings, EvaluatorSettings)
    }
    admission = config.processor("admission")
    references = config.processor("references")
    if references is None:
        notes += [
            f"{name} compares with a reference, and there is none; {_ADD_REFERENCES}"
            for name in evaluators
            if compares(name)
        ]
    notes += without_sources(evaluators)
    calibration = config.extension("calibration")
    assemble = config.processor("assemble")
    settings = assembler_settings.Settings() if assemble is None else assemble.settings_as(assembler_settings.Settings)
    return Plan(
        evaluators=evaluators,
        judges=judges,
        emission=Emission(emit_unscored=settings.emit_unscored, span_events=settings.span_events),
        admission=AdmissionSettings() if admission is None else admission.settings_as(AdmissionSettings),
        rejoin=settings.rejoin,
        session_idle_s=settings.session_idle,
        references=None if references is None else references.settings_as(ReferencesSettings),
        calibration=None if calibration is None else calibration.settings_as(CalibrationSettings).calibration,
        traces=config.telemetry.traces,
        resource=config.telemetry.resource,
        logs=config.telemetry.logs,
        show_content=control_settings_of(config).show_content,
        notes=tuple(notes),
    )


def compares(evaluator: str) -> bool:
    """Whether an evaluator holds runs against a reference."""
    entry = EVALUATORS.get(evaluator)
    return entry is not None and issubclass(entry.evaluator_type, ReferenceMetric)


def class_settings(config: Config) -> dict[str, PythonSettings]:
    """The settings of evaluators that are Python classes, by component id."""
    return {
        component.id: component.settings
        for component in config.processors.values()
        if isinstance(component.settings, PythonSettings)
    }


def class_faults(settings: Mapping[str, PythonSettings]) -> dict[str, str]:
    """What is wrong with the classes that such settings name, `what; remedy` by component id. Loads them."""
    faults: dict[str, str] = {}
    for component_id, own in settings.items():
        try:
            create_evaluator(component_id.partition("/")[2], own)
        except LoadError as error:
            faults[component_id] = str(error)
    return faults


def make_evaluators(plan: Plan) -> list[Evaluator[Any]]:
    """The evaluators of a plan. One whose class can't be loaded is left out, and the log says so.

    Whoever configures one is told before anything starts; here its package has changed since.
    """
    made: list[Evaluator[Any]] = []
    for name, settings in plan.evaluators.items():
        try:
            made.append(create_evaluator(name, settings))
        except LoadError as error:
            _log.error("the evaluator %s is off: %s", name, error)
    return made


def make_judges(
    plan: Plan,
    on_request: Callable[[str, RequestReport], str | None] = lambda *_: None,
    on_report: Callable[[str, QuestionsReport | SpendingReport], None] = lambda *_: None,
    *,
    patient: bool = False,
) -> dict[str, OpenAIJudge]:
    """The model clients that a plan describes, by the judges' ids; see `build`. Those of one endpoint share limits."""
    gates = Gates(plan.judges.values(), unbounded=patient)
    return {
        judge_id: OpenAIJudge(
            settings,
            partial(on_request, judge_id),
            on_report=partial(on_report, judge_id),
            name=judge_id,
            gates=gates,
            patient=patient,
        )
        for judge_id, settings in plan.judges.items()
    }


def build(
    plan: Plan,
    on_request: Callable[[str, RequestReport], str | None] = lambda *_: None,
    on_report: Callable[[str, QuestionsReport | SpendingReport], None] = lambda *_: None,
    *,
    max_piece_bytes: int | None = MAX_BYTES,
    max_session_bytes: int | None = sessions.MAX_BYTES,
    patient: bool = False,
) -> tuple[TraceJudge, list[OpenAIJudge]]:
    """The judge of traces that a plan describes, and the model clients that have to be closed in the end.

    Args:
        plan: what to judge with.
        on_request: told about every request to a judge, with the judge's id; returns the id of the trace in which it
            recorded the request, if it did.
        on_report: told what came of questions and what was spent, with the judge's id.
        patient: nobody waits for verdicts, as with saved traces; see `OpenAIJudge`.
        max_piece_bytes: how much is remembered of traces that are pieces of a run, None for no limit.
        max_session_bytes: how much is remembered of sessions.
    """
    clients = make_judges(plan, on_request, on_report, patient=patient)
    return trace_judge(plan, escalating(plan, clients), max_piece_bytes, max_session_bytes), list(clients.values())


def escalating(plan: Plan, judges: Mapping[str, Judge]) -> dict[str, Judge]:
    """The judges by id, each with the one that comes after it, if there is one that can be asked."""

    def with_next(judge_id: str) -> Judge:
        settings = plan.judges[judge_id]
        if settings.escalate_to is None or settings.escalate_to not in judges:
            return judges[judge_id]
        return EscalatingJudge(judges[judge_id], with_next(settings.escalate_to), settings.escalate_below)

    return {judge_id: with_next(judge_id) for judge_id in judges}


def trace_judge(
    plan: Plan,
    judges: Mapping[str, Judge],
    max_piece_bytes: int | None = None,
    max_session_bytes: int | None = None,
) -> TraceJudge:
    """The judge of traces that a plan describes, with these judges by id; for the limits see `build`."""
    evaluators = make_evaluators(plan)
    of_sessions = [one for one in evaluators if one.judges is CaseKind.SESSION]
    admission, references = Admission(plan.admission), references_of(plan)
    return TraceJudge(
        [one for one in evaluators if one.judges is not CaseKind.SESSION],
        judges,
        plan.emission,
        read=_read,
        pieces=Pieces(Rejoin(plan.rejoin), max_piece_bytes),
        admission=admission,
        calibration=plan.calibration,
        references=references,
        sessions=SessionJudge(
            of_sessions,
            judges,
            Sessions(plan.session_idle_s, max_session_bytes),
            plan.emission,
            admission,
            plan.calibration,
            references,
        ),
    )


def references_of(plan: Plan) -> RunReferences | None:
    """Who knows what should have come of runs."""
    if plan.references is None:
        return None
    return RunReferences(References(plan.references.entries), from_attributes=plan.references.from_attributes)


def _read(spans: Sequence[Span], logs: Sequence[Log]) -> Transcript:
    return transcribe(spans[0].trace_id if spans else "", spans, logs)


def transcript_of(spans: Sequence[Raw], logs: Sequence[Raw]) -> Transcript:
    """What the serialised spans and log records of one trace tell by themselves."""
    return _read([decode_span(*raw) for raw in spans], [decode_log(*raw) for raw in logs])


@asynccontextmanager
async def configured_judging(plan: Plan) -> AsyncIterator[TraceJudge]:
    """The judge of saved traces that a plan describes, for as long as it is used."""
    # What is judged is in memory anyhow: to remember it costs nothing.
    judge, clients = build(plan, max_piece_bytes=None, max_session_bytes=None, patient=True)
    try:
        yield judge
    finally:
        for client in clients:
            await client.close()
