"""The judging process as the service sees it: jobs in, results out, and a new one when it dies.

Judging costs processor time and runs code over hostile content, so it has a process of its own: the receiving process
keeps answering whatever a rule or a judge does.  A process that dies, or that stops answering, costs its jobs their
scores and nothing else.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterable

from collector.judging.channel import Channel, channel_sockets
from collector.judging.jobs import Apart, Count, Job, Judged, Stopping
from collector.logs import RateLimited

logger = logging.getLogger(__name__)
_limited = RateLimited(logger)

# Jobs that wait for rules, and jobs that wait for a judge.
MAX_JOBS_IN_FLIGHT = 64
MAX_JOBS_ASKING = 256
SILENCE_LIMIT_S = 30.0
_FIRST_BACKOFF_S = 0.5
_LONGEST_BACKOFF_S = 30.0
_END_GRACE_S = 1.0


class JudgingProcess:
    """Starts, feeds, watches and restarts one judging process.

    Args:
        plan: what the process is to do, sent to it first; any picklable value that its module understands.
        on_result: called with each job's final result, exactly once per job that isn't withdrawn, from the event loop,
            and perhaps before that with one that isn't final.
        on_counts: called now and then with the verdicts given and requests made since the last time.
        on_apart: called with evaluation spans about spans that have long left.
        on_restart: called whenever a process had to be replaced.
        module: the module that is run in the process.
        silence_limit_s: how long a process may give no sign of life.
    """

    def __init__(
        self,
        plan: object,
        on_result: Callable[[Judged], None],
        on_counts: Callable[[list[Count]], None] = lambda _: None,
        on_restart: Callable[[], None] = lambda: None,
        on_apart: Callable[[Apart], None] = lambda _: None,
        module: str = "collector.judging.worker",
        silence_limit_s: float = SILENCE_LIMIT_S,
    ) -> None:
        self._plan = plan
        self._on_result = on_result
        self._on_counts = on_counts
        self._on_restart = on_restart
        self._on_apart = on_apart
        self._module = module
        self._silence_limit_s = silence_limit_s
        self._waiting: OrderedDict[bytes, Job] = OrderedDict()
        self._in_flight: dict[bytes, Job] = {}
        # Those of them for which a judge is being asked; what rules had to say of them is known.
        self._asking: set[bytes] = set()
        self._news = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._heard_s = 0.0
        self._channel: Channel | None = None
        self._stopping = False
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start the process; jobs may be submitted before it is up."""
        self._task = asyncio.create_task(self._keep_running(), name="judging process")

    def submit(self, job: Job) -> None:
        """Take a job. There is at most one at a time per trace."""
        self._waiting[job.trace_id] = job
        self._idle.clear()
        self._news.set()

    def withdraw(self, trace_id: bytes) -> bool:
        """Take a job back that hasn't been handed to the process; no result comes for it then."""
        taken = self._waiting.pop(trace_id, None) is not None
        self._note_idle()
        return taken

    def wind_down(self) -> None:
        """Let no judge be asked any more; what is under way may still be answered."""
        self._stopping = True
        if self._channel is not None:
            self._channel.send(Stopping())

    async def idle(self) -> None:
        """Wait until every job has its result."""
        await self._idle.wait()

    async def stop(self) -> None:
        """End the process, which may take a second. Jobs without a result get one that says so."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        # Whoever takes a result may submit another job.
        while jobs := [*self._in_flight.values(), *self._waiting.values()]:
            self._waiting.clear()
            self._fail(jobs, "the sidecar is stopping")

    async def _keep_running(self) -> None:
        loop = asyncio.get_running_loop()
        backoff_s = _FIRST_BACKOFF_S
        while True:
            started_s = loop.time()
            reason = await self._run_once()
            self._fail(list(self._in_flight.values()), reason)
            self._on_restart()
            logger.error("%s; starting a new one", reason)
            lived_s = loop.time() - started_s
            backoff_s = _FIRST_BACKOFF_S if lived_s > _LONGEST_BACKOFF_S else min(backoff_s * 2, _LONGEST_BACKOFF_S)
            await asyncio.sleep(backoff_s)

    async def _run_once(self) -> str:
        try:
            process, ours = await self._spawn()
        except OSError as error:
            return f"the judging process could not be started: {error.strerror or error}"
        closed = asyncio.Event()
        channel = self._channel = await Channel.open(ours, self._receive, closed.set)
        feeding = asyncio.create_task(self._feed(channel))
        hung = False
        try:
            hung = await self._watch(closed)
        finally:
            self._channel = None
            feeding.cancel()
            channel.close()
            if not hung:
                # It ends when its channel is closed, and has traces of its own to send before.
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(process.wait(), _END_GRACE_S)
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
            await asyncio.gather(feeding, return_exceptions=True)
            code = await process.wait()
        if hung:
            return f"the judging process was silent for {self._silence_limit_s:g} s and was ended"
        return f"the judging process ended {_how(code)}"

    async def _spawn(self) -> tuple[asyncio.subprocess.Process, socket.socket]:
        """A new process and our end of the channel to it. Raises OSError when the system refuses one."""
        ours, theirs = channel_sockets()
        try:
            process = await asyncio.create_subprocess_exec(
                # Not from the working directory: an agent's project may well have packages of the same names.
                *(sys.executable, "-P", "-m", self._module),
                stdin=theirs.fileno(),
                # The terminal's Ctrl-C is for the service, which then decides what becomes of the jobs.
                start_new_session=True,
            )
        except OSError:
            ours.close()
            raise
        finally:
            theirs.close()
        return process, ours

    async def _feed(self, channel: Channel) -> None:
        channel.send(self._plan)
        while True:
            jobs = []
            while self._waiting and len(self._in_flight) - len(self._asking) < MAX_JOBS_IN_FLIGHT:
                trace_id, job = self._waiting.popitem(last=False)
                if self._stopping:
                    job = job._replace(rules_only=True)
                elif len(self._asking) >= MAX_JOBS_ASKING:
                    _limited.warning("judges can't keep up: what comes now is judged by rules alone")
                    job = job._replace(rules_only=True)
                self._in_flight[trace_id] = job
                jobs.append(job)
            if jobs:
                channel.send(jobs)
                await channel.room()
            self._news.clear()
            await self._news.wait()

    async def _watch(self, closed: asyncio.Event) -> bool:
        """Wait until the process is gone (False) or gives no sign of life any more (True)."""
        loop = asyncio.get_running_loop()
        self._heard_s = loop.time()
        while True:
            rest_s = self._heard_s + self._silence_limit_s - loop.time()
            if rest_s <= 0:
                return True
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(closed.wait(), rest_s)
                return False

    def _receive(self, message: object) -> None:
        self._heard_s = asyncio.get_running_loop().time()
        if not isinstance(message, list):
            return
        for item in message:
            if isinstance(item, Count):
                self._on_counts(message)
                return
            if isinstance(item, Judged) and item.trace_id in self._in_flight:
                self._take(item)
            elif isinstance(item, Apart):
                self._on_apart(item)
        self._news.set()
        self._note_idle()

    def _take(self, result: Judged) -> None:
        if result.final:
            del self._in_flight[result.trace_id]
            self._asking.discard(result.trace_id)
        else:
            self._asking.add(result.trace_id)
        self._on_result(result)

    def _fail(self, jobs: Iterable[Job], reason: str) -> None:
        for job in jobs:
            self._in_flight.pop(job.trace_id, None)
            self._asking.discard(job.trace_id)
            self._on_result(Judged(trace_id=job.trace_id, failure=reason))
        self._note_idle()

    def _note_idle(self) -> None:
        if not self._waiting and not self._in_flight:
            self._idle.set()


def _how(code: int) -> str:
    """How a process ended, as an operator needs it."""
    if code >= 0:
        return f"with exit code {code}"
    name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
    return f"by {name}" + (" (the system does that when memory runs out)" if code == -signal.SIGKILL else "")
