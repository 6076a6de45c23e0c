"""What the recorder decides by itself: which facts are in the bytes, and what is taken out of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.recorder.content import Content
from tests.recorder.model.server import ModelServer
from tests.recorder.neutral import neutral
from tests.recorder.recordings import RECORDINGS
from tests.recorder.run import RECORDED
from tests.recorder.scenarios import SCENARIOS
from tests.recorder.sink import Received

ARGUMENTS = {"title": "The Salt Road", "branch": "Riverside"}
PATHS = {Path("/home/somebody/project"): "/app"}


def request(**attributes: str) -> Received:
    """A request with one span."""
    message = ExportTraceServiceRequest()
    span = message.resource_spans.add().scope_spans.add().spans.add(name="chat")
    for key, value in attributes.items():
        span.attributes.add(key=key).value.string_value = value
    return Received("traces", "pb", message.SerializeToString())


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(ARGUMENTS),
        json.dumps({"branch": "Riverside", "title": "The Salt Road"}),
        json.dumps({"input": json.dumps({"arguments": json.dumps(ARGUMENTS)})}),
        repr({"args": (), "kwargs": ARGUMENTS}),
    ],
)
def test_arguments_are_found_however_they_are_encoded(text: str) -> None:
    assert Content([request(anything=text)]).has_arguments(ARGUMENTS)


def test_arguments_of_another_call_are_not_taken_for_them() -> None:
    other = json.dumps({"title": "The Salt Road", "branch": "Central"})

    assert not Content([request(anything=other)]).has_arguments(ARGUMENTS)


def test_a_request_that_names_nothing_of_the_host_stays_as_it_came() -> None:
    came = request(code="/usr/lib/python3.11/json/decoder.py")

    assert neutral(came, PATHS) is came


def test_folders_and_processes_are_replaced() -> None:
    came = request(**{"exception.stacktrace": "/home/somebody/project/agent.py", "process.pid": "4711"})

    body = neutral(came, PATHS).body

    assert b"/app/agent.py" in body
    assert b"somebody" not in body
    assert b"4711" not in body


def test_the_model_answers_the_nth_request_with_the_nth_turn() -> None:
    with ModelServer(SCENARIOS["lend"]) as model:
        answers = [
            json.loads(model.answer("/v1/chat/completions", {"model": "m", "messages": []}).body) for _ in range(2)
        ]
        beyond = model.answer("/v1/chat/completions", {"model": "m", "messages": []})

    first, second = (answer["choices"][0]["message"] for answer in answers)
    assert json.loads(first["tool_calls"][0]["function"]["arguments"]) == ARGUMENTS
    assert second["content"] == SCENARIOS["lend"].turns[1].text
    assert beyond.status == 400


def test_every_recorded_run_is_one_that_can_be_made_again() -> None:
    kept = {(facts.parent.parent.name, facts.parent.name) for facts in RECORDED.glob("*/*/facts.json")}

    assert kept <= {(dialect, name) for dialect, each in RECORDINGS.items() for name in each.scenarios}
