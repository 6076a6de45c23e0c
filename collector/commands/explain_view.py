"""The story of a trace as a person reads it: in a few paragraphs, what is first asked for first.

In: the object that a sidecar answers with (`collector.accounts.story`).  Out: things to print.  Everything in it is
cleaned of what terminals obey, as ids and labels may come from elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from collector.exporters.span_view import clean

Told = Mapping[str, Any]
_CHARS = 400
_LISTED = 12
_STATES = {
    "held": "held until it can be judged",
    "judging": "being judged",
    "judged": "judged; its content is kept for late spans",
    "finished": "judged and sent on; its content was dropped",
    "passed": "sent on as it came, as nothing in it is judged (no span of an agent, a model or a tool was recognised)",
}
_WAITS = {
    "quiet_period": "nothing arriving for quiet_period",
    "idle_timeout": "nothing arriving for idle_timeout, after which it is judged as it is",
    "max_age": "max_age, at which it is judged as it is",
    "hold": "hold, after which its spans leave without the scores of this job",
    "max_hold": "max_hold, after which the oldest spans leave as they are",
    "late_window": "late_window, after which its content is dropped",
}
_JOBS = {
    "queue": "waiting for the judging process",
    "rules": "with the rules",
    "judge": "waiting for a judge's answer; what rules decided is on the spans",
}
_WAYS = {
    "span": "on the span",
    "evaluation_span": "on an evaluation span",
    "late_evaluation_span": "on an evaluation span, as the span had left",
    "nowhere": "nowhere",
}


def views_of(story: Told) -> Iterator[RenderableType]:
    """What to print."""
    since = f", first seen {story['first_arrival']}" if story["first_arrival"] else ""
    yield _line(f"trace {story['trace_id']}: {_STATES[story['state']]}{since}")
    if story["remembered"] is not None:
        remembered = story["remembered"]
        yield _line(f"known to have been judged at {remembered['judged_at']}, with {remembered['spans']} spans")
    if story["holding"] is not None:
        yield from _holding(story["holding"])
    yield Text()
    yield from _timeline(story["timeline"], story["omitted_events"])
    if story["verdicts"]:
        yield Text()
        yield _verdicts(story["verdicts"])
        yield from _reasons(story["verdicts"])
    for missing in story["missing_inputs"]:
        yield _line(f"missing {missing['fact']}: {missing['attribute']}; {missing['switch']}")
    yield Text()
    for destination in story["destinations"]:
        yield _line(_destination(destination))


def _holding(holding: Told) -> Iterator[RenderableType]:
    if holding["held_spans"]:
        spans = ", ".join(f"{one['span_id']} ({one['for_s']:.1f} s)" for one in holding["held"][:_LISTED])
        yield _line(f"held: {holding['held_spans']} of {holding['kept_spans']} spans: {spans}{_more(holding['held'])}")
    if not holding["has_top"]:
        yield _line("its top span has not come")
    if holding["missing_parents"]:
        parents = ", ".join(
            one["span_id"] + (" (perhaps in another service)" if one["perhaps_elsewhere"] else "")
            for one in holding["missing_parents"][:_LISTED]
        )
        yield _line(f"parents that have not come: {parents}{_more(holding['missing_parents'])}")
    job = holding["job"]
    if job is not None:
        about = "runs" if job["complete"] else "steps"
        where = _JOBS.get(job["at"], "between two processes")
        overdue = "; its hold is over, so what it still says goes on evaluation spans" if job["overdue"] else ""
        yield _line(f"job on {about} since {job['for_s']:.1f} s: {where}{overdue}")
    for wait in holding["waits_for"]:
        yield _line(f"waits for {_WAITS[wait['setting']]}: {max(wait['left_s'], 0.0):.1f} s left")


def _timeline(events: Sequence[Told], omitted: int) -> Iterator[RenderableType]:
    for event in events:
        yield _line(f"{event['after_s']:+10.3f} s  {_event(event)}")
    if omitted:
        yield _line(f"and {omitted} more events, of which nothing was kept")


def _event(event: Told) -> str:
    match event["event"]:
        case "arrived":
            more = [f"{event[key]} {key}" for key in ("late", "repeated") if event[key]]
            return f"{event['spans']} new spans over {event['receiver']}" + (f", {', '.join(more)}" if more else "")
        case "submitted":
            what = "whole runs" if event["complete"] else "steps"
            how = ", by rules alone" if event["rules_only"] else ""
            return f"handed in to be judged: {what}{', known to be partial' if event['partial'] else ''}{how}"
        case "answered":
            if event["failure"]:
                return f"no result: {event['failure']}"
            return "judged" if event["final"] else "judged by rules; a judge is being asked"
        case "left":
            early = ", before their run was judged" if event["early"] else ""
            return f"{event['spans']} spans sent on, {event['with_scores']} of them with scores{early}"
        case "content_dropped":
            return "content dropped"
        case _:
            return f"{event['exporter']} {event['end'].replace('_', ' ')} a request with spans of it"


def _verdicts(verdicts: Sequence[Told]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("span", "evaluator", "status", "label", "score", "by", "issues", "told", "after"):
        table.add_column(column, overflow="fold")
    for one in verdicts:
        score = "" if one["score"] is None else f"{one['score']:g}"
        by = one["method"] + (f" {one['confidence']:g}" if one["confidence"] is not None else "")
        told = _WAYS[one["way"]] + (", superseding the one before" if one["sequence"] else "")
        cells = (one["span_id"], one["evaluator"], one["status"], one["label"] or "", score, by)
        table.add_row(*map(_line, (*cells, " ".join(one["issues"]), told, f"{one['after_s']:.1f} s")))
    return table


def _reasons(verdicts: Sequence[Told]) -> Iterator[RenderableType]:
    for one in verdicts:
        for text in dict.fromkeys(filter(None, (one["why"], one.get("explanation", "")))):
            yield _line(f"{one['span_id']} {one['evaluator']} {one['status']}: {text}")


def _destination(one: Told) -> str:
    parts = [
        f"{count} {words}"
        for count, words in (
            (one["held_spans"], "spans held"),
            (one["queued_requests"], "requests queued or under way"),
            (one["rejected_requests"], "requests in which it rejected items"),
            (one["dead_lettered_requests"], "requests in the dead-letter file"),
            (one["unseen_requests"], "requests that could not be looked at"),
        )
        if count
    ]
    return f"{one['exporter']}: {one['state']}" + (f" ({', '.join(parts)})" if parts else "")


def _more(listed: Sequence[object]) -> str:
    return f" and {len(listed) - _LISTED} more" if len(listed) > _LISTED else ""


def _line(text: str) -> Text:
    return Text(clean(text, _CHARS))
