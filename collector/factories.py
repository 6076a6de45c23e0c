"""Configured components → what runs: exporters with their queues and dead letters, and the journal.

Nothing is started here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from collector.config import Component, Config
from collector.exporters import console, file, otlp_grpc, otlp_http
from collector.exporters.attempts import Refused
from collector.exporters.dead_letters import DeadLetterFile
from collector.exporters.queue import SendingQueue
from collector.exporters.sender import Sender
from collector.exporters.settings import MIB, QueuedExporterSettings, QueueSettings, RetrySettings
from collector.holding.store import MemoryStore
from collector.journal import Journal, JournalSettings
from collector.records import Parcel
from collector.telemetry import ExporterMetrics


def make_queue(
    component: Component,
    parcels: MemoryStore[Parcel],
    letters: DeadLetterFile,
    metrics: ExporterMetrics,
    journal: Journal | None,
    refused: Refused,
) -> SendingQueue:
    """The queue in front of an exporter, with the exporter at its end."""
    settings = component.settings
    queue, retry = QueueSettings(), RetrySettings()
    if isinstance(settings, QueuedExporterSettings):
        queue, retry = settings.sending_queue, settings.retry_on_failure
    done = _nobody if journal is None else partial(journal.done, component.id)
    return SendingQueue(
        component.id,
        make_sender(component),
        parcels,
        queue,
        retry,
        letters,
        metrics,
        done=done,
        presses=lambda: journal is not None and journal.pressed_by() == component.id,
        bounded=journal is None,
        refused=refused,
    )


def make_journal(settings: JournalSettings, config: Config, wrote: Callable[[float], None]) -> Journal | None:
    """The journal of a configuration; None if nothing is to be kept on disk.

    `wrote` is told, in another thread, how many seconds each writing took.
    """
    if settings.durability == "memory":
        return None
    return Journal(settings, {signal: pipeline.exporters for signal, pipeline in config.pipelines.items()}, wrote)


def make_dead_letters(component: Component) -> DeadLetterFile:
    """The file for what an exporter's destination can't take."""
    settings = component.settings
    path = Path(f"spanjudge-dead-letters-{component.id.replace('/', '-')}.jsonl")
    if not isinstance(settings, QueuedExporterSettings):
        return DeadLetterFile(path, component.id)
    max_size_bytes = settings.dead_letter_max_size_mib * MIB
    return DeadLetterFile(settings.dead_letter_file or path, component.id, max_size_bytes)


def _nobody(_: int) -> None:
    """Told what is done where there is no journal."""


def make_sender(component: Component) -> Sender:
    """What makes the attempts of an exporter."""
    settings = component.settings
    if isinstance(settings, otlp_grpc.OtlpGrpcSettings):
        return otlp_grpc.OtlpGrpcSender(component.id, settings)
    if isinstance(settings, otlp_http.OtlpHttpSettings):
        return otlp_http.OtlpHttpSender(component.id, settings)
    if isinstance(settings, file.FileSettings):
        return file.FileSender(component.id, settings)
    if isinstance(settings, console.Settings):
        return console.ConsoleSender(settings)
    raise TypeError(f"there is no sender for {component.id}")
