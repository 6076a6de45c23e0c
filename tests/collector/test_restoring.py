"""What a process before this one acknowledged and didn't deliver is taken back: with a real journal and assembler."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from collector.dispatch import Destination, Dispatch, ScoreMode, WrittenDown
from collector.holding.assembler import Assembler
from collector.holding.settings import Settings
from collector.holding.store import Budget, MemoryStore
from collector.journal import ArrivalEntry, Journal, Recovered, place_of
from collector.judging.jobs import Job, JobSource, joined
from collector.pipeline import Pipeline, Reading
from collector.records import Parcel, Signal
from collector.rereading import Rereader
from collector.restoring import Restoring
from collector.telemetry import Telemetry
from collector.wire import Origins
from tests.collector.journal.entries_made import A, B, arrival, whole
from tests.collector.journal.running import freeze, keep, opened
from tests.collector.otlp_samples import logs_request, request, span
from tests.collector.test_pipeline import Shelf

REQUEST = request(*(span(f"span {at}", span_id=bytes([at + 1]) * 8) for at in range(3)))


class Sidecar:
    """What is around a journal that was just opened, as far as it takes back what is owed."""

    def __init__(
        self,
        journal: Journal,
        modes: Mapping[str, ScoreMode],
        pipelines: Mapping[Signal, Sequence[str]],
        wants_span: Callable[[bytes, bytes], bool] = lambda *_: True,
    ) -> None:
        self.jobs: list[Job] = []
        self.now_s = 0.0
        self._journal = journal
        self._telemetry = Telemetry([])
        budget = Budget(1 << 30)
        parcels: MemoryStore[Parcel] = MemoryStore(budget)
        self.shelves = {name: Shelf(parcels) for name in modes}
        self._destinations = {name: Destination(name, mode, self.shelves[name]) for name, mode in modes.items()}
        origins = Origins()
        rereader = Rereader(journal, origins)
        self._dispatch = Dispatch(parcels, budget, WrittenDown(journal, rereader), lambda *_: None)
        by_signal = {signal: [self._destinations[name] for name in names] for signal, names in pipelines.items()}
        self._pipeline = Pipeline(
            by_signal, self._dispatch, budget, self._telemetry, origins, lambda: self.now_s, journal
        )
        self.assembler = Assembler(
            Settings(), MemoryStore(budget), MemoryStore(budget), self._pipeline, self, reread=rereader.records
        )
        self._pipeline.attach(self.assembler, Reading(wants_span, lambda *_: True, b""))

    def submit(self, job: JobSource) -> None:
        self.jobs.append(joined(job.parts()))

    def withdraw(self, trace_id: bytes) -> bool:
        return False

    async def restore(self, recovered: Recovered) -> None:
        restoring = Restoring(self._journal, self._pipeline, self._dispatch, self._destinations, self._telemetry)
        await restoring.restore(recovered)
        await self._dispatch.settled()

    def names(self, destination: str) -> list[str]:
        return sorted(self.shelves[destination].names())


async def crash_after(path: Path, *entries: ArrivalEntry) -> None:
    async with opened(path) as (journal, _):
        for entry in entries:
            await keep(journal, entry)


def never(*_: bytes) -> bool:
    raise AssertionError("a fault of ours")


async def test_a_request_that_we_fail_on_is_passed_on_and_ends_neither_the_start_nor_the_others(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await crash_after(tmp_path, arrival(REQUEST), arrival(b"no request at all"), arrival(REQUEST))
    async with opened(tmp_path) as (journal, recovered):
        sidecar = Sidecar(journal, dict.fromkeys((A, B), ScoreMode.ATTRIBUTES), {Signal.TRACES: [A, B]}, never)
        await sidecar.restore(recovered)
    assert sidecar.names(A) == sidecar.names(B) == ["span 0", "span 0", "span 1", "span 1", "span 2", "span 2"]
    assert "record 2 can't be taken again" in caplog.text


async def test_what_two_destinations_lack_in_part_reaches_both_of_them(tmp_path: Path) -> None:
    async with opened(tmp_path) as (journal, _):
        number = await keep(journal, arrival(REQUEST))
        parcel = await freeze(journal, whole(b"any", [place_of(number, 0)], [A]))
        journal.done(A, parcel)
    async with opened(tmp_path) as (journal, recovered):
        sidecar = Sidecar(journal, dict.fromkeys((A, B), ScoreMode.EVALUATION_SPANS), {Signal.TRACES: [A, B]})
        await sidecar.restore(recovered)
    assert (sidecar.names(A), sidecar.names(B)) == (["span 1", "span 2"], ["span 0", "span 1", "span 2"])


@pytest.mark.parametrize("pipelines", [{Signal.TRACES: [B]}, {Signal.METRICS: [A]}])
@pytest.mark.parametrize("mode", [ScoreMode.ATTRIBUTES, ScoreMode.NONE])
async def test_a_destination_that_left_the_pipeline_gets_what_it_was_owed(
    tmp_path: Path, pipelines: Mapping[Signal, Sequence[str]], mode: ScoreMode
) -> None:
    await crash_after(tmp_path, arrival(REQUEST))
    async with opened(tmp_path) as (journal, recovered):
        sidecar = Sidecar(journal, {A: mode, B: ScoreMode.ATTRIBUTES}, pipelines)
        await sidecar.restore(recovered)
    assert sidecar.names(A) == ["span 0", "span 1", "span 2"]


async def test_log_records_are_judged_once_however_many_destinations_lack_them(tmp_path: Path) -> None:
    await crash_after(tmp_path, arrival(logs_request(), items=1, signal=Signal.LOGS), arrival(REQUEST))
    async with opened(tmp_path) as (journal, recovered):
        pipelines = {Signal.TRACES: [A, B], Signal.LOGS: [A]}
        sidecar = Sidecar(journal, dict.fromkeys((A, B), ScoreMode.ATTRIBUTES), pipelines)
        await sidecar.restore(recovered)
        sidecar.now_s = 1000.0
        sidecar.assembler.tick(sidecar.now_s)
    assert [len(job.logs) for job in sidecar.jobs] == [1]
