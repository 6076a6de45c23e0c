"""A judging process that does what its plan says: the faults that the real one can't be made to show."""

import asyncio
import os
import socket
import sys
import time

from collector.judging.channel import Channel
from collector.judging.jobs import Judged


async def main() -> None:
    plan: dict[str, bytes] = {}
    closed = asyncio.Event()

    def receive(message: object) -> None:
        if isinstance(message, dict):
            plan.update(message)
            return
        assert isinstance(message, list)
        for job in message:
            if job.trace_id == plan.get("die_on"):
                os._exit(3)
            if job.trace_id == plan.get("hang_on"):
                time.sleep(60)
            channel.send([Judged(trace_id=job.trace_id)])

    channel = await Channel.open(socket.socket(fileno=os.dup(sys.stdin.fileno())), receive, closed.set)
    await closed.wait()


asyncio.run(main())
