"""A judging process that does what its plan says: the faults that the real one can't be made to show."""

import asyncio
import os
import sys
import time

from collector import frames
from collector.jobs import Job, Judged


async def main() -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)
    plan = await frames.read(reader)
    assert isinstance(plan, dict)
    while isinstance(job := await frames.read(reader), Job):
        if job.trace_id == plan.get("die_on"):
            os._exit(3)
        if job.trace_id == plan.get("hang_on"):
            time.sleep(60)  # noqa: ASYNC251
        sys.stdout.buffer.write(frames.encode(Judged(trace_id=job.trace_id)))
        sys.stdout.buffer.flush()


asyncio.run(main())
