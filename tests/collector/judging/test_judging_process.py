"""The judging process as the service sees it: every job gets exactly one result, whatever the process does."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from collector.judging.jobs import Job, Judged
from collector.judging.process import JudgingProcess

FAULTY = "tests.collector.faulty_worker"


@pytest.fixture(autouse=True)
def the_faulty_process_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))


def job(number: int) -> Job:
    return Job(number.to_bytes(16), [], [], complete=True, partial=False)


class Results:
    def __init__(self) -> None:
        self.all: list[Judged] = []
        self.restarts = 0

    def restarted(self) -> None:
        self.restarts += 1

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(30):
            while not condition():
                await asyncio.sleep(0.01)


@asynccontextmanager
async def running(plan: object, silence_limit_s: float = 20.0) -> AsyncIterator[tuple[JudgingProcess, Results]]:
    results = Results()
    process = JudgingProcess(
        plan, results.all.append, on_restart=results.restarted, module=FAULTY, silence_limit_s=silence_limit_s
    )
    await process.start()
    try:
        yield process, results
    finally:
        await process.stop()


async def test_every_job_gets_its_result() -> None:
    async with running({}) as (process, results):
        for number in range(300):
            process.submit(job(number))
        await results.until(lambda: len(results.all) == 300)
    assert [int.from_bytes(one.trace_id) for one in results.all] == list(range(300))
    assert not any(one.failure for one in results.all)


async def test_jobs_of_a_process_that_dies_fail_with_the_reason_and_the_next_process_goes_on() -> None:
    async with running({"die_on": (1).to_bytes(16)}) as (process, results):
        process.submit(job(1))
        await results.until(lambda: len(results.all) == 1)
        assert results.all[0].failure == "the judging process ended with exit code 3"
        process.submit(job(2))
        await results.until(lambda: len(results.all) == 2)
    assert results.all[1].failure is None
    assert results.restarts == 1


async def test_what_ended_a_process_is_told_as_an_operator_needs_it() -> None:
    async with running({"kill_on": (1).to_bytes(16)}) as (process, results):
        process.submit(job(1))
        await results.until(lambda: len(results.all) == 1)
        said = results.all[0].failure
    assert said == "the judging process ended by SIGKILL (the system does that when memory runs out)"


async def test_a_process_that_winds_down_gets_the_rest_for_rules_alone() -> None:
    async with running({"tell_rules_only": b""}) as (process, results):
        process.submit(job(1))
        await results.until(lambda: len(results.all) == 1)
        process.wind_down()
        process.submit(job(2))
        await results.until(lambda: len(results.all) == 2)
    assert [one.memory for one in results.all] == [b"", b"rules only"]


async def test_a_process_that_falls_silent_is_replaced() -> None:
    async with running({"hang_on": (1).to_bytes(16)}, silence_limit_s=2.0) as (process, results):
        process.submit(job(1))
        await results.until(lambda: len(results.all) == 1)
        assert "silent for 2 s" in (results.all[0].failure or "")
        process.submit(job(2))
        await results.until(lambda: len(results.all) == 2)
        assert results.all[1].failure is None


async def test_stopping_gives_every_open_job_a_result() -> None:
    async with running({"hang_on": (1).to_bytes(16)}) as (process, results):
        process.submit(job(1))
        process.submit(job(2))
    assert sorted(int.from_bytes(one.trace_id) for one in results.all) == [1, 2]
    assert {one.failure for one in results.all} == {"the sidecar is stopping"}
    await process.idle()


async def test_jobs_submitted_while_it_stops_get_a_result_as_well() -> None:
    results: list[Judged] = []

    def on_result(result: Judged) -> None:
        results.append(result)
        if len(results) == 1:
            process.submit(job(2))

    process = JudgingProcess({}, on_result, module=FAULTY)
    process.submit(job(1))
    await process.stop()
    assert [int.from_bytes(one.trace_id) for one in results] == [1, 2]
    await process.idle()


async def test_large_jobs_pass() -> None:
    big = Job(bytes(16), [], [], complete=True, partial=False, memory=b"x" * 5_000_000)
    async with running({}) as (process, results):
        process.submit(big)
        await results.until(lambda: len(results.all) == 1)
    assert results.all[0].failure is None


async def test_a_job_can_be_taken_back_until_it_was_handed_over() -> None:
    results: list[Judged] = []
    process = JudgingProcess({}, results.append, module=FAULTY)
    process.submit(job(1))
    assert process.withdraw(job(1).trace_id)
    assert not process.withdraw(job(1).trace_id)
    await process.stop()
    assert results == []
