"""Langfuse's traces and observations, from its API and its exports → the attributes that its SDK writes on spans.

An observation with OpenTelemetry's own attributes, resource and scope in its metadata gets them back from there.
"""

from __future__ import annotations

from collections.abc import Iterator

from collector.json_text import JsonTextError, read_json
from collector.receivers.formats.fields import Keys
from collector.receivers.formats.ids import Ids
from collector.receivers.formats.plain_span import PlainSpan, json_of, requests_of
from collector.receivers.formats.shape import Fields, Findings, Form, Request, WrongPieceError
from collector.receivers.formats.span_object import SESSIONS, TRACE_IDS, Around, read_span

_TYPES = frozenset(
    {"GENERATION", "SPAN", "EVENT", "AGENT", "TOOL", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL"}
)
_CONTENT = ("input", "output")
_PREFIX = "langfuse.observation."


def _recognises(item: Fields) -> bool:
    return _is_trace(item) or _is_observation(item)


def _is_trace(item: Fields) -> bool:
    observations = item.get("observations")
    first = observations[0] if isinstance(observations, list) and observations else None
    return isinstance(first, dict) and _type_of(Keys(first)) in _TYPES


def _is_observation(item: Fields) -> bool:
    keys = Keys(item)
    at_home = any(key in item for key in ("parentObservationId", "parent_observation_id"))
    return at_home and _type_of(keys) in _TYPES and keys.get(*TRACE_IDS) is not None


def _type_of(keys: Keys) -> str:
    return keys.text("type", "observationtype").upper()


def _read(item: Fields, place: str, findings: Findings) -> Iterator[Request]:
    yield from requests_of(_spans(item, place, findings))


def _spans(item: Fields, place: str, findings: Findings) -> Iterator[PlainSpan]:
    ids = Ids(findings)
    if not _is_trace(item):
        yield _span(item, ids, Around())
        return
    keys = Keys(item)
    around = Around(trace_id=keys.get("id", *TRACE_IDS), session_id=keys.get(*SESSIONS))
    observations = item["observations"]
    assert isinstance(observations, list)
    for index, one in enumerate(observations):
        try:
            yield _span(one, ids, around)
        except WrongPieceError as error:
            findings.flaw(f"{place}.observations[{index}]", str(error))


def _span(item: object, ids: Ids, around: Around) -> PlainSpan:
    if not isinstance(item, dict):
        raise WrongPieceError("it is no object")
    keys = Keys(item)
    metadata = _decoded(keys.get("metadata"))
    inner = metadata if isinstance(metadata, dict) else {}
    attributes = inner.get("attributes")
    written: Fields = dict(attributes) if isinstance(attributes, dict) else {}
    written[f"{_PREFIX}type"] = _type_of(keys).lower()
    for side in _CONTENT:
        value = keys.get(side)
        if value is not None:
            written[f"{_PREFIX}{side}"] = value if isinstance(value, str) else json_of(value)
    told = {
        "model.name": keys.text("model", "providedmodelname"),
        "level": keys.text("level"),
        "status_message": keys.text("statusmessage"),
    }
    written |= {f"{_PREFIX}{name}": text for name, text in told.items() if text}
    plain = {
        "traceId": keys.get(*TRACE_IDS),
        "spanId": keys.get("id"),
        "parentSpanId": keys.get("parentobservationid"),
        "name": keys.get("name"),
        "startTime": keys.get("starttime"),
        "endTime": keys.get("endtime"),
        "level": keys.get("level"),
        "statusMessage": keys.get("statusmessage"),
        "sessionId": keys.get(*SESSIONS),
        "attributes": written,
        "resource": inner.get("resourceAttributes"),
        "scope": inner.get("scope"),
    }
    return read_span(plain, ids, around)


def _decoded(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return read_json(value.encode())
    except JsonTextError:
        return value


LANGFUSE = Form("Langfuse", _recognises, _read)
