"""The judging process: takes traces as bytes on its standard input, gives their scores on its standard output.

It is started by the service (`collector.judging_process`) as `python -m collector.worker`, gets a `Plan` first and then
`Job`s, and ends when its input does.  It has an event loop of its own in which many jobs may wait for a judge at a
time, imports no gRPC, and prints nothing on the pipe but results and signs of life.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import sys
from collections import Counter

from collector import frames
from collector.jobs import Carriers, EvaluationSpan, Job, Judged, VerdictCount, seal_carriers
from collector.judging_setup import Plan, build
from processors import scores
from processors.judging import TraceInput, TraceJudge

REPORT_S = 2.0


async def judge_job(judge: TraceJudge, job: Job) -> tuple[Judged, Counter[tuple[str, str, str | None, str]]]:
    """The result of one job in the collector's terms, and its verdicts counted."""
    found = await judge.judge(
        TraceInput(
            trace_id=job.trace_id,
            spans=job.spans,
            logs=job.logs,
            complete=job.complete,
            partial=job.partial,
            marks=pickle.loads(job.memory) if job.memory else {},
            rules_only=job.rules_only,
        )
    )
    carriers = {
        span_id: Carriers([_carrier(one) for one in scores.alternatives], [_carrier(one) for one in scores.extra])
        for span_id, scores in found.spans.items()
    }
    result = Judged(
        trace_id=job.trace_id,
        tails={span_id: scores.tail for span_id, scores in found.spans.items()},
        carriers=seal_carriers(carriers),
        extra=frozenset(span_id for span_id, one in carriers.items() if one.extra),
        settled=found.settled,
        memory=pickle.dumps(found.marks, protocol=pickle.HIGHEST_PROTOCOL),
        failure=found.failure,
    )
    verdicts = (placed.verdict for placed in found.verdicts)
    return result, Counter((one.evaluator, one.status.value, one.label, one.method.value) for one in verdicts)


def _carrier(carrier: scores.EvaluationSpan) -> EvaluationSpan:
    return EvaluationSpan(carrier.resource, carrier.scope, carrier.span)


async def serve() -> None:
    """Judge until the input ends."""
    # Whatever a library prints must not get between the frames.
    out_fd = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, os.fdopen(out_fd, "wb"))
    writer = asyncio.StreamWriter(transport, protocol, None, loop)
    sending = asyncio.Lock()

    async def send(message: object) -> None:
        async with sending:
            await frames.write(writer, message)

    counted: Counter[tuple[str, str, str | None, str]] = Counter()

    async def report() -> None:
        counts = [VerdictCount(*kind, verdicts) for kind, verdicts in counted.items()]
        counted.clear()
        await send(counts)

    async def beat() -> None:
        # Also a sign of life, so it is sent even when there is nothing to tell.
        while True:
            await report()
            await asyncio.sleep(REPORT_S)

    async def work(job: Job) -> None:
        result, verdicts = await judge_job(judge, job)
        counted.update(verdicts)
        await send(result)
        if len(tasks) == 2:
            await report()

    plan = await frames.read(reader)
    if not isinstance(plan, Plan):
        return
    judge, clients = build(plan)
    tasks = {asyncio.create_task(beat())}
    while isinstance(job := await frames.read(reader), Job):
        task = asyncio.create_task(work(job))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for client in clients:
        await client.close()


def main() -> None:
    """Run the judging process."""
    # The service decides when to end; a terminal's Ctrl-C must not cut its jobs off.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asyncio.run(serve())


if __name__ == "__main__":
    main()
