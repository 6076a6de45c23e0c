"""Answers are short, and say nothing of what was received."""

import json
import logging

import pytest
from google.rpc.status_pb2 import Status

from collector.intake import Accepted, MalformedRequestError
from collector.receivers.answers import (
    refusal_for,
    status_json,
    status_protobuf,
    success_json,
    success_protobuf,
)
from collector.records import Signal


def test_a_success_without_anything_to_say_is_an_empty_message() -> None:
    assert success_protobuf(Accepted()) == b""
    assert success_json(Signal.LOGS, Accepted()) == b"{}"


@pytest.mark.parametrize(
    ("signal", "name"),
    [(Signal.TRACES, "rejectedSpans"), (Signal.LOGS, "rejectedLogRecords"), (Signal.METRICS, "rejectedDataPoints")],
)
def test_each_signal_has_its_own_name_for_what_was_rejected(signal: Signal, name: str) -> None:
    assert json.loads(success_json(signal, Accepted(2, "why"))) == {
        "partialSuccess": {name: "2", "errorMessage": "why"}
    }


def test_messages_are_cut_to_a_size_that_fits_into_any_answer() -> None:
    refusal = refusal_for(MalformedRequestError("x" * 1_000_000))
    assert len(status_json(refusal)) < 10_000
    assert len(status_protobuf(refusal)) < 20_000
    assert len(success_protobuf(Accepted(1, "x" * 1_000_000))) < 10_000


def test_an_unforeseen_error_is_logged_with_its_place_and_without_its_text(caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> None:
        raise KeyError("a customer's name")

    try:
        fail()
    except KeyError as error:
        with caplog.at_level(logging.ERROR):
            refusal = refusal_for(error)
    assert refusal.http_status == 503
    assert "customer" not in refusal.message + caplog.text
    assert "KeyError at" in caplog.text
    assert "test_answers.py" in caplog.text
    assert Status.FromString(status_protobuf(refusal)).code == 14
