"""MLflow's traces as JSON: `info` about the trace, and its spans under `data`, in both versions of its schema.

The spans carry MLflow's own attributes as its OpenTelemetry export has them; the session stands in the metadata.
"""

from __future__ import annotations

from collections.abc import Iterator

from collector.receivers.formats.plain_span import requests_of
from collector.receivers.formats.shape import Fields, Findings, Form, Request
from collector.receivers.formats.span_object import Around
from collector.receivers.formats.span_trees import spans_below

_SESSION = "mlflow.trace.session"


def _recognises(item: Fields) -> bool:
    data = item.get("data")
    return isinstance(item.get("info"), dict) and isinstance(data, dict) and isinstance(data.get("spans"), list)


def _read(item: Fields, place: str, findings: Findings) -> Iterator[Request]:
    info, data = item["info"], item["data"]
    assert isinstance(info, dict) and isinstance(data, dict)
    metadata = info.get("trace_metadata", info.get("request_metadata"))
    session = metadata.get(_SESSION) if isinstance(metadata, dict) else None
    around = Around(trace_id=info.get("trace_id", info.get("request_id")), session_id=session)
    yield from requests_of(spans_below({"spans": data["spans"]}, f"{place}.data", findings, around))


MLFLOW = Form("MLflow", _recognises, _read)
