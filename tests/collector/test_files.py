"""Saved requests are found, recognised and read; what can't be read costs itself alone."""

import gzip
import json
import os
from pathlib import Path

import pytest

from collector.receivers.files import Payload, Problem, read_paths
from collector.records import Signal
from tests.collector.otlp_samples import (
    SPAN_ID,
    TRACE_ID,
    field,
    logs_request,
    metrics_request,
    request,
    span,
    spans_of,
)

SPAN = {"traceId": TRACE_ID.hex(), "spanId": SPAN_ID.hex(), "name": "op"}
JSON_SPAN = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [SPAN]}]}]})
PRETTY_SPAN = json.dumps(json.loads(JSON_SPAN), indent=2)


def read(folder: Path) -> tuple[list[Payload], list[Problem]]:
    found = list(read_paths([folder]))
    payloads = [one for one in found if isinstance(one, Payload)]
    return payloads, [one for one in found if isinstance(one, Problem)]


@pytest.mark.parametrize(
    ("serialised", "signal"),
    [(request(span()), Signal.TRACES), (logs_request(), Signal.LOGS), (metrics_request(), Signal.METRICS)],
)
def test_a_protobuf_file_is_read_as_it_is_whatever_its_name_says(
    tmp_path: Path, serialised: bytes, signal: Signal
) -> None:
    (tmp_path / "traces.pb").write_bytes(serialised)
    payloads, problems = read(tmp_path)
    assert [(one.signal, one.request) for one in payloads] == [(signal, serialised)]
    assert problems == []


def test_folders_are_read_recursively_in_sorted_order(tmp_path: Path) -> None:
    for name in ("b/2.pb", "b/1.pb", "a.pb"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(request(span()))
    assert [one.path.relative_to(tmp_path).as_posix() for one in read(tmp_path)[0]] == ["a.pb", "b/1.pb", "b/2.pb"]


@pytest.mark.parametrize("name", ["spans.json", "spans.jsonl"])
@pytest.mark.parametrize("text", [JSON_SPAN, PRETTY_SPAN], ids=["one line", "many lines"])
def test_a_json_file_is_converted_whole(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    (payload,), problems = read(tmp_path)
    assert (payload.position, spans_of(payload.request)[0].name, problems) == ("", "op", [])


@pytest.mark.parametrize("name", ["spans.json", "spans.jsonl"])
def test_a_file_of_lines_is_one_request_a_line(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(f"{JSON_SPAN}\n\n{JSON_SPAN}\n")
    payloads, problems = read(tmp_path)
    assert ([one.position for one in payloads], problems) == (["line 1", "line 3"], [])


def test_a_line_that_cannot_be_read_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    (tmp_path / "spans.jsonl").write_text(f'{{"broken\n{JSON_SPAN}\n{{"resourceSpans": 7}}\n{JSON_SPAN}')
    payloads, problems = read(tmp_path)
    assert [one.position for one in payloads] == ["line 2", "line 4"]
    assert [(one.position.partition(",")[0], one.skipped) for one in problems] == [("line 1", False), ("line 3", False)]
    assert "resourceSpans: an array is due" in str(problems[1])


def test_an_object_of_several_signals_is_one_payload_each(tmp_path: Path) -> None:
    document = json.loads(JSON_SPAN) | {"resource_logs": [{"scope_logs": [{"log_records": [{"event_name": "said"}]}]}]}
    (tmp_path / "all.json").write_text(json.dumps(document))
    assert [one.signal for one in read(tmp_path)[0]] == [Signal.TRACES, Signal.LOGS]


@pytest.mark.parametrize("name", ["spans.pb", "spans.pb.gz", "spans.json.gz"])
def test_files_may_be_compressed_whatever_their_name(tmp_path: Path, name: str) -> None:
    content = JSON_SPAN.encode() if "json" in name else request(span())
    (tmp_path / name).write_bytes(gzip.compress(content))
    (payload,), problems = read(tmp_path)
    assert (spans_of(payload.request)[0].name, problems) == ("op", [])


def test_files_of_another_kind_are_passed_over_with_a_note(tmp_path: Path) -> None:
    (tmp_path / "expected.json").write_text("{}")
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "other.json").write_text('{"data": [], "total": 0}')
    payloads, problems = read(tmp_path)
    assert payloads == []
    assert all(one.skipped for one in problems)
    assert [one.path.name for one in problems] == ["expected.json", "notes.txt", "other.json"]
    assert "an object with the keys data, total; known are OTLP" in str(problems[2])


def test_lines_without_traces_are_told_once(tmp_path: Path) -> None:
    line = json.dumps({"messages": [{"role": "user", "content": "hello"}]})
    (tmp_path / "dataset.jsonl").write_text("\n".join([line] * 5))
    payloads, problems = read(tmp_path)
    assert payloads == []
    assert [(one.position, one.skipped) for one in problems] == [("line 1", True), ("", True)]
    assert "messages is an array of 1, the first an object with the keys role, content" in str(problems[0])
    assert "no traces in 4 more of its values" in str(problems[1])


def test_what_could_not_be_converted_exactly_is_noted_once_for_the_file(tmp_path: Path) -> None:
    span = {"traceId": TRACE_ID.hex(), "spanId": "obs-1", "name": "op", "startTime": "2026-11-30T19:02:55Z"}
    (tmp_path / "spans.jsonl").write_text("\n".join(json.dumps(span | {"spanId": f"obs-{n}"}) for n in range(3)))
    payloads, (note,) = read(tmp_path)
    assert len(payloads) == 3
    assert note.skipped
    assert "ids that don't have 8 or 16 bytes" in str(note)


BROKEN = [
    ("cut.pb", request(span())[:-4], "not an OTLP request in protobuf: request: field 1 says"),
    ("text.pb", b"hello there", "not an OTLP request in protobuf"),
    ("broken.json", b'{"resourceSpans": [\n oops', "line 2, column 2: not JSON"),
    ("empty.json", b"", "not JSON"),
    ("wrong.json", b'{"resourceSpans": [{"scopeSpans": 1}]}', "resourceSpans[0].scopeSpans: an array is due"),
    ("cut.pb.gz", gzip.compress(request(span()))[:-9], "it is compressed with gzip, and cut off or damaged"),
]


@pytest.mark.parametrize(("name", "content", "complaint"), BROKEN, ids=[row[0] for row in BROKEN])
def test_a_file_that_cannot_be_read_is_named_with_the_place(
    tmp_path: Path, name: str, content: bytes, complaint: str
) -> None:
    (tmp_path / name).write_bytes(content)
    (tmp_path / "z.pb").write_bytes(request(span()))
    payloads, (problem,) = read(tmp_path)
    assert len(payloads) == 1
    assert not problem.skipped
    assert str(problem).startswith(str(tmp_path / name))
    assert complaint in str(problem)


def test_a_path_that_does_not_exist_is_a_problem(tmp_path: Path) -> None:
    (problem,) = read_paths([tmp_path / "missing.pb"])
    assert isinstance(problem, Problem)
    assert "No such file" in str(problem)


def test_a_file_with_nothing_in_it_is_an_empty_request(tmp_path: Path) -> None:
    (tmp_path / "empty.pb").write_bytes(b"")
    (tmp_path / "empty.json").write_text("{}")
    assert [one.request for one in read(tmp_path)[0]] == [b"", b""]


def test_a_broken_span_inside_is_left_to_whoever_slices(tmp_path: Path) -> None:
    serialised = field(1, field(2, field(2, span()[:-3])))
    (tmp_path / "span.pb").write_bytes(serialised)
    assert read(tmp_path)[0][0].request == serialised


def test_what_is_no_regular_file_is_named_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "zeros.json").symlink_to("/dev/zero")
    (tmp_path / "self.json").symlink_to("self.json")
    (tmp_path / "gone.json").symlink_to(tmp_path / "nowhere")
    (tmp_path / "again").symlink_to(tmp_path)
    (tmp_path / "z.pb").write_bytes(request(span()))
    payloads, problems = read(tmp_path)
    assert [one.path.name for one in payloads] == ["z.pb"]
    assert [one.path.name for one in problems if not one.skipped] == [
        "gone.json",
        "pipe.json",
        "self.json",
        "zeros.json",
    ]


def test_a_name_that_no_file_can_have_costs_itself_alone(tmp_path: Path) -> None:
    (tmp_path / "z.pb").write_bytes(request(span()))
    problem, payload = read_paths([tmp_path / ("a" * 300 + ".json"), tmp_path / "z.pb"])
    assert isinstance(problem, Problem) and "File name too long" in problem.message
    assert isinstance(payload, Payload)


def test_keys_of_a_stranger_act_on_no_terminal_and_are_told_in_short(tmp_path: Path) -> None:
    odd = "\x1b[31mred\u202e" + "k" * 10_000
    (tmp_path / "a.json").write_text(json.dumps({odd: 1}))
    (tmp_path / "b.json").write_text(json.dumps({odd: [SPAN | {"startTimeUnixNano": "1", "spanId": 7}]}))
    _, problems = read(tmp_path)
    assert len(problems) == 2
    for problem in problems:
        assert "red" in str(problem) and len(str(problem).replace(str(tmp_path), "")) < 400
        assert str(problem).isprintable()


@pytest.mark.parametrize("content", ["[]", '["a", 1]'])
def test_json_that_is_no_object_is_no_file_of_another_kind_but_a_failure(tmp_path: Path, content: str) -> None:
    (tmp_path / "request.json").write_text(content)
    payloads, (problem,) = read(tmp_path)
    assert (payloads, problem.skipped) == ([], False)
