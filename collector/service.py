"""The running sidecar: everything built from a configuration, started and stopped in order.

Started: exporters, judging, receivers, so that nothing is taken before it can go anywhere.  Stopped the other way
round, but receivers stay open until what is held has left, so that an agent that ends at the same time can still send.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import time
from collections.abc import Callable, Collection, Sequence

from collector import process_memory, wire
from collector.config import Component, Config
from collector.dispatch import Destination, Dispatch, ScoreMode, WrittenDown
from collector.exporters.queue import SendingQueue
from collector.exporters.settings import ExporterSettings
from collector.exposure import exposures
from collector.factories import make_dead_letters, make_journal, make_queue, make_receivers
from collector.health import HealthCheck, HealthCheckSettings
from collector.holding import settings as assembler_settings
from collector.holding.assembler import Assembler
from collector.holding.live_trace import Chunk
from collector.holding.store import Budget, MemoryStore
from collector.journal import Journal, JournalSettings, Recovered
from collector.judging.jobs import (
    AdmissionCount,
    Count,
    Judged,
    LevelCount,
    QuestionCount,
    RequestCount,
    SpendingCount,
    VerdictCount,
)
from collector.judging.process import JudgingProcess
from collector.judging.setup import Plan, plan_of
from collector.logs import RateLimited
from collector.metric_readers import make_readers
from collector.overview import overview
from collector.pipeline import Pipeline, Reading
from collector.records import LogRecord, Parcel, Signal
from collector.rereading import Rereader
from collector.restoring import Restoring
from collector.telemetry import Telemetry
from processors.conventions.wanted import wants, wants_log
from processors.verdicts.scores import late_mark

logger = logging.getLogger(__name__)
_often = RateLimited(logger)

# How long stopping may take: first for verdicts that are under way, then for delivery.
JUDGING_GRACE_S = 3.0
DELIVERY_GRACE_S = 10.0
RECEIVER_GRACE_S = 1.0
_LONGEST_TICK_S = 1.0
# What falls due within this time is done together: every turn of the clock costs as much as a trace.
_SHORTEST_TICK_S = 0.1
NOT_DELIVERED = "not delivered before the sidecar stopped"
_MIB = 1 << 20


class Service:
    """One sidecar. Start it, wait, stop it; it can't be started twice.

    Args:
        config: a checked configuration.
    """

    def __init__(self, config: Config) -> None:
        readers, self._endpoints = make_readers(config.telemetry.metrics)
        self._telemetry = Telemetry(readers, config.telemetry.resource)
        assemble = config.processor("assemble")
        timing = assemble.settings_as(assembler_settings.Settings) if assemble else None
        self._budget = Budget((timing or assembler_settings.Settings()).limit_mib * _MIB)
        self._parcels: MemoryStore[Parcel] = MemoryStore(self._budget)
        self._journal_settings = _journal_settings(config)
        self._journal = make_journal(self._journal_settings, config)
        self._dead_letters = {name: make_dead_letters(component) for name, component in config.exporters.items()}
        self._exporter_metrics = {name: self._telemetry.exporter(name) for name in config.exporters}
        self._queues = {
            name: make_queue(
                component, self._parcels, self._dead_letters[name], self._exporter_metrics[name], self._journal
            )
            for name, component in config.exporters.items()
        }
        self._destinations = {name: self._destination(component) for name, component in config.exporters.items()}
        origins = wire.Origins()
        self._rereader = None if self._journal is None else Rereader(self._journal, origins)
        written = None
        if self._journal is not None and self._rereader is not None:
            written = WrittenDown(self._journal, self._rereader)
        self._dispatch = Dispatch(self._parcels, self._budget, written, _call_later)
        self._pipeline = Pipeline(
            {
                kind: [self._destinations[name] for name in pipeline.exporters]
                for kind, pipeline in config.pipelines.items()
            },
            self._dispatch,
            self._budget,
            self._telemetry,
            origins,
            time.monotonic,
            self._journal,
        )
        self._config = config
        self._plan = plan_of(config)
        self._judges = {judge_id: self._telemetry.judge(judge_id) for judge_id in self._plan.judges}
        self._judging: JudgingProcess | None = None
        self._assembler: Assembler | None = None
        self._tick_s = self._pause_s = _LONGEST_TICK_S
        self._trimming = process_memory.Trimming()
        if timing is not None:
            self._attach_judging(self._plan, timing)
        self._receivers = [
            receiver
            for name, component in config.receivers.items()
            for receiver in make_receivers(component, self._pipeline, _signals_of(name, config))
        ]
        health = config.extension("health_check")
        self._health = HealthCheck(health.settings_as(HealthCheckSettings)) if health else None
        self._ticker: asyncio.Task[None] | None = None
        self._notes = (*config.notes, *self._plan.notes)
        self._exposures = tuple(exposures(config))
        self._telemetry.observe_exposed(lambda: len(self._exposures))

    async def run(self) -> None:
        """Work until SIGTERM, SIGINT or SIGHUP (the terminal was closed), then stop in order.

        Raises:
            collector.start_error.StartError: an address can't be listened on, or a file can't be written.
        """
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            # Whoever starts it under nohup wants it to outlive the terminal.
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
                loop.add_signal_handler(number, stop.set)
        try:
            await self.start()
            await stop.wait()
            logger.info("stopping: what is held is judged by rules and sent on")
        finally:
            # Ctrl-C once more ends the process at once, as the operator then evidently wants.  SIGTERM doesn't: it may
            # well come twice, from whoever ends a group of processes and from a parent that passes it on.
            loop.remove_signal_handler(signal.SIGINT)
            await self.stop()

    async def start(self) -> None:
        """Start everything."""
        process_memory.raise_file_limit()
        for note in self._notes:
            logger.info(note)
        for exposure in self._exposures:
            logger.warning(exposure)
        for endpoint in self._endpoints:
            await endpoint.start()
        recovered = None if self._journal is None else await self._open_journal(self._journal)
        for queue in self._queues.values():
            await queue.start()
        if self._judging is not None:
            await self._judging.start()
            self._ticker = asyncio.create_task(self._keep_time(), name="assembler clock")
        if self._health is not None:
            await self._health.start()
        if self._journal is not None and recovered is not None:
            restoring = Restoring(
                self._journal, self._pipeline, self._dispatch, self._destinations, self._exporter_metrics
            )
            await restoring.restore(recovered)
        for receiver in self._receivers:
            await receiver.start()
        process_memory.settle()
        if self._health is not None:
            self._health.set_ready(True)
        for line in overview(self._config, self._plan, [receiver.port for receiver in self._receivers]):
            logger.info(line)

    @staticmethod
    async def _open_journal(journal: Journal) -> Recovered:
        recovered = await asyncio.to_thread(journal.open)
        await journal.start()
        return recovered

    async def stop(self) -> None:
        """Stop everything; what can still be delivered is."""
        if self._health is not None:
            self._health.set_ready(False)
        await self._finish_judging()
        for receiver in self._receivers:
            await receiver.stop(RECEIVER_GRACE_S)
        await self._dispatch.settled()
        await asyncio.gather(*(self._empty(name, queue) for name, queue in self._queues.items()))
        if self._journal is not None:
            await self._journal.stop()
        if self._health is not None:
            await self._health.stop()
        for endpoint in self._endpoints:
            await endpoint.stop()
        await asyncio.to_thread(self._telemetry.stop, RECEIVER_GRACE_S)

    async def _finish_judging(self) -> None:
        if self._assembler is None or self._judging is None:
            return
        self._judging.wind_down()
        self._assembler.drain(time.monotonic())
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(JUDGING_GRACE_S):
                await self._judging.idle()
        if self._ticker is not None:
            self._ticker.cancel()
        await self._judging.stop()
        self._assembler.abandon()

    async def _empty(self, name: str, queue: SendingQueue) -> None:
        left = await queue.drain(DELIVERY_GRACE_S)
        if not left:
            return
        if self._journal is not None:
            logger.warning(
                "%s: %d requests were not delivered in time; they will be at the next start", name, len(left)
            )
            return
        # Memory ends with the process; a file is the one place left where nothing is lost.
        letters = self._dead_letters[name]
        parcels = [self._parcels.read(ref) for ref in left]
        try:
            await asyncio.to_thread(letters.append_all, parcels, NOT_DELIVERED)
        except OSError as error:
            logger.error("%s: can't write %s (%s): what was not delivered is lost", name, letters.path, error.strerror)
        else:
            logger.warning("%s: %d requests were not delivered in time and are in %s", name, len(left), letters.path)

    # -- judging -----------------------------------------------------------------------------------------------------

    def _attach_judging(self, plan: Plan, timing: assembler_settings.Settings) -> None:
        spans: MemoryStore[Chunk] = MemoryStore(self._budget)
        logs: MemoryStore[LogRecord] = MemoryStore(self._budget)
        judging = self._judging = JudgingProcess(
            plan,
            self._judged,
            self._counted,
            self._telemetry.traces.judging_restarted,
            self._pipeline.evaluations_apart,
        )
        reread = None if self._rereader is None else self._rereader.records
        assembler = self._assembler = Assembler(timing, spans, logs, self._pipeline, judging, reread=reread)
        self._pipeline.attach(assembler, Reading(wants, wants_log, late_mark()))
        self._tick_s = min(_LONGEST_TICK_S, timing.quiet_period / 10)
        self._pause_s = max(min(_SHORTEST_TICK_S, timing.quiet_period / 20), 0.001)
        self._telemetry.traces.observe_held(
            lambda: assembler.stats().held_spans,
            lambda: self._budget.used_bytes,
            lambda: assembler.stats().traces,
        )

    def _judged(self, result: Judged) -> None:
        assert self._assembler is not None
        if result.failure is not None:
            _often.warning("trace left without scores: %s (trace %s)", result.failure, result.trace_id.hex())
        self._assembler.judged(result, time.monotonic())

    def _counted(self, counts: Sequence[Count]) -> None:
        for count in counts:
            match count:
                case VerdictCount():
                    self._telemetry.traces.judged(*count)
                case AdmissionCount():
                    self._telemetry.traces.admitted(*count)
                case RequestCount(judge=judge):
                    self._judges[judge].request(count.outcome, count.duration_s)
                    self._judges[judge].tokens(count.tokens_read, count.tokens_written)
                    if count.problem:
                        _often.warning("%s: a request failed: %s", judge, count.problem)
                    if count.learnt:
                        logger.info("%s: the endpoint is asked in another way from now on: %s", judge, count.learnt)
                case QuestionCount(judge=judge):
                    self._judges[judge].asked(count.asked, count.questions)
                    if count.problem:
                        _often.warning("%s: questions without an answer: %s", judge, count.problem)
                case SpendingCount(judge=judge):
                    self._judges[judge].spent(count.tokens, count.money, estimated=count.estimated)
                case LevelCount(judge=judge):
                    self._judges[judge].stands(*count[1:])

    async def _keep_time(self) -> None:
        assert self._assembler is not None
        while True:
            try:
                self._assembler.tick(time.monotonic())
            except Exception:
                # The clock must go on for all other traces.
                logger.exception("a trace could not be processed")
            self._trimming.look(self._budget.used_bytes, time.monotonic())
            due_s = self._assembler.next_due_s()
            wait_s = self._tick_s if due_s is None else min(self._tick_s, max(due_s - time.monotonic(), 0.0))
            await asyncio.sleep(max(wait_s, self._pause_s))

    def _destination(self, component: Component) -> Destination:
        settings = component.settings_as(ExporterSettings)
        return Destination(component.id, ScoreMode(settings.scores), self._queues[component.id])


def _journal_settings(config: Config) -> JournalSettings:
    journal = config.extension("journal")
    return journal.settings_as(JournalSettings) if journal else JournalSettings()


def _signals_of(receiver: str, config: Config) -> Collection[Signal]:
    return [signal for signal, pipeline in config.pipelines.items() if receiver in pipeline.receivers]


def _call_later(delay_s: float, function: Callable[[], None]) -> None:
    asyncio.get_running_loop().call_later(delay_s, function)
