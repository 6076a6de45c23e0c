"""The judging process: takes traces as bytes on its standard input, gives their scores on its standard output.

It is started by the service (`collector.judging_process`) as `python -m collector.worker`, gets a `Plan` first and then
`Job`s, and ends when its input does.  It has an event loop of its own in which many jobs may wait for a judge at a
time, imports no gRPC, and prints nothing on the pipe but results and signs of life.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from typing import cast

from collector import frames
from collector.jobs import Count, EvaluationSpan, Job, Judged, SpanScores
from collector.judging_setup import Plan, build
from processors import judging, scores
from processors.marks import Marks

HEARTBEAT_S = 5.0


async def judge_job(judge: judging.TraceJudge, job: Job) -> Judged:
    """The result of one job, in the collector's terms."""
    found = await judge.judge(
        judging.TraceInput(
            trace_id=job.trace_id,
            spans=job.spans,
            logs=job.logs,
            complete=job.complete,
            partial=job.partial,
            marks=cast(Marks, job.marks),
            rules_only=job.rules_only,
        )
    )
    return Judged(
        trace_id=job.trace_id,
        scores={
            span_id: SpanScores(
                tail=one.tail,
                evaluations=[_carrier(carrier) for carrier in one.alternatives],
                extra=[_carrier(carrier) for carrier in one.extra],
            )
            for span_id, one in found.spans.items()
        },
        settled=found.settled,
        marks=found.marks,
        counts=tuple(
            Count(placed.verdict.evaluator, placed.verdict.status, placed.verdict.label, placed.verdict.method)
            for placed in found.verdicts
        ),
        failure=found.failure,
    )


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

    async def beat() -> None:
        while True:
            await send("alive")
            await asyncio.sleep(HEARTBEAT_S)

    async def work(job: Job) -> None:
        await send(await judge_job(judge, job))

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
