"""`spanjudge replay` on real files: what is written where, and what the exit status counts."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from click.testing import Result
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans
from opentelemetry.proto.trace.v1.trace_pb2 import Span as SpanMessage
from typer.testing import CliRunner

from collector.cli import app
from collector.commands.replay import run_replay
from collector.exporters.json_encoding import to_json
from collector.records import Signal
from evaluators.cases import Run
from evaluators.verdict import Status
from processors.judging import TraceJudge
from processors.otlp import Log, Span
from processors.transcript import Transcript
from tests.processors.steps import Completion, Invocation, Selection, call, raw_span, turn

TRACES = 20


def read(spans: Sequence[Span], logs: Sequence[Log]) -> Transcript:
    """Every trace is one call that an LLM span asked for; its spans are told apart by their order."""
    llm, tool = sorted(spans, key=lambda one: one.span_id)
    asked = call("c1", tool_span=int(tool.span_id, 16), result="x")
    run = Run(turns=(turn(0, int(llm.span_id, 16), asked),), ref=llm.span_id)
    return Transcript(trace_id=llm.trace_id, runs=(run,))


@asynccontextmanager
async def judging(*, broken: bool = False) -> AsyncIterator[TraceJudge]:
    def fail(spans: Sequence[Span], logs: Sequence[Log]) -> Transcript:
        raise LookupError("content of a span")

    evaluators = [Invocation(faulty=["c1"]), Selection(status=Status.NEEDS_JUDGE), Completion()]
    yield TraceJudge(evaluators, read=fail if broken else read)


def request(*messages: SpanMessage) -> bytes:
    scope = ScopeSpans(spans=messages)
    return ExportTraceServiceRequest(resource_spans=[ResourceSpans(scope_spans=[scope])]).SerializeToString()


def span(trace: int, number: int, name: str) -> SpanMessage:
    message = SpanMessage.FromString(raw_span(number, name=name)[2])
    message.trace_id = bytes([trace]) * 16
    return message


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A folder in which every trace is spread over two files."""
    folder = tmp_path / "saved"
    folder.mkdir()
    for trace in range(1, TRACES + 1):
        (folder / f"a{trace:02}.pb").write_bytes(request(span(trace, 1, "chat")))
        (folder / f"b{trace:02}.pb").write_bytes(request(span(trace, 2, "look_up\x1b[31m")))
    return folder


def lines_of(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def test_verdicts_come_one_a_line_in_order_of_the_traces(saved: Path, tmp_path: Path) -> None:
    out = tmp_path / "verdicts.jsonl"
    assert run_replay(judging(), [saved], str(out), None) == 0
    said = lines_of(out.read_text())
    assert [one["trace_id"] for one in said] == [
        f"{trace:02x}" * 16 for trace in range(1, TRACES + 1) for _ in range(3)
    ]
    assert [(one["evaluator"], one["status"], one["label"]) for one in said[:3]] == [
        ("tool_invocation", "ok", "incorrect"),
        ("tool_selection", "needs_judge", None),
        ("task_completion", "ok", "correct"),
    ]


def test_on_standard_output_there_is_nothing_but_json(saved: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    (saved / "notes.txt").write_text("hello")
    assert run_replay(judging(), [saved], "-", None, notes=["the judge is off"]) == 0
    out, err = capfdbinary.readouterr()
    assert len(lines_of(out.decode())) == 3 * TRACES
    assert b"the judge is off" in err
    assert b"notes.txt" in err


def test_a_table_shows_what_was_found_and_why(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_replay(judging(), [saved], None, None) == 0
    out, _ = capsys.readouterr()
    assert "tool_invocation" in out
    assert f"needs_judge {TRACES}" in out
    assert "wrong_value" in out
    assert "c1 is wrong" in out
    assert out.splitlines()[-1].startswith("needs_judge: rules alone can't decide it")
    assert "\x1b" not in out


def test_scored_spans_are_the_spans_with_their_scores_and_no_others(saved: Path, tmp_path: Path) -> None:
    out = tmp_path / "scored.pb"
    assert run_replay(judging(), [saved], None, out) == 0
    parsed = ExportTraceServiceRequest.FromString(out.read_bytes())
    spans = [one for group in parsed.resource_spans for scope in group.scope_spans for one in scope.spans]
    assert len(spans) == 2 * TRACES
    for one in spans:
        keys = {pair.key for pair in one.attributes}
        assert ("eval.tool_invocation.score" in keys) == one.name.startswith("look_up")
        assert ("eval.task_completion.score" in keys) == (one.name == "chat")
        del one.attributes[:]
        number = 1 if one.name == "chat" else 2
        assert one == span(one.trace_id[0], number, one.name)


def test_every_byte_of_a_span_is_kept_also_of_fields_that_nobody_knows(tmp_path: Path) -> None:
    unknown = b"\xa2\x06\x03abc"  # field 100
    spans = [span(1, number, "s").SerializeToString() + unknown for number in (1, 2)]
    framed = b"".join(b"\x12" + bytes([len(one)]) + one for one in spans)
    scope = b"\x12" + bytes([len(framed)]) + framed
    (tmp_path / "in.pb").write_bytes(b"\x0a" + bytes([len(scope)]) + scope)
    out = tmp_path / "scored.pb"
    assert run_replay(judging(), [tmp_path / "in.pb"], None, out) == 0
    written = out.read_bytes()
    assert all(one in written for one in spans)
    assert len(written) > len(scope) + 100


def test_what_could_not_be_read_is_told_and_counted_and_the_rest_is_done(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (saved / "broken.pb").write_bytes(b"\xff\xff")
    out = tmp_path / "scored.pb"
    assert run_replay(judging(), [saved], None, out) == 1
    assert "broken.pb" in capsys.readouterr().err
    assert ExportTraceServiceRequest.FromString(out.read_bytes()).resource_spans


def test_a_trace_that_cannot_be_judged_is_told_without_its_content_and_its_spans_are_kept(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "scored.pb"
    assert run_replay(judging(broken=True), [saved], None, out) == TRACES
    err = capsys.readouterr().err
    assert "LookupError" in err
    assert "content of a span" not in err
    assert ExportTraceServiceRequest.FromString(out.read_bytes()).resource_spans


def test_an_output_that_cannot_be_written_is_told(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_replay(judging(), [saved], str(tmp_path / "absent" / "v.jsonl"), None) == 1
    printed = capsys.readouterr()
    assert "v.jsonl" in printed.err
    assert printed.out == ""


def test_finding_no_traces_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_replay(judging(), [tmp_path], None, None) == 0
    assert capsys.readouterr() == ("", "note: no traces were found\n")


def command(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["replay", *arguments])


def test_the_command_judges_with_the_shipped_configuration(saved: Path) -> None:
    result = command(str(saved), "--format", "jsonl")
    assert result.exit_code == 0
    assert result.stdout == ""  # these spans follow no convention, so there is nothing to judge


def test_the_command_fails_when_an_input_could_not_be_read(tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text('{"resourceSpans": [')
    result = command(str(tmp_path))
    assert result.exit_code == 1
    assert "broken.json" in result.stderr
    assert "Traceback" not in result.output


def test_the_command_refuses_a_configuration_that_it_does_not_understand(saved: Path) -> None:
    result = command(str(saved), "--set", "processors.tool_selection.treshold=1")
    assert result.exit_code == 2
    assert "did you mean threshold?" in result.stderr


def test_the_command_writes_what_the_configuration_asks_for_besides_scores(tmp_path: Path) -> None:
    asked = {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": '[{"role": "user", "parts": [{"type": "text", "content": "Is it warm?"}]}]',
        "gen_ai.output.messages": '[{"role": "assistant", "parts": [{"type": "text", "content": "Yes."}]}]',
        "gen_ai.tool.definitions": '[{"type": "function", "name": "weather", "parameters": {"type": "object"}}]',
    }
    chat = span(1, 1, "chat")
    chat.attributes.extend(KeyValue(key=key, value=AnyValue(string_value=value)) for key, value in asked.items())
    (tmp_path / "in.pb").write_bytes(request(chat))
    out = tmp_path / "out.pb"
    result = command(str(tmp_path), "--otlp-out", str(out), "--set", "processors.assemble.emit_unscored=true")
    assert result.exit_code == 0
    written = ExportTraceServiceRequest.FromString(out.read_bytes()).resource_spans[0].scope_spans[0].spans[0]
    attributes = {pair.key: pair.value.string_value for pair in written.attributes}
    assert attributes["eval.tool_selection.status"] == "needs_judge"


def split(data: bytes) -> list[bytes]:
    """The request as one request per span, the other way round."""
    whole = ExportTraceServiceRequest.FromString(data)
    parts = []
    for of_resource in whole.resource_spans:
        for of_scope in of_resource.scope_spans:
            for one in of_scope.spans:
                scoped = ScopeSpans(scope=of_scope.scope, spans=[one])
                parts.append(ResourceSpans(resource=of_resource.resource, scope_spans=[scoped]))
    return [ExportTraceServiceRequest(resource_spans=[part]).SerializeToString() for part in parts[::-1]]


def test_the_same_trace_as_json_or_in_pieces_gets_the_same_verdicts(tmp_path: Path) -> None:
    capture = (Path(__file__).parents[2] / "data" / "traces" / "openinference_chat.pb").read_bytes()
    for form in ("whole", "json", "pieces", "twice"):
        (tmp_path / form).mkdir()
    (tmp_path / "whole" / "a.pb").write_bytes(capture)
    (tmp_path / "json" / "a.json").write_bytes(to_json(Signal.TRACES, capture))
    for number, piece in enumerate(split(capture)):
        (tmp_path / "pieces" / f"{number:02}.pb").write_bytes(piece)
    for number, again in enumerate([capture, *split(capture)]):
        (tmp_path / "twice" / f"{number:02}.pb").write_bytes(again)
    told = {}
    for form in ("whole", "json", "pieces", "twice"):
        result = CliRunner().invoke(app, ["replay", str(tmp_path / form), "--verdicts", "-"])
        assert result.exit_code == 0, result.output
        told[form] = sorted(result.stdout.splitlines())
    assert len(told["whole"]) > 5
    assert told["json"] == told["pieces"] == told["twice"] == told["whole"]
