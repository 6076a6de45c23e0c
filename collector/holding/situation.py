"""How it stands with a trace that is being put together: what is held, and what it waits for, until when.

Pure: in go a trace, the waiting times and the time; nothing is changed.  It reads the same state by which the
assembler decides, so that what it says is what will happen unless something else arrives.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from collector.holding.live_trace import LiveTrace
from collector.holding.settings import Settings


class Wait(NamedTuple):
    """One thing that is waited for. `what` is the setting under `assemble` that bounds it, `left_s` how long still."""

    what: str
    left_s: float


class UnderWay(NamedTuple):
    """A job that has no result yet: since when in seconds, about whole runs or steps, and whether its hold is over."""

    since_s: float
    complete: bool
    overdue: bool


class Situation(NamedTuple):
    """One trace.

    `held_s`   ids of the spans that are held, with how long they have been, in order of arrival.
    `kept`     how many spans are kept, the held ones among them, and `stubs` of how many only the place in the tree is.
    `left_early` ids of spans that have left before their run was judged.
    `has_top`  whether a root has come, or a span that was called from another service.
    `missing_parents` ids of parents that have not come; `perhaps_elsewhere` are those that may be another service's.
    `judged_ago_s` how long ago a run was judged, None if none was.
    `job`      the job under way.
    `waits`    what ends the waiting, soonest first.
    """

    held_s: dict[bytes, float]
    kept: int
    stubs: int
    logs: int
    left_early: frozenset[bytes]
    has_top: bool
    missing_parents: frozenset[bytes]
    perhaps_elsewhere: frozenset[bytes]
    judged_ago_s: float | None
    job: UnderWay | None
    waits: tuple[Wait, ...]


def situation_of(trace: LiveTrace, timing: Settings, now_s: float) -> Situation:
    """How it stands with a trace."""
    job = trace.job
    return Situation(
        held_s={span_id: now_s - arrived_s for span_id, arrived_s in trace.held.items()},
        kept=len(trace.places),
        stubs=len(trace.stubs),
        logs=len(trace.logs),
        left_early=frozenset(trace.gone_early),
        has_top=trace.topped,
        missing_parents=frozenset(trace.missing),
        perhaps_elsewhere=frozenset(trace.missing & trace.unsure),
        judged_ago_s=None if trace.judged_s is None else now_s - trace.judged_s,
        job=None if job is None else UnderWay(now_s - job.ready_s, job.complete, job.expired),
        waits=tuple(sorted(_waits(trace, timing, now_s), key=lambda wait: wait.left_s)),
    )


def _waits(trace: LiveTrace, timing: Settings, now_s: float) -> Iterator[Wait]:
    if trace.held:
        yield Wait("max_hold", trace.oldest_held_s + timing.max_hold - now_s)
    if trace.job is not None:
        if not trace.job.expired:
            yield Wait("hold", trace.job.ready_s + timing.hold - now_s)
        return
    if trace.judged_s is not None and not trace.awaits_run:
        if trace.grown:
            yield Wait("quiet_period", trace.last_s + timing.quiet_period - now_s)
        yield Wait("late_window", max(trace.judged_s, trace.last_s) + timing.late_window - now_s)
        return
    if trace.complete or trace.grown:
        yield Wait("quiet_period", trace.last_s + timing.quiet_period - now_s)
    yield Wait("idle_timeout", trace.last_s + timing.idle_timeout - now_s)
    yield Wait("max_age", trace.first_s + timing.max_age - now_s)
