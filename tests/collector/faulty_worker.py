"""A judging process that does what its plan says: the faults that the real one can't be made to show."""

import asyncio
import os
import signal
import socket
import sys
import time

from collector.judging.channel import Channel
from collector.judging.jobs import Judged, NoMore, Stopping


async def main() -> None:
    plan: dict[str, bytes] = {}
    closed = asyncio.Event()

    def receive(message: object) -> None:
        if isinstance(message, dict):
            plan.update(message)
            return
        if isinstance(message, Stopping):
            return
        if isinstance(message, NoMore):
            return
        assert isinstance(message, list)
        for job in message:
            if job.more:
                continue
            if job.trace_id == plan.get("die_on"):
                os._exit(3)
            if job.trace_id == plan.get("kill_on"):
                os.kill(os.getpid(), signal.SIGKILL)
            if job.trace_id == plan.get("hang_on"):
                time.sleep(60)
            told = b"rules only" if job.rules_only and "tell_rules_only" in plan else b""
            channel.send([Judged(trace_id=job.trace_id, memory=told)])

    channel = await Channel.open(socket.socket(fileno=os.dup(sys.stdin.fileno())), receive, closed.set)
    await closed.wait()


asyncio.run(main())
