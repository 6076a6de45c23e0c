"""What is told of one trace when somebody asks: everything that is known of it, as plain JSON values.

In: its events on record, how it stands with it now, where its job is, and what of it waits for destinations.  Out: one
object of codes, ids, counts and times relative to the first arrival.  Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeAlias

from collector.accounts.accounts import Account
from collector.accounts.events import Answered, Arrived, Event, Forgotten, Left, Refused, Submitted
from collector.accounts.told import Told, ToldVerdict, unseal
from collector.holding.ledger import Remembered
from collector.holding.situation import Situation

Story: TypeAlias = dict[str, Any]
MAX_LISTED = 200
_NO_JUDGE = "rules could not decide, and the evaluator names no judge, or its judge is off"
_RULES_ALONE = "rules could not decide, and no judge was to be asked: judges could not keep up, or the sidecar stopped"
_SEE_MISSING = "what it needs was not captured; see missing_inputs"


class Outgoing(NamedTuple):
    """What of a trace is on its way to one destination. `waits`: it gets spans when they are judged.

    `unseen` counts requests that couldn't be looked at, as the journal couldn't read them.
    """

    exporter: str
    waits: bool
    queued_requests: int
    unseen: int = 0


class Known(NamedTuple):
    """All that is known of a trace. `job_at` is where its job is: `queue`, `rules` or `judge`.

    `passed_s` is when it was seen to have nothing that is judged; `remembered` what the ledger knows.
    """

    account: Account | None
    situation: Situation | None
    job_at: str | None
    passed_s: float | None
    remembered: Remembered | None
    outgoing: Sequence[Outgoing]


def story_of(trace_id: bytes, known: Known, now_s: float, wall_s: float) -> Story | None:
    """The story of a trace; None if nothing at all is known of it.

    Args:
        trace_id: whose.
        known: everything that is known.
        now_s: the monotonic clock of the events.
        wall_s: the time of day at that moment, in seconds since 1970.
    """
    account, situation = known.account, known.situation
    is_queued = any(one.queued_requests for one in known.outgoing)
    if account is None and situation is None and known.passed_s is None and not (known.remembered or is_queued):
        return None
    events: Sequence[Event] = () if account is None else account.events
    first_s = account.first_s if account is not None else known.passed_s
    answers = [(event, unseal(event.told)) for event in events if isinstance(event, Answered)]
    told = [one for _, one in answers]
    return {
        "trace_id": trace_id.hex(),
        "state": _state(known, answers),
        "first_arrival": None if first_s is None else _iso(wall_s - (now_s - first_s)),
        "timeline": [_told_event(event, event.at_s - (first_s or 0.0)) for event in events],
        "omitted_events": 0 if account is None else account.omitted,
        "holding": None if situation is None else _holding(situation, known.job_at),
        "verdicts": list(_verdicts(events, answers, first_s or 0.0)),
        "missing_inputs": [one._asdict() for one in dict.fromkeys(one for part in told for one in part.missing)],
        "dialects": sorted({one for part in told for one in part.dialects}),
        "destinations": [_destination(one, known, events) for one in known.outgoing],
        "remembered": None
        if known.remembered is None
        else {
            "judged_at": _iso(wall_s - (now_s - known.remembered.since_s)),
            "spans": known.remembered.spans,
        },
    }


def _state(known: Known, answers: Sequence[object]) -> str:
    situation = known.situation
    if situation is not None:
        if situation.job is not None:
            return "judging"
        return "held" if situation.held_s or situation.judged_ago_s is None else "judged"
    if answers or known.remembered:
        return "finished"
    return "passed"


def _told_event(event: Event, after_s: float) -> Story:
    told: Story = {"after_s": round(after_s, 3)}
    match event:
        case Arrived():
            told |= {"event": "arrived", "receiver": event.receiver, "spans": event.spans}
            told |= {"late": event.late, "repeated": event.repeated}
        case Submitted():
            told |= {"event": "submitted", "complete": event.complete, "partial": event.partial}
            told |= {"rules_only": event.rules_only}
        case Answered():
            told |= {"event": "answered", "final": event.final, "failure": event.failure}
        case Left():
            told |= {"event": "left", "spans": event.spans, "with_scores": event.scored, "early": event.early}
        case Forgotten():
            told |= {"event": "content_dropped"}
        case Refused():
            told |= {"event": "refused", "exporter": event.destination, "end": event.end}
    return told


def _holding(situation: Situation, job_at: str | None) -> Story:
    job = situation.job
    held = list(situation.held_s.items())
    missing = sorted(situation.missing_parents)
    return {
        "held_spans": len(held),
        "held": [{"span_id": span_id.hex(), "for_s": round(for_s, 3)} for span_id, for_s in held[:MAX_LISTED]],
        "kept_spans": situation.kept,
        "spans_kept_as_places": situation.stubs,
        "log_records": situation.logs,
        "left_early": len(situation.left_early),
        "has_top": situation.has_top,
        "missing_parents": [
            {"span_id": parent.hex(), "perhaps_elsewhere": parent in situation.perhaps_elsewhere}
            for parent in missing[:MAX_LISTED]
        ],
        "judged_ago_s": None if situation.judged_ago_s is None else round(situation.judged_ago_s, 3),
        "job": None
        if job is None
        else {"for_s": round(job.since_s, 3), "complete": job.complete, "overdue": job.overdue, "at": job_at},
        "waits_for": [{"setting": wait.what, "left_s": round(wait.left_s, 3)} for wait in situation.waits],
    }


def _verdicts(events: Sequence[Event], answers: Iterable[tuple[Answered, Told]], first_s: float) -> Iterator[Story]:
    submissions = [event for event in events if isinstance(event, Submitted)]
    for event, told in answers:
        rules_only = next((one.rules_only for one in reversed(submissions) if one.at_s <= event.at_s), False)
        for verdict in told.verdicts:
            story: Story = {"after_s": round(event.at_s - first_s, 3), **verdict._asdict()}
            story["way"] = _way(verdict, event.too_late)
            story["why"] = verdict.why or _why(verdict.status, rules_only)
            story["issues"] = list(verdict.issues)
            if not verdict.explanation:
                del story["explanation"]
            yield story


def _way(verdict: ToldVerdict, too_late: frozenset[bytes]) -> str:
    if verdict.way == "span" and bytes.fromhex(verdict.span_id) in too_late:
        return "late_evaluation_span"
    return verdict.way or "nowhere"


def _why(status: str, rules_only: bool) -> str:
    if status == "needs_judge":
        return _RULES_ALONE if rules_only else _NO_JUDGE
    return _SEE_MISSING if status == "missing_input" else ""


def _destination(one: Outgoing, known: Known, events: Sequence[Event]) -> Story:
    ends: Mapping[str, int] = Counter(
        event.end for event in events if isinstance(event, Refused) and event.destination == one.exporter
    )
    held = 0 if known.situation is None or not one.waits else len(known.situation.held_s)
    if one.queued_requests:
        state = "queued"
    elif held:
        state = "held"
    elif ends:
        state = "refused"
    else:
        state = "delivered"
    return {
        "exporter": one.exporter,
        "state": state,
        "held_spans": held,
        "queued_requests": one.queued_requests,
        "unseen_requests": one.unseen,
        "rejected_requests": ends.get("rejected", 0),
        "dead_lettered_requests": ends.get("dead_lettered", 0),
    }


def _iso(wall_s: float) -> str:
    return datetime.fromtimestamp(wall_s, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
