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
import time
from collections.abc import Callable, Iterable, Iterator

from collector.judging.channel import Channel, channel_sockets
from collector.judging.jobs import MAX_JOB_BYTES, Apart, Count, GivenUpError, Job, JobSource, Judged, NoMore, Stopping
from collector.judging.waiting_line import WaitingLine
from collector.logs import RateLimited

logger = logging.getLogger(__name__)
_limited = RateLimited(logger)

# Jobs that wait for rules, and how large all of them may be; jobs that wait for a judge.
MAX_JOBS_IN_FLIGHT = 64
MAX_BYTES_IN_FLIGHT = 32 << 20
MAX_JOBS_ASKING = 256
# A larger job is handed over piece by piece, and only one at a time: others have their turns in between.
LARGE_JOB_BYTES = 8 << 20
# How large the jobs are that are handed over in one turn of the loop.
BYTES_PER_TURN = 4 << 20
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
        self._waiting = WaitingLine()
        self._waiting_large = WaitingLine()
        # The large job that is under way until rules are through with it, and what of it is still to be handed over.
        self._large: bytes | None = None
        self._parts: Iterator[Job] | None = None
        self._in_flight: dict[bytes, JobSource] = {}
        # Those of them for which a judge is being asked; what rules had to say of them is known.
        self._asking: set[bytes] = set()
        self._news = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._heard_s = 0.0
        self._channel: Channel | None = None
        self.pid: int | None = None
        self._stopping = False
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start the process; jobs may be submitted before it is up."""
        self._task = asyncio.create_task(self._keep_running(), name="judging process")

    def submit(self, job: JobSource) -> None:
        """Take a job. There is at most one at a time per trace."""
        line = self._waiting_large if job.cost_bytes > LARGE_JOB_BYTES else self._waiting
        line.put(job, time.monotonic())
        self._idle.clear()
        self._news.set()

    def withdraw(self, trace_id: bytes) -> bool:
        """Take a job back that hasn't been handed to the process; no result comes for it then."""
        taken = self._waiting.take(trace_id) or self._waiting_large.take(trace_id)
        self._note_idle()
        return taken is not None

    def wind_down(self) -> None:
        """Let no judge be asked any more; what is under way may still be answered."""
        self._stopping = True
        if self._channel is not None:
            self._channel.send(Stopping())

    async def idle(self) -> None:
        """Wait until every job has its result."""
        await self._idle.wait()

    def place_of(self, trace_id: bytes) -> str | None:
        """Where a trace's job is: in the `queue`, with the `rules`, or waiting for a `judge`; None if there is none."""
        if trace_id in self._waiting or trace_id in self._waiting_large:
            return "queue"
        if trace_id not in self._in_flight:
            return None
        return "judge" if trace_id in self._asking else "rules"

    def give_back(self) -> list[JobSource]:
        """The jobs that haven't been handed to the process; no result comes for them."""
        jobs = self._waiting.take_all() + self._waiting_large.take_all()
        self._note_idle()
        return jobs

    async def end(self) -> list[JobSource]:
        """End the process, which may take a second, and give back the jobs without a result."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        jobs = [*self._in_flight.values(), *self.give_back()]
        self._in_flight.clear()
        self._asking.clear()
        self._note_idle()
        return jobs

    async def stop(self) -> None:
        """End the process, which may take a second. Jobs without a result get one that says so."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        # Whoever takes a result may submit another job.
        while jobs := [*self._in_flight.values(), *self._waiting.take_all(), *self._waiting_large.take_all()]:
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
        self.pid = process.pid
        feeding = asyncio.create_task(self._feed(channel))
        hung = False
        try:
            hung = await self._watch(closed)
        finally:
            self._channel = self.pid = None
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
        self._large = self._parts = None
        while True:
            jobs = self._next_jobs()
            if jobs:
                channel.send(jobs)
            part = self._next_part()
            if part is not None:
                channel.send(part)
            if jobs or part is not None:
                await channel.room()
                # Whatever else the loop has to do comes first.
                await asyncio.sleep(0)
            elif not self._can_go_on():
                self._news.clear()
                await self._news.wait()

    def _can_go_on(self) -> bool:
        """Whether something can be handed over without anything happening before."""
        return self._parts is not None or (self._large is None and len(self._waiting_large) > 0) or self._has_turn()

    def _has_turn(self) -> bool:
        """Whether the next of the jobs that aren't large may be handed over."""
        job = self._waiting.first()
        with_rules = [one.cost_bytes for trace_id, one in self._in_flight.items() if trace_id not in self._asking]
        if job is None or len(with_rules) >= MAX_JOBS_IN_FLIGHT:
            return False
        if self._large is not None and (large := self._in_flight.get(self._large)) is not None:
            with_rules.append(-large.cost_bytes)
        return not with_rules or sum(with_rules) + job.cost_bytes <= MAX_BYTES_IN_FLIGHT

    def _next_jobs(self) -> list[Job]:
        """The next jobs that aren't large, whole."""
        jobs: list[Job] = []
        size_bytes = 0
        while size_bytes < BYTES_PER_TURN and self._has_turn():
            source = self._waiting.first()
            assert source is not None
            self._waiting.take(source.trace_id)
            self._in_flight[source.trace_id] = source
            size_bytes += source.cost_bytes
            try:
                parts = list(source.parts())
            except Exception as error:
                self._give_up(source, error)
                continue
            parts[-1] = self._as_judges_can(parts[-1])
            jobs += parts
        return jobs

    def _next_part(self) -> list[Job] | NoMore | None:
        """The next piece of the large job that is under way, or of the next one; `NoMore` if there will be none."""
        if self._large is None and (source := self._waiting_large.first()) is not None:
            self._waiting_large.take(source.trace_id)
            self._in_flight[source.trace_id] = source
            if source.cost_bytes > MAX_JOB_BYTES:
                self._fail([source], f"more than {MAX_JOB_BYTES >> 20} MiB are too large to judge")
                return None
            self._large, self._parts = source.trace_id, source.parts()
        if self._large is None or self._parts is None:
            return None
        try:
            part = next(self._parts)
        except Exception as error:
            trace_id = self._large
            self._give_up(self._in_flight[trace_id], error)
            return NoMore(trace_id)
        if not part.more:
            self._parts = None
            part = self._as_judges_can(part)
        return [part]

    def _as_judges_can(self, job: Job) -> Job:
        if self._stopping:
            return job._replace(rules_only=True)
        if len(self._asking) >= MAX_JOBS_ASKING:
            _limited.warning("judges can't keep up: what comes now is judged by rules alone")
            return job._replace(rules_only=True)
        return job

    def _give_up(self, source: JobSource, error: Exception) -> None:
        if not isinstance(error, GivenUpError):
            logger.error("a trace could not be read to be judged", exc_info=error)
        self._fail([source], "its content was given up before it was judged")

    def _note_large_done(self, trace_id: bytes) -> None:
        if trace_id == self._large:
            self._large = self._parts = None

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
            self._note_large_done(result.trace_id)
        elif not result.more:
            self._note_large_done(result.trace_id)
            self._asking.add(result.trace_id)
        self._on_result(result)

    def _fail(self, jobs: Iterable[JobSource], reason: str) -> None:
        for job in jobs:
            self._in_flight.pop(job.trace_id, None)
            self._asking.discard(job.trace_id)
            self._note_large_done(job.trace_id)
            self._on_result(Judged(trace_id=job.trace_id, failure=reason))
        self._note_idle()

    def _note_idle(self) -> None:
        if not self._waiting and not self._waiting_large and not self._in_flight:
            self._idle.set()


def _how(code: int) -> str:
    """How a process ended, as an operator needs it."""
    if code >= 0:
        return f"with exit code {code}"
    name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
    return f"by {name}" + (" (the system does that when memory runs out)" if code == -signal.SIGKILL else "")
