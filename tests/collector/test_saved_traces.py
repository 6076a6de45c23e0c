"""Saved files gathered by trace: over many files, with what can't be read costing itself alone."""

from __future__ import annotations

from pathlib import Path

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord, ResourceLogs, ScopeLogs
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span

from collector.saved_traces import read_saved_traces


def span(trace: int, number: int, **fields: object) -> Span:
    ids = {"trace_id": bytes([trace]) * 16, "span_id": number.to_bytes(8)}
    return Span(**{**ids, "name": f"s{number}", **fields})  # type: ignore[arg-type]


def traces(*spans: Span) -> bytes:
    scope = ScopeSpans(spans=spans)
    return ExportTraceServiceRequest(resource_spans=[ResourceSpans(scope_spans=[scope])]).SerializeToString()


def logs(*records: LogRecord) -> bytes:
    scope = ScopeLogs(log_records=records)
    return ExportLogsServiceRequest(resource_logs=[ResourceLogs(scope_logs=[scope])]).SerializeToString()


def test_a_trace_spread_over_files_is_one_trace(tmp_path: Path) -> None:
    (tmp_path / "1.pb").write_bytes(traces(span(1, 1), span(2, 2)))
    (tmp_path / "2.pb").write_bytes(traces(span(1, 3)))
    saved = read_saved_traces([tmp_path])
    assert [(one.trace_id[0], [record.span_id[-1] for record in one.spans]) for one in saved.traces] == [
        (1, [1, 3]),
        (2, [2]),
    ]
    assert [record.span_id[-1] for record in saved.spans] == [1, 2, 3]


def test_log_records_join_the_trace_that_they_name_and_make_none_of_their_own(tmp_path: Path) -> None:
    named = LogRecord(time_unix_nano=1, trace_id=b"\1" * 16, span_id=b"\0" * 7 + b"\1")
    alone = LogRecord(time_unix_nano=1, trace_id=b"\2" * 16)
    (tmp_path / "0-logs.pb").write_bytes(logs(named, alone, LogRecord(time_unix_nano=1)))
    (tmp_path / "1.pb").write_bytes(traces(span(1, 1)))
    saved = read_saved_traces([tmp_path])
    assert [(one.trace_id[0], len(one.logs)) for one in saved.traces] == [(1, 1)]


def test_what_cannot_be_read_names_its_file_and_costs_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "bad.pb").write_bytes(b"\xff\xff\xff")
    (tmp_path / "bad.jsonl").write_text('{"resourceSpans": []}\n{"resourceSpans": [\n')
    (tmp_path / "good.pb").write_bytes(traces(span(1, 1)))
    saved = read_saved_traces([tmp_path, tmp_path / "absent.pb"])
    assert len(saved.spans) == 1
    assert [Path(failure.split(",")[0].split(":")[0]).name for failure in saved.failures] == [
        "bad.jsonl",
        "bad.pb",
        "absent.pb",
    ]
    assert "line 2" in saved.failures[0]


def test_a_span_that_no_backend_would_take_is_left_out_and_reported_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "a.pb").write_bytes(traces(span(1, 1), span(1, 2, trace_id=b"short")))
    saved = read_saved_traces([tmp_path])
    assert [record.span_id[-1] for record in saved.spans] == [1]
    (failure,) = saved.failures
    assert failure.startswith(str(tmp_path / "a.pb"))
    assert "spans[1]" in failure


def test_other_files_are_passed_over_with_a_note(tmp_path: Path) -> None:
    (tmp_path / "expected.json").write_text("{}")
    (tmp_path / "readme.txt").write_text("hello")
    (tmp_path / "package.json").write_text('{"name": "x"}')
    saved = read_saved_traces([tmp_path])
    assert (len(saved.notes), saved.failures, saved.traces) == (3, [], [])


def test_a_path_that_does_not_exist_is_no_note_but_a_failure(tmp_path: Path) -> None:
    saved = read_saved_traces([tmp_path / "absent"])
    assert (saved.notes, len(saved.failures)) == ([], 1)
    assert str(tmp_path / "absent") in saved.failures[0]


def test_log_records_that_name_no_trace_are_told(tmp_path: Path) -> None:
    (tmp_path / "1.pb").write_bytes(traces(span(1, 1)))
    (tmp_path / "2-logs.pb").write_bytes(logs(LogRecord(time_unix_nano=1), LogRecord(time_unix_nano=2)))
    saved = read_saved_traces([tmp_path])
    assert [note for note in saved.notes if note.startswith("2 log records name no trace")]
    assert not saved.failures and not saved.traces[0].logs
