"""Jobs that wait to be judged: cheap ones first, and dear ones before what came much later.

In: jobs and the time at which each was handed in.  Out: the next one.  The order is by time of arrival plus what the
job costs, taken as time: a large trace is overtaken by small ones, but only by those that come within that time, so it
has its turn whatever comes (ageing).
"""

from __future__ import annotations

import heapq

from collector.judging.jobs import JobSource

# A job lets pass what comes while so much of it could be judged: about what rules do in a second.
AGEING_BYTES_PER_S = 4 << 20


class WaitingLine:
    """See the module's text. At most one job of a trace."""

    def __init__(self) -> None:
        self._jobs: dict[bytes, tuple[int, JobSource]] = {}
        # A job that was taken back is still in it; the number tells it from a later one of the same trace.
        self._order: list[tuple[float, int, bytes]] = []
        self._count = 0

    def __len__(self) -> int:
        return len(self._jobs)

    def __contains__(self, trace_id: bytes) -> bool:
        return trace_id in self._jobs

    def put(self, job: JobSource, now_s: float) -> None:
        """Let a job wait."""
        self._count += 1
        self._jobs[job.trace_id] = (self._count, job)
        heapq.heappush(self._order, (now_s + job.cost_bytes / AGEING_BYTES_PER_S, self._count, job.trace_id))

    def first(self) -> JobSource | None:
        """The job whose turn it is; it stays."""
        while self._order:
            _, number, trace_id = self._order[0]
            found = self._jobs.get(trace_id)
            if found is not None and found[0] == number:
                return found[1]
            heapq.heappop(self._order)
        return None

    def take(self, trace_id: bytes) -> JobSource | None:
        """Let a trace's job wait no longer; None if it doesn't."""
        found = self._jobs.pop(trace_id, None)
        return None if found is None else found[1]

    def take_all(self) -> list[JobSource]:
        """All jobs, in their order; none waits any longer."""
        jobs = []
        while (job := self.first()) is not None:
            jobs.append(job)
            del self._jobs[job.trace_id]
        return jobs
