"""The running sidecar: everything built from a configuration, started and stopped in order.

Started: exporters, judging, receivers, so that nothing is taken before it can go anywhere.  Stopped the other way
round, but receivers stay open until what is held has left, so that an agent that ends at the same time can still send.
In between it can become what another configuration says, without giving up anything that it holds.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from collector import own_gauges, process_memory, wire
from collector.accounts.accounts import Accounts
from collector.accounts.inquiry import Inquiry, Way
from collector.config import Config
from collector.control.endpoint import Control
from collector.control.settings import control_settings_of
from collector.destinations import Destinations
from collector.dispatch import Destination, Dispatch, WrittenDown
from collector.exposure import exposures
from collector.factories import make_journal
from collector.health import Health
from collector.holding import settings as assembler_settings
from collector.holding.assembler import Assembler
from collector.holding.ledger import Ledger
from collector.holding.ledger_file import FILE_NAME as LEDGER_FILE_NAME
from collector.holding.ledger_file import LedgerFile
from collector.holding.live_trace import Chunk
from collector.holding.store import Budget, MemoryStore
from collector.journal import Journal, JournalSettings, Recovered
from collector.journal.inspection import left_over
from collector.judging.counting import Counting
from collector.judging.desk import JudgingDesk
from collector.judging.jobs import JobSource, Judged
from collector.judging.process import JudgingProcess
from collector.judging.setup import class_settings, plan_of
from collector.logs import RateLimited, set_up_logging, tell_of_unhandled
from collector.overview import overview
from collector.own_metrics import OwnMetrics
from collector.pipeline import Pipeline, Reading
from collector.receiving import Receiving
from collector.records import LogRecord, Parcel, Signal
from collector.reloading import Reloaded, Reloading, needs_restart
from collector.rereading import Rereader
from collector.restoring import Restoring
from collector.terminal import HangUp, Terminal
from processors.conventions.wanted import wants, wants_log
from processors.verdicts.scores import late_mark

logger = logging.getLogger(__name__)
_often = RateLimited(logger)

# How long stopping may take: first for verdicts that are under way, then for delivery.
JUDGING_GRACE_S = 3.0
DELIVERY_GRACE_S = 10.0
METRICS_GRACE_S = 1.0
# An agent that is told to end at the same time may still send; it has stopped when nothing has come for so long.
FLUSH_GRACE_S = 0.5
_LONGEST_TICK_S = 1.0
# What falls due within this time is done together: every turn of the clock costs as much as a trace.
_SHORTEST_TICK_S = 0.1
_MIB = 1 << 20


class Service:
    """One sidecar. Start it, wait, stop it; it can't be started twice.

    Args:
        config: a checked configuration.
        reread: reads and checks the configuration again; raises ConfigError.
    """

    def __init__(self, config: Config, reread: Callable[[], Config] | None = None) -> None:
        self._config = self._started_with = config
        self._own_metrics = OwnMetrics(config.telemetry.metrics, config.telemetry.resource)
        self._telemetry = self._own_metrics.telemetry
        self._accounts = Accounts()
        timing = _timing_of(config)
        self._budget = Budget(timing.limit_mib * _MIB)
        self._parcels: MemoryStore[Parcel] = MemoryStore(self._budget)
        self._journal = make_journal(_journal_settings(config), config, self._telemetry.journal_wrote)
        self._destinations = Destinations(
            config, self._parcels, self._telemetry, self._journal, self._refused_by, self._lead_elsewhere
        )
        origins = wire.Origins()
        self._rereader = None if self._journal is None else Rereader(self._journal, origins)
        written = None
        if self._journal is not None and self._rereader is not None:
            written = WrittenDown(self._journal, self._rereader)
        self._dispatch = Dispatch(self._parcels, self._budget, written, _call_later)
        self._pipeline = Pipeline(
            self._destinations.by_signal(config),
            self._dispatch,
            self._budget,
            self._telemetry,
            origins,
            time.monotonic,
            self._journal,
            accounts=self._accounts,
        )
        self._plan = plan_of(config)
        self._counting = Counting(self._telemetry)
        self._desk: JudgingDesk | None = None
        self._ledger_file: LedgerFile | None = None
        self._assembler: Assembler | None = None
        self._tick_s = self._pause_s = _LONGEST_TICK_S
        self._trimming = process_memory.Trimming()
        if config.processor("assemble") is not None:
            self._attach_judging(timing)
        self._receiving = Receiving(config, self._pipeline)
        self._health = Health(config, self._pipeline.is_crowded)
        self._reloading = Reloading(
            reread, self._become, (self._own_metrics, self._health, self._destinations, self._receiving), config
        )
        inquiry = Inquiry(self._accounts, self._assembler, self._place_of_job, self._ways_of_traces, self._parcels.read)
        self._control = Control(
            control_settings_of(config),
            inquiry.explain,
            self._reloading.answer,
            declared=config.extension("control") is not None,
        )
        self._ticker: asyncio.Task[None] | None = None
        self._exposures = tuple(exposures(config))
        self._journal_is_open = False
        own_gauges.observe(
            self._telemetry,
            exposed_addresses=lambda: len(self._exposures),
            budget=self._budget,
            pending=self._pending,
            journal=lambda: self._journal.stats() if self._journal is not None and self._journal_is_open else None,
            assembler=self._assembler,
            judging=lambda: () if self._desk is None else self._desk.pids(),
        )

    async def run(self) -> None:
        """Work until SIGTERM, SIGINT or the end of the terminal, then stop in order. SIGHUP otherwise reloads.

        Raises:
            collector.start_error.StartError: an address can't be listened on, or a file can't be written.
        """
        stop = asyncio.Event()
        terminal = Terminal()
        reloads: set[asyncio.Task[Reloaded]] = set()

        def hang_up() -> None:
            match terminal.hang_up():
                case HangUp.STOP:
                    stop.set()
                case HangUp.RELOAD:
                    task = asyncio.create_task(self._reloading.reload_and_log())
                    reloads.add(task)
                    task.add_done_callback(reloads.discard)
                case HangUp.NOTHING:
                    pass

        loop = asyncio.get_running_loop()
        loop.set_exception_handler(tell_of_unhandled)
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.set)
        loop.add_signal_handler(signal.SIGHUP, hang_up)
        try:
            await self.start()
            await stop.wait()
            logger.info("stopping: what is held is judged by rules and sent on")
        finally:
            # Ctrl-C once more ends the process at once, as the operator then evidently wants.  SIGTERM doesn't: it may
            # well come twice, from whoever ends a group of processes and from a parent that passes it on.
            loop.remove_signal_handler(signal.SIGINT)
            await self._reloading.close()
            await self.stop()

    async def start(self) -> None:
        """Start everything."""
        async with self._reloading.put_off():
            await self._start()

    async def _start(self) -> None:
        process_memory.raise_file_limit()
        self._tell_notes()
        await self._own_metrics.start()
        # Before what may take long, so that nobody takes a long start for a dead process.
        await self._health.start()
        recovered = None if self._journal is None else await self._open_journal(self._journal)
        self._journal_is_open = recovered is not None
        if self._journal is None:
            await self._tell_of_what_stays(Path(_journal_settings(self._config).directory))
        if self._ledger_file is not None:
            await asyncio.to_thread(self._ledger_file.load, self._ledger, time.monotonic())
        await self._destinations.start()
        if self._desk is not None:
            await self._desk.start()
            self._ticker = asyncio.create_task(self._keep_time(), name="assembler clock")
        await self._control.start()
        if self._journal is not None and recovered is not None:
            restoring = Restoring(
                self._journal,
                self._pipeline,
                self._dispatch,
                self._destinations.by_name,
                self._telemetry,
            )
            await restoring.restore(recovered)
        await self._receiving.start()
        process_memory.settle()
        self._health.set_ready(True)
        for line in overview(self._config, self._plan, self._receiving.ports):
            logger.info(line)

    @staticmethod
    async def _tell_of_what_stays(directory: Path) -> None:
        for name, debt in (await asyncio.to_thread(left_over, directory)).items():
            logger.warning(
                "%s holds %d items that were not delivered to %s, and nothing reads them with durability: memory; "
                "start it with process or disk to deliver them, or give them up with spanjudge journal forget",
                directory,
                debt.items,
                name,
            )

    def _tell_notes(self) -> None:
        for note in (*self._config.notes, *self._plan.notes):
            logger.info(note)
        for exposure in self._exposures:
            logger.warning(exposure)

    @staticmethod
    async def _open_journal(journal: Journal) -> Recovered:
        recovered = await asyncio.to_thread(journal.open)
        await journal.start()
        return recovered

    async def stop(self) -> None:
        """Stop everything; what can still be delivered is."""
        self._health.set_ready(False)
        await self._finish_judging()
        await self._receiving.stop()
        await self._dispatch.settled()
        await self._destinations.stop(DELIVERY_GRACE_S)
        self._journal_is_open = False
        if self._journal is not None:
            await self._journal.stop()
        await self._control.stop()
        await self._health.stop()
        await self._own_metrics.stop(METRICS_GRACE_S)

    async def _finish_judging(self) -> None:
        """Let what is complete be judged by rules and leave, while agents that end at the same time still send."""
        if self._assembler is not None and self._desk is not None:
            self._desk.wind_down()
            self._assembler.drain(time.monotonic())
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(JUDGING_GRACE_S):
                await self._silence()
                if self._desk is not None:
                    await self._desk.idle()
        if self._ticker is not None:
            self._ticker.cancel()
        if self._assembler is not None and self._desk is not None:
            await self._desk.stop()
            self._assembler.abandon()
        if self._ledger_file is not None:
            await asyncio.to_thread(self._ledger_file.close)

    async def _silence(self) -> None:
        """Wait until no agent seems to send any more."""
        quiet_from_s = time.monotonic()
        while True:
            await asyncio.sleep(quiet_from_s + FLUSH_GRACE_S - time.monotonic())
            if self._pipeline.last_taken_s <= quiet_from_s:
                return
            quiet_from_s = self._pipeline.last_taken_s

    # -- another configuration ---------------------------------------------------------------------------------------

    def _lead_elsewhere(self, destinations: Mapping[Signal, Sequence[Destination]]) -> None:
        self._pipeline.redirect(destinations)
        if self._journal is not None:
            self._journal.destinations_changed(
                {signal: [one.name for one in group] for signal, group in destinations.items()}
            )

    async def _become(self, config: Config) -> tuple[list[str], list[str]]:
        """Take over what can't fail of another configuration: what was changed, and what needs a restart."""
        left = [*needs_restart(self._started_with, config), *self._destinations.needs_restart(config)]
        changed = []
        set_up_logging(config.telemetry.logs)
        if config.telemetry.logs != self._config.telemetry.logs:
            changed.append("service::telemetry::logs was changed")
        plan = plan_of(config)
        if self._desk is not None and self._assembler is not None:
            # The code of other packages' evaluators may have changed, which no setting tells.
            if replace(plan, notes=()) != replace(self._plan, notes=()) or class_settings(config):
                await self._desk.switch(plan)
                changed.append("evaluators and judges: a new judging process works by them")
            timing = _timing_of(config)
            if timing != _timing_of(self._config):
                self._assembler.retime(timing)
                self._budget.limit_bytes = timing.limit_mib * _MIB
                self._set_ticks(timing)
                changed.append("processors::assemble was changed")
        self._plan, self._config = plan, config
        self._exposures = tuple(exposures(config))
        self._tell_notes()
        return changed, left

    def _refused_by(self, exporter: str, signal_: Signal, request: bytes, end: str) -> None:
        if signal_ is not Signal.TRACES:
            return
        records = wire.slice_spans(request, (), wire.Origins()).records
        for trace_id in {record.trace_id for record in records}:
            self._accounts.refused(trace_id, exporter, end)

    # -- how it stands -----------------------------------------------------------------------------------------------

    def _pending(self) -> Mapping[tuple[str, Signal], int]:
        """By exporter and signal, the items that were taken and aren't in its queue yet."""
        found = {}
        for destination, _ in self._destinations.queues():
            name = destination.name
            for kind in Signal:
                items = self._dispatch.on_the_way(name, kind)
                pipeline = self._config.pipelines.get(kind)
                named = pipeline is not None and name in pipeline.exporters
                if kind is Signal.TRACES and named and destination.mode.waits and self._assembler is not None:
                    items += self._assembler.stats().held_spans
                if named or items:
                    found[name, kind] = items
        return found

    # -- who asks ----------------------------------------------------------------------------------------------------

    def _place_of_job(self, trace_id: bytes) -> str | None:
        return None if self._desk is None else self._desk.place_of(trace_id)

    def _ways_of_traces(self) -> Iterable[Way]:
        of_traces = self._config.pipelines[Signal.TRACES].exporters
        return [
            Way(destination.name, destination.mode.waits and destination.name in of_traces, queue.refs)
            for destination, queue in self._destinations.queues()
            if destination.name in of_traces or len(queue)
        ]

    # -- judging -----------------------------------------------------------------------------------------------------

    def _attach_judging(self, timing: assembler_settings.Settings) -> None:
        spans: MemoryStore[Chunk] = MemoryStore(self._budget)
        logs: MemoryStore[LogRecord] = MemoryStore(self._budget)
        self._desk = JudgingDesk(self._plan, self._make_process, self._submitted)
        reread = None if self._rereader is None else self._rereader.records
        if self._journal is not None:
            self._ledger_file = LedgerFile(Path(_journal_settings(self._config).directory) / LEDGER_FILE_NAME)
        self._ledger = Ledger(timing.ledger_max_age, keeper=self._ledger_file)
        self._assembler = Assembler(
            timing, spans, logs, self._pipeline, self._desk, self._accounts, reread, self._ledger
        )
        self._pipeline.attach(self._assembler, Reading(wants, wants_log, late_mark()))
        self._set_ticks(timing)

    def _set_ticks(self, timing: assembler_settings.Settings) -> None:
        self._tick_s = min(_LONGEST_TICK_S, timing.quiet_period / 10)
        self._pause_s = max(min(_SHORTEST_TICK_S, timing.quiet_period / 20), 0.001)

    def _make_process(self, plan: object) -> JudgingProcess:
        return JudgingProcess(
            plan,
            self._judged,
            self._counting.take,
            self._telemetry.traces.judging_restarted,
            self._pipeline.evaluations_apart,
        )

    def _submitted(self, job: JobSource) -> None:
        self._accounts.submitted(job.trace_id, complete=job.complete, partial=job.partial, rules_only=job.rules_only)

    def _judged(self, result: Judged) -> None:
        assert self._assembler is not None
        if result.failure is not None:
            _often.warning("trace left without scores: %s (trace %s)", result.failure, result.trace_id.hex())
        too_late = result.tails.keys() - self._assembler.held(result.trace_id)
        if not result.more:
            self._accounts.answered(result.trace_id, result.told, too_late, result.failure, final=result.final)
        self._assembler.judged(result, time.monotonic())

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


def _timing_of(config: Config) -> assembler_settings.Settings:
    assemble = config.processor("assemble")
    return assembler_settings.Settings() if assemble is None else assemble.settings_as(assembler_settings.Settings)


def _journal_settings(config: Config) -> JournalSettings:
    journal = config.extension("journal")
    return journal.settings_as(JournalSettings) if journal else JournalSettings()


def _call_later(delay_s: float, function: Callable[[], None]) -> None:
    asyncio.get_running_loop().call_later(delay_s, function)
