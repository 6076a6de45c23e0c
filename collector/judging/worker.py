"""The judging process: takes traces as bytes over the socket that is its standard input, gives their scores back.

It is started by the service (`collector.judging.process`) as `python -m collector.judging.worker`, gets a `Plan` first
and then lists of `Job`s, and ends when the service does.  It has an event loop of its own in which many jobs may wait
for a judge at a time, and imports no gRPC.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import pickle
import signal
import socket
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from collector.holding.ledger import checksum
from collector.judging.accounting import account_of
from collector.judging.channel import Channel
from collector.judging.jobs import (
    PART_SPANS,
    AdmissionCount,
    Apart,
    Carriers,
    EvaluationSpan,
    Job,
    Judged,
    NoMore,
    Stopping,
    joined,
    pieces_of,
    seal_carriers,
)
from collector.judging.judge_counts import JudgeCounts
from collector.judging.setup import Plan, build
from collector.judging.verdict_tally import VerdictTally
from collector.logs import set_up_logging, tell_of_unhandled
from evaluators.judge.client import OpenAIJudge
from evaluators.judge.report import RequestReport
from processors.judging import TraceInput, TraceJudge, TraceScores
from processors.session_judging import SessionScores
from processors.verdicts import scores

if TYPE_CHECKING:
    from collector.judging.judge_traces import JudgeTraces

logger = logging.getLogger(__name__)

REPORT_S = 2.0
# Each message costs both sides a turn of their loops, so results wait for others: so long, or until there are so many.
# Spans that leave wait as long for each other anyway, and the service keeps more jobs than that under way.
GATHER_S = 0.05
GATHER_RESULTS = 16
# A collection of everything stops all judging, for a second or more while a large trace is read: so it isn't left to
# chance when, but done when no job is under way, or else after so long.
COLLECT_S = 60.0
_NEVER = 1 << 30
# How long rules may take over one trace; with a judge asked, until then.
RULES_LIMIT_S = 300.0


def trace_of(job: Job, now_s: float) -> TraceInput:
    """What a job says, in the processors' terms."""
    return TraceInput(
        trace_id=job.trace_id,
        spans=job.spans,
        logs=job.logs,
        complete=job.complete,
        partial=job.partial,
        marks=pickle.loads(job.memory) if job.memory else {},
        rules_only=job.rules_only,
        arrived_s=now_s,
        route=job.route,
    )


async def judge_job(
    judge: TraceJudge,
    job: Job,
    trace: TraceInput,
    on_rules: Callable[[Judged, VerdictTally], None],
    *,
    show_content: bool = False,
) -> tuple[Judged, VerdictTally]:
    """The result of one job in the collector's terms, and its verdicts counted.

    Args:
        judge: judges traces.
        job: what to judge.
        trace: the same in the processors' terms.
        on_rules: called with what the rules decided, if a judge has to be asked for the rest.
        show_content: whether the record of what became of the trace may have texts that quote it.
    """
    found = await judge.judge(
        trace, lambda scores: on_rules(_result(scores, show_content)._replace(final=False), _count(scores))
    )
    if len(found.spans) <= PART_SPANS:
        return _final(found, job, show_content)
    # Packing the scores of a large trace would keep all others waiting.
    return await asyncio.to_thread(_final, found, job, show_content)


def _final(found: TraceScores, job: Job, show_content: bool) -> tuple[Judged, VerdictTally]:
    checksums = b"".join(checksum(span) for _, _, spans in job.batches for span in spans)
    return _result(found, show_content)._replace(checksums=checksums), _count(found)


def _result(found: TraceScores, show_content: bool) -> Judged:
    carriers = {
        span_id: Carriers([_carrier(one) for one in scores.alternatives], [_carrier(one) for one in scores.extra])
        for span_id, scores in found.spans.items()
    }
    return Judged(
        trace_id=found.trace_id,
        tails={span_id: scores.tail for span_id, scores in found.spans.items()},
        carriers=seal_carriers(carriers),
        extra=frozenset(span_id for span_id, one in carriers.items() if one.extra),
        settled=found.settled,
        memory=pickle.dumps(found.marks, protocol=pickle.HIGHEST_PROTOCOL),
        again=found.again,
        failure=found.failure,
        told=account_of(found, show_content=show_content),
    )


def _count(found: TraceScores) -> VerdictTally:
    return VerdictTally(placed.verdict for placed in found.verdicts)


def _carrier(carrier: scores.EvaluationSpan) -> EvaluationSpan:
    return EvaluationSpan(carrier.resource, carrier.scope, carrier.span)


class _Desk:
    """Takes messages from the service, gives results back, several in one message."""

    def __init__(self) -> None:
        self.closed = asyncio.Event()
        self.channel: Channel | None = None
        self._judge: TraceJudge | None = None
        self._clients: list[OpenAIJudge] = []
        self._show_content = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._looking: set[asyncio.Task[object]] = set()
        self._results: list[Judged] = []
        # Pieces of jobs, by trace, of which others follow.
        self._parts: dict[bytes, list[Job]] = {}
        self._sending: asyncio.TimerHandle | None = None
        self._counted = VerdictTally()
        self._collected_s = time.monotonic()
        self._worked = False
        self._judge_counts = JudgeCounts()
        self._traces: JudgeTraces | None = None

    def receive(self, message: object) -> None:
        if isinstance(message, Plan):
            set_up_logging(message.logs)
            self._judge, self._clients = build(message, self._on_request(message), self._judge_counts.report)
            # What is there now stays: no collection has to look at it again.
            gc.freeze()
            self._show_content = message.show_content
            return
        if isinstance(message, Stopping):
            for client in self._clients:
                client.ask_no_more()
            return
        if isinstance(message, NoMore):
            self._parts.pop(message.trace_id, None)
            return
        assert isinstance(message, list)
        assert self._judge is not None
        now_s = time.monotonic()
        jobs = [job for part in message if (job := self._whole(part)) is not None]
        traces = [trace_of(job, now_s) for job in jobs]
        self._judge.expect(traces)
        self._worked = True
        for job, trace in zip(jobs, traces, strict=True):
            task = asyncio.create_task(self._work(job, trace))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _whole(self, part: Job) -> Job | None:
        """The job that is whole with this piece of it; None if others follow."""
        if part.more:
            self._parts.setdefault(part.trace_id, []).append(part)
            return None
        return joined([*self._parts.pop(part.trace_id, ()), part])

    def _on_request(self, plan: Plan) -> Callable[[str, RequestReport], str | None]:
        if not plan.traces.processors:
            return self._judge_counts.request
        # The SDK and its exporters are carried only by who exports traces.
        from collector.judging.judge_traces import JudgeTraces

        endpoints = {judge_id: settings.endpoint for judge_id, settings in plan.judges.items()}
        self._traces = JudgeTraces(plan.traces, plan.resource, endpoints)
        return self._traces.telling(self._judge_counts.request)

    async def _work(self, job: Job, trace: TraceInput) -> None:
        assert self._judge is not None
        limit = asyncio.timeout(RULES_LIMIT_S)

        def on_rules(result: Judged, verdicts: VerdictTally) -> None:
            limit.reschedule(None)
            self._give(result, verdicts)

        try:
            async with limit:
                judged = await judge_job(self._judge, job, trace, on_rules, show_content=self._show_content)
        except TimeoutError:
            failure = f"rules weren't through with it after {RULES_LIMIT_S:g} s"
            judged = Judged(trace_id=job.trace_id, failure=failure), VerdictTally()
        except Exception as error:
            # Each job has to have a result, or its trace waits for it until the process is replaced.
            logger.exception("a trace's scores could not be told")
            failure = f"{type(error).__name__} while scores were told"
            judged = Judged(trace_id=job.trace_id, failure=failure), VerdictTally()
        result, verdicts = judged
        if len(result.tails) > PART_SPANS:
            for piece in await asyncio.to_thread(lambda: list(pieces_of(result))):
                self._give(piece, verdicts if piece.final else VerdictTally())
        else:
            self._give(result, verdicts)

    def _give(self, result: Judged, verdicts: VerdictTally) -> None:
        self._counted.join(verdicts)
        self._results.append(result)
        if result.more or len(self._results) >= GATHER_RESULTS:
            self._send_results()
        elif self._sending is None:
            self._sending = asyncio.get_running_loop().call_later(GATHER_S, self._send_results)

    def _send_results(self) -> None:
        assert self.channel is not None
        if self._sending is not None:
            self._sending.cancel()
            self._sending = None
        results, self._results = self._results, []
        self.channel.send(results)
        if not self._tasks:
            self.report()

    def look_at_sessions(self, now_s: float) -> None:
        """Judge the sessions that are over."""
        if self._judge is not None and self._judge.sessions is not None:
            task = asyncio.create_task(self._judge.sessions.judge_over(now_s, self._give_apart))
            self._looking.add(task)
            task.add_done_callback(self._looking.discard)

    def _give_apart(self, scores: SessionScores) -> None:
        assert self.channel is not None
        self._counted.join(VerdictTally(placed.verdict for placed in scores.verdicts))
        if scores.spans:
            self.channel.send([Apart([_carrier(span) for span in scores.spans], scores.route)])

    def report(self) -> None:
        """Tell what was judged and asked since the last time, and how limits stand; also a sign of life."""
        assert self.channel is not None
        decided = {} if self._judge is None else self._judge.admission.take_counts()
        admissions = [
            AdmissionCount(evaluator, str(decision), cases) for (evaluator, decision), cases in decided.items()
        ]
        self.channel.send([*self._counted.take(), *admissions, *self._judge_counts.take(self._clients)])

    def collect_garbage(self, now_s: float) -> None:
        """Look for garbage if that disturbs nobody, or hasn't been done for long."""
        if self._tasks and now_s < self._collected_s + COLLECT_S:
            return
        if self._worked or self._tasks:
            gc.collect()
        self._worked = False
        self._collected_s = now_s

    async def close(self) -> None:
        under_way = [*self._tasks, *self._looking]
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
        for client in self._clients:
            await client.close()
        if self._traces is not None:
            await asyncio.to_thread(self._traces.close)


async def serve() -> None:
    """Judge until the service is gone."""
    asyncio.get_running_loop().set_exception_handler(tell_of_unhandled)
    desk = _Desk()
    desk.channel = await Channel.open(socket.socket(fileno=os.dup(sys.stdin.fileno())), desk.receive, desk.closed.set)
    while not desk.closed.is_set():
        desk.report()
        desk.look_at_sessions(time.monotonic())
        desk.collect_garbage(time.monotonic())
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(desk.closed.wait(), REPORT_S)
    await desk.close()


def main() -> None:
    """Run the judging process."""
    # The service decides when to end; a terminal's Ctrl-C must not cut its jobs off.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Receiving comes first, and so does whatever else the machine is there for.
    os.nice(5)
    gc.set_threshold(50_000, 20, _NEVER)
    asyncio.run(serve())


if __name__ == "__main__":
    main()
