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
from collector.holding import settings as assembler_settings
from evaluators.evaluator import Evaluator, EvaluatorSettings
from evaluators.judge.client import OpenAIJudge
from evaluators.judge.report import RequestReport
from evaluators.judge.settings import JudgeSettings, off_reason
from evaluators.python_class import LoadError, PythonSettings
from evaluators.registry import create_evaluator
from processors.admission import Admission
from processors.admission_settings import AdmissionSettings
from processors.judging import TraceJudge
from processors.otlp import Log, Span
from processors.pieces import MAX_BYTES, Pieces
from processors.reading.rejoining import Rejoin
from processors.reading.transcribe import transcribe
from processors.scores import Emission
from processors.transcript import Transcript

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to judge with: evaluators' settings by name, judges' settings by extension id.

    `rejoin` says by what traces that are pieces of one run are judged together: history, session or off.
    `notes` are sentences for the operator about what is off.
    """

    evaluators: dict[str, EvaluatorSettings]
    judges: dict[str, JudgeSettings] = field(default_factory=dict)
    emission: Emission = field(default_factory=Emission)
    admission: AdmissionSettings = field(default_factory=AdmissionSettings)
    rejoin: str = "history"
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
    assemble = config.processor("assemble")
    settings = assembler_settings.Settings() if assemble is None else assemble.settings_as(assembler_settings.Settings)
    return Plan(
        evaluators=evaluators,
        judges=judges,
        emission=Emission(emit_unscored=settings.emit_unscored, span_events=settings.span_events),
        admission=AdmissionSettings() if admission is None else admission.settings_as(AdmissionSettings),
        rejoin=settings.rejoin,
        notes=tuple(notes),
    )


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


def build(
    plan: Plan,
    on_request: Callable[[str, RequestReport], None] = lambda *_: None,
    max_piece_bytes: int | None = MAX_BYTES,
) -> tuple[TraceJudge, list[OpenAIJudge]]:
    """The judge of traces that a plan describes, and the model clients that have to be closed in the end.

    Args:
        plan: what to judge with.
        on_request: told about every request to a judge, with the judge's id.
        max_piece_bytes: how much is remembered of traces that are pieces of a run, None for no limit.
    """
    clients = {
        judge_id: OpenAIJudge(settings, partial(on_request, judge_id)) for judge_id, settings in plan.judges.items()
    }
    evaluators = make_evaluators(plan)
    pieces = Pieces(Rejoin(plan.rejoin), max_piece_bytes)
    return TraceJudge(
        evaluators, clients, plan.emission, read=_read, pieces=pieces, admission=Admission(plan.admission)
    ), list(clients.values())


def _read(spans: Sequence[Span], logs: Sequence[Log]) -> Transcript:
    return transcribe(spans[0].trace_id if spans else "", spans, logs)


@asynccontextmanager
async def configured_judging(plan: Plan) -> AsyncIterator[TraceJudge]:
    """The judge of saved traces that a plan describes, for as long as it is used."""
    # What is judged is in memory anyhow: to remember it costs nothing.
    judge, clients = build(plan, max_piece_bytes=None)
    try:
        yield judge
    finally:
        for client in clients:
            await client.close()
