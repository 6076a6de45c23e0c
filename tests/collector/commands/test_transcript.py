"""`spanjudge transcript` on real files: one capture of a real instrumentation, and the GenAI forms as OTLP JSON."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from collector.commands import transcript
from collector.commands.transcript_view import printable

DATA = Path(__file__).parents[2] / "data" / "traces"
RECORDED = Path(__file__).parents[2] / "recorded"
KEYS = ["trace_id", "session_id", "user_inputs", "system_prompts", "tools", "tool_calls"]
KEYS += ["final_answer", "agents", "plan", "dialects", "unknown_spans", "missing", "continues"]


@pytest.fixture
def app() -> typer.Typer:
    made = typer.Typer()
    made.callback()(lambda: None)
    transcript.register(made)
    return made


def lines(app: typer.Typer, *paths: Path) -> list[dict[str, object]]:
    result = CliRunner().invoke(app, ["transcript", *map(str, paths), "--json"])
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_a_capture_of_a_real_instrumentation_is_one_line_with_every_fact(app: typer.Typer) -> None:
    (told,) = lines(app, DATA / "openinference_chat.pb")
    assert list(told) == KEYS
    assert told["user_inputs"] == ["Check roses and beans and water what is dry."]
    assert told["system_prompts"] == ["You look after a garden."]
    assert told["session_id"] == "garden-7"
    assert told["final_answer"] == ("The roses are fine (41 %). I watered the beans, which were at 9 %, for 5 minutes.")
    assert [(tool["name"], sorted(tool["schema"]["properties"])) for tool in told["tools"]] == [  # type: ignore[attr-defined]
        ("soil_moisture", ["bed"]),
        ("water", ["bed", "minutes"]),
    ]
    calls = [(call["id"], call["arguments"], call["result"], call["error"]) for call in told["tool_calls"]]  # type: ignore[attr-defined]
    assert calls == [
        ("call_a", {"bed": "roses"}, '{"bed": "roses", "percent": 41}', None),
        ("call_b", {"bed": "beans"}, '{"bed": "beans", "percent": 9}', None),
        ("call_c", {"bed": "beans", "minutes": 5}, '{"ok": true}', None),
    ]
    assert all(call["span_id"] and call["llm_span_id"] for call in told["tool_calls"])  # type: ignore[attr-defined]
    assert told["missing"] == []


@pytest.mark.parametrize(
    "files",
    [
        ["genai_attributes.json"],
        ["genai_log_records_traces.json", "genai_log_records_logs.json"],
        ["genai_log_records_traces.json", "genai_message_events_logs.json"],
    ],
    ids=["attributes", "details records", "message events"],
)
def test_the_same_run_is_understood_in_every_form_of_the_genai_conventions(app: typer.Typer, files: list[str]) -> None:
    (told,) = lines(app, *(DATA / file for file in files))
    assert told["user_inputs"] == ["How high is the tide in Wells at 18:00?"]
    assert told["system_prompts"] == ["You answer questions about tides."]
    assert (told["session_id"], told["final_answer"]) == ("harbour-3", "At 18:00 the tide in Wells is at 2.4 m.")
    calls = [(call["id"], call["arguments"], call["result"], call["error"]) for call in told["tool_calls"]]  # type: ignore[attr-defined]
    assert calls == [
        ("call_1", {"port": "Welss", "time": "18:00"}, "unknown port: Welss", "unknown port: Welss"),
        ("call_2", {"port": "Wells", "time": "18:00"}, '{"metres": 2.4}', None),
    ]


def test_without_content_the_view_says_what_is_missing_and_how_to_capture_it(app: typer.Typer) -> None:
    result = CliRunner(env={"COLUMNS": "300"}).invoke(app, ["transcript", str(DATA / "genai_log_records_traces.json")])
    shown = " ".join(result.stdout.replace("│", " ").split())
    assert "user: not captured" in shown
    assert "user_input would be in gen_ai.input.messages" in shown
    assert shown.count("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT") == 1
    assert "tool_selection (lacks user_input, tools)" in shown


def test_the_view_tells_the_run_as_a_conversation(app: typer.Typer) -> None:
    result = CliRunner(env={"COLUMNS": "300"}).invoke(app, ["transcript", str(DATA / "openinference_chat.pb")])
    shown = " ".join(result.stdout.replace("│", " ").split())
    assert 'calls soil_moisture {"bed":"roses"}' in shown
    assert "answer: The roses are fine" in shown


def test_a_file_that_cannot_be_read_is_named_and_the_rest_is_shown(app: typer.Typer, tmp_path: Path) -> None:
    shutil.copy(DATA / "openinference_chat.pb", tmp_path)
    (tmp_path / "broken.json").write_text('{"resourceSpans": [')
    result = CliRunner().invoke(app, ["transcript", str(tmp_path), "--json"])
    assert result.exit_code == 1
    assert len(result.stdout.splitlines()) == 1
    assert "broken.json" in result.stderr


def test_text_from_spans_cannot_steer_the_terminal() -> None:
    assert printable("a\x1b[31mred\x07\r\n\u202eb") == "a [31mred b"
    assert len(printable("x" * 10_000)) == 160


def test_arguments_that_json_writers_refuse_are_shown_all_the_same(app: typer.Typer, tmp_path: Path) -> None:
    """Numbers of more than 64 bits, values nested deeper than encoders go, halves of characters."""
    deep = '{"a":' * 252 + "1" + "}" * 252
    texts = [deep, f'{{"n": {2**70}, "m": NaN}}', '{"\\ud83d": "\\ud83d"}']
    calls = [
        {"type": "tool_call", "id": f"c{number}", "name": "f", "arguments": text} for number, text in enumerate(texts)
    ]
    messages = json.dumps([{"role": "assistant", "parts": calls}])
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.output.messages": messages}
    span = {
        "traceId": "ab" * 16,
        "spanId": "cd" * 8,
        "name": "chat",
        "attributes": [{"key": key, "value": {"stringValue": text}} for key, text in attributes.items()],
    }
    saved = tmp_path / "odd.json"
    saved.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}))
    (told,) = lines(app, saved)
    arguments = [call["arguments"] for call in told["tool_calls"]]  # type: ignore[attr-defined]
    assert str(arguments[0]).startswith("{'a': {'a': ")
    assert arguments[1:] == [{"n": 2**70, "m": "nan"}, {"\ufffd": "\ufffd"}]
    result = CliRunner().invoke(app, ["transcript", str(saved)])
    assert result.exit_code == 0, result.output


def test_a_trace_that_goes_on_from_another_one_names_it(app: typer.Typer) -> None:
    """Each model call of this run is a trace of its own."""
    first, *rest = lines(app, RECORDED / "openai__openinference-bare" / "retry" / "01-traces.pb")
    assert first["continues"] is None
    assert [one["continues"] for one in rest] == [one["trace_id"] for one in (first, *rest[:-1])]
