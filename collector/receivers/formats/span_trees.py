"""Spans as JSON objects, one by one, in traces, or nested in each other.

A trace is an object with a list of spans, from which they may take its id and session; a nested span has its parent
around it.  Where ids are missing, they are made of what stands there, so that the same file gives the same ids.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from collector.receivers.formats.fields import Keys
from collector.receivers.formats.ids import SPAN_BYTES, TRACE_BYTES, Ids, hashed
from collector.receivers.formats.plain_span import PlainSpan, json_of, requests_of
from collector.receivers.formats.shape import Fields, Findings, Form, Request, WrongPieceError, inside
from collector.receivers.formats.span_object import (
    CHILDREN,
    CONTEXTS,
    NOWHERE,
    SESSIONS,
    SPAN_IDS,
    TRACE_IDS,
    Around,
    is_span_object,
    read_span,
)

_MADE_IDS = "spans without ids got ids made of their place in the trace"
_MADE_TRACE_IDS = "spans that say nothing of a trace were taken for one with those around them"
_LOOKED_AT = 3
_ROOTS = ("root", "rootspan", "roots", "rootspans", "tree", "spantree", "nodes")


def _recognises(item: Fields) -> bool:
    return is_span_object(item) or _is_trace(item) or _is_header(item)


def _is_header(item: Fields) -> bool:
    """What the OpenAI Agents SDK writes before the spans of a trace."""
    return item.get("object") == "trace" and isinstance(item.get("id"), str)


def _is_trace(item: Fields) -> bool:
    trace_id = Keys(item).get(*TRACE_IDS)
    around = {} if trace_id is None else {TRACE_IDS[0]: trace_id}
    found = _children(item)[1]
    return any(isinstance(one, dict) and is_span_object(around | one) for one in found[:_LOOKED_AT])


def _read(item: Fields, place: str, findings: Findings) -> Iterator[Request]:
    if _is_header(item) and not _is_trace(item):
        findings.note("objects that tell of a trace as a whole were passed over: its name, its group")
        return
    yield from requests_of(spans_below(item, place, findings))


def are_one_trace(items: list[object]) -> bool:
    """Whether a list holds spans that don't say which trace they are of."""
    first = [one for one in items[:_LOOKED_AT] if isinstance(one, dict)]
    untold = all(not _has_trace_id(one) and not _children(one)[1] for one in first)
    return untold and any(is_span_object(one) for one in first)


def _has_trace_id(one: object) -> bool:
    keys = Keys(one if isinstance(one, dict) else {})
    return "contexttraceid" in keys or bool(Keys(keys.fields(*CONTEXTS)).get(*TRACE_IDS) or keys.get(*TRACE_IDS))


def spans_below(item: Fields, place: str, findings: Findings, around: Around = NOWHERE) -> Iterator[PlainSpan]:
    """Every span in a trace, or in a span with spans inside."""
    ids = Ids(findings)
    waiting: list[tuple[object, str, Around]] = []
    if is_span_object(item):
        waiting.append((item, place, around))
    else:
        waiting += reversed(list(_inside(item, place, _around_of_trace(item, around, findings))))
    while waiting:
        one, where, here = waiting.pop()
        try:
            one, here = _with_ids(one, where, here, findings)
            span = read_span(one, ids, here)
        except WrongPieceError as error:
            findings.flaw(where, str(error))
            below = replace(here, parent_id=None)
        else:
            yield span
            below = replace(here, trace_id=span.trace_id.hex(), parent_id=span.span_id.hex())
        if isinstance(one, dict):
            waiting += reversed(list(_inside(one, where, below)))


def _inside(item: Fields, place: str, around: Around) -> Iterator[tuple[object, str, Around]]:
    key, found = _children(item)
    for index, one in enumerate(found):
        yield one, inside(place, f".{key}[{index}]"), around


def _children(item: Fields) -> tuple[str, list[object]]:
    """The first list of objects under a key that means spans inside, or the one object there that is the root."""
    keys = Keys(item)
    for key in (*CHILDREN, *_ROOTS):
        found = keys.get(key)
        if isinstance(found, dict) and key in _ROOTS:
            found = [found]
        if isinstance(found, list) and any(isinstance(one, dict) for one in found):
            return key, found
    return "", []


def _around_of_trace(item: Fields, around: Around, findings: Findings) -> Around:
    keys = Keys(item)
    session = keys.text(*SESSIONS)
    trace_id = keys.get(*TRACE_IDS, "id", "requestid")
    if trace_id is None and not around.trace_id:
        if not all(map(_has_trace_id, _children(item)[1])):
            findings.note(_MADE_TRACE_IDS)
        trace_id = hashed(json_of(item), TRACE_BYTES).hex()
    return replace(around, trace_id=trace_id or around.trace_id, session_id=session or around.session_id)


def _with_ids(one: object, place: str, around: Around, findings: Findings) -> tuple[object, Around]:
    if not isinstance(one, dict):
        return one, around
    keys = Keys(one)
    context = Keys(keys.fields(*CONTEXTS))
    if context.get(*TRACE_IDS) is None and keys.get(*TRACE_IDS) is None and around.trace_id is None:
        if not _children(one)[1]:
            raise WrongPieceError("it has no trace id")
        findings.note(_MADE_IDS)
        around = replace(around, trace_id=hashed(json_of(one), TRACE_BYTES).hex())
    if context.get("spanid") is None and keys.get(*SPAN_IDS) is None and around.trace_id is not None:
        findings.note(_MADE_IDS)
        one = {**one, "span_id": hashed(f"{around.trace_id} {around.parent_id} {place}", SPAN_BYTES).hex()}
    return one, around


SPAN_TREES = Form("spans as JSON objects", _recognises, _read)
