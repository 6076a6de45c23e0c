"""Traces of Langfuse, LangSmith and MLflow become the attributes that their own SDKs write on spans."""

from __future__ import annotations

from typing import Any

import pytest

from tests.collector.formats.reading import TRACE, attributes, read, requests

SPAN, PARENT = "eee19b7ec3c1b174", "eee19b7ec3c1b173"
OBSERVATION = {
    "id": SPAN,
    "traceId": TRACE,
    "parentObservationId": PARENT,
    "type": "GENERATION",
    "name": "chat",
    "startTime": "2026-11-30T19:02:55.000Z",
    "endTime": "2026-11-30T19:02:56.000Z",
    "model": "m",
    "level": "ERROR",
    "statusMessage": "closed",
    "input": {"messages": [{"role": "user", "content": "hello"}]},
    "output": "hi",
    "metadata": {
        "attributes": {"gen_ai.system": "openai"},
        "resourceAttributes": {"service.name": "library"},
        "scope": {"name": "langfuse-sdk", "version": "5.0"},
    },
}
WRITTEN = {
    "langfuse.observation.type": "generation",
    "langfuse.observation.input": '{"messages":[{"role":"user","content":"hello"}]}',
    "langfuse.observation.output": "hi",
    "langfuse.observation.model.name": "m",
    "langfuse.observation.level": "ERROR",
    "langfuse.observation.status_message": "closed",
    "gen_ai.system": "openai",
}


def in_snake_case(observation: dict[str, Any]) -> dict[str, Any]:
    return {"".join(f"_{c.lower()}" if c.isupper() else c for c in key): value for key, value in observation.items()}


@pytest.mark.parametrize(
    ("document", "session"),
    [
        ({"id": TRACE, "name": "desk", "sessionId": "desk-5", "observations": [OBSERVATION]}, {"session.id": "desk-5"}),
        ({"data": [OBSERVATION], "meta": {"page": 1}}, {}),
        ([in_snake_case(OBSERVATION)], {}),
    ],
    ids=["a trace", "a page of observations", "a row of an export"],
)
def test_an_observation_of_langfuse_is_the_span_it_was(document: object, session: dict[str, str]) -> None:
    (resource,), findings = requests(document)
    assert findings.flaws == []
    assert attributes(resource.resource.attributes) == {"service.name": "library"}
    assert resource.scope_spans[0].scope.name == "langfuse-sdk"
    (span,) = resource.scope_spans[0].spans
    assert (span.trace_id.hex(), span.span_id.hex(), span.parent_span_id.hex()) == (TRACE, SPAN, PARENT)
    assert (span.status.code, span.status.message) == (2, "closed")
    assert attributes(span.attributes) == WRITTEN | session


def run(run_id: str, **fields: object) -> dict[str, Any]:
    return {"id": run_id, "name": run_id, "start_time": "2026-11-30T19:02:55.1", "inputs": {}, "outputs": {}, **fields}


def test_runs_of_langsmith_keep_their_tree_whether_nested_or_not() -> None:
    root, child = "01a22dd6-b8fe-7e3c-9773-dcd28f39148e", "01a22dd6-b8fe-741c-8248-2110e199ed90"
    inner = run(child, run_type="tool", trace_id=root, parent_run_id=root)
    nested = run(root, run_type="chain", trace_id=root, child_runs=[inner])
    flat = [run(root, run_type="chain", trace_id=root), inner]
    for document in (nested, flat):
        spans, findings = read(document)
        assert [span.name for span in spans] == [root, child]
        assert {span.trace_id.hex() for span in spans} == {root.replace("-", "")}
        assert spans[1].parent_span_id == spans[0].span_id
        assert len(findings.notes) == 2, "that ids were replaced, and that the time has no zone"


def test_an_mlflow_trace_of_the_older_schema_has_its_session_too() -> None:
    span = {
        "name": "desk",
        "context": {"trace_id": f"0x{TRACE}", "span_id": f"0x{SPAN}"},
        "parent_id": None,
        "start_time": 1796065375000000000,
        "end_time": 1796065376000000000,
        "status_code": "OK",
        "attributes": {"mlflow.spanType": '"AGENT"'},
        "events": [],
    }
    info = {"request_id": f"tr-{TRACE}", "request_metadata": {"mlflow.trace.session": "desk-5"}}
    (found,), _ = read({"info": info, "data": {"spans": [span], "request": "{}"}})
    assert (found.trace_id.hex(), found.status.code) == (TRACE, 1)
    assert attributes(found.attributes) == {"mlflow.spanType": '"AGENT"', "session.id": "desk-5"}
