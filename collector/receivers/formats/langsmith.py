"""LangSmith's runs, one by one or nested → the attributes that its OpenTelemetry export writes on spans."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from collector.receivers.formats.ids import Ids
from collector.receivers.formats.plain_span import PlainSpan, json_of, requests_of
from collector.receivers.formats.shape import Fields, Findings, Form, Request, WrongPieceError, inside
from collector.receivers.formats.span_object import NOWHERE, Around, read_span

_OPERATIONS = {"llm": "chat", "tool": "execute_tool", "retriever": "retrieval", "embedding": "embeddings"}


def _recognises(item: Fields) -> bool:
    return isinstance(item.get("run_type"), str) and ("inputs" in item or "outputs" in item or "dotted_order" in item)


def _read(item: Fields, place: str, findings: Findings) -> Iterator[Request]:
    yield from requests_of(_spans(item, place, findings))


def _spans(item: Fields, place: str, findings: Findings) -> Iterator[PlainSpan]:
    ids = Ids(findings)
    waiting: list[tuple[object, str, Around]] = [(item, place, NOWHERE)]
    while waiting:
        run, where, around = waiting.pop()
        try:
            span = _span(run, ids, around)
        except WrongPieceError as error:
            findings.flaw(where, str(error))
            continue
        yield span
        children = run.get("child_runs") if isinstance(run, dict) else None
        below = replace(around, trace_id=span.trace_id.hex(), parent_id=span.span_id.hex())
        for index, one in reversed(list(enumerate(children if isinstance(children, list) else ()))):
            waiting.append((one, inside(where, f".child_runs[{index}]"), below))


def _span(run: object, ids: Ids, around: Around) -> PlainSpan:
    if not isinstance(run, dict):
        raise WrongPieceError("it is no object")
    kind = str(run.get("run_type"))
    extra = run.get("extra")
    extra = extra if isinstance(extra, dict) else {}
    attributes: Fields = {
        "langsmith.span.kind": kind,
        "gen_ai.operation.name": _OPERATIONS.get(kind, kind),
        **_text("gen_ai.prompt", run.get("inputs")),
        **_text("gen_ai.completion", run.get("outputs")),
    }
    if kind == "tool":
        attributes["gen_ai.tool.name"] = run.get("name")
    parameters = extra.get("invocation_params")
    tools = parameters.get("tools") if isinstance(parameters, dict) else None
    if tools:
        attributes |= _text("gen_ai.tool.definitions", tools)
    metadata = extra.get("metadata")
    for key, value in (metadata if isinstance(metadata, dict) else {}).items():
        attributes[f"langsmith.metadata.{key}"] = value if isinstance(value, str) else json_of(value)
    plain = {
        # A root run is the trace.
        "traceId": run.get("trace_id") or around.trace_id or run.get("id"),
        "spanId": run.get("id"),
        "parentSpanId": run.get("parent_run_id"),
        "name": run.get("name"),
        "startTime": run.get("start_time"),
        "endTime": run.get("end_time"),
        "error": run.get("error"),
        "attributes": attributes,
        "scope": "langsmith",
    }
    return read_span(plain, ids, around)


def _text(key: str, value: object) -> Fields:
    if value is None:
        return {}
    return {key: value if isinstance(value, str) else json_of(value)}


LANGSMITH = Form("LangSmith", _recognises, _read)
