"""`spanjudge transcript` on real files: one capture of a real instrumentation, and the GenAI forms as OTLP JSON."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

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
    assert "can't be judged: tool_selection (lacks user_input, tools)" in shown


def test_the_view_tells_the_run_as_a_conversation(app: typer.Typer) -> None:
    result = CliRunner(env={"COLUMNS": "300"}).invoke(app, ["transcript", str(DATA / "openinference_chat.pb")])
    shown = " ".join(result.stdout.replace("│", " ").split())
    assert 'calls soil_moisture {"bed":"roses"}' in shown
    assert "answer: The roses are fine" in shown


def test_the_view_tells_what_was_planned(app: typer.Typer) -> None:
    told = shown(app, str(RECORDED / "langgraph__openinference-todos"))
    assert "plan (list)" in told
    assert "1. Look the book up in the catalogue. (completed)" in told


def test_without_colour_words_tell_what_can_be_judged(app: typer.Typer) -> None:
    told = shown(app, ONE_RUN)
    names = "tool_selection, tool_invocation, tool_response_handling, task_completion, step_efficiency"
    assert told.splitlines()[-1].endswith(f"can be judged: {names}")
    assert "can't be judged" not in told


def test_pieces_of_a_run_say_where_they_go_on_and_lack_nothing_that_another_one_has(app: typer.Typer) -> None:
    first, *others = shown(app, str(BARE)).split("\ntrace ")
    assert "answer: none in this trace" in first
    assert "nothing to judge for: tool_response_handling, task_completion, step_efficiency" in first
    assert all("goes on from trace" in other for other in others)
    assert not any("can't be judged" in piece for piece in (first, *others))


def test_lines_of_a_pipe_end_where_their_words_end(app: typer.Typer, many: list[str]) -> None:
    assert [line for line in shown(app, *many).splitlines() if line.endswith(" ")] == []


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
    first, *rest = lines(app, RECORDED / "openai__openinference-bare" / "retry" / "01-traces.pb.gz")
    assert first["continues"] is None
    assert [one["continues"] for one in rest] == [one["trace_id"] for one in (first, *rest[:-1])]
    assert first["tool_calls"][0]["result"], "the next trace tells what came of the call"


KEYS_OF_SUMMARY = [
    "traces",
    "continuing",
    "not_understood",
    "not_understood_spans",
    "instrumentations",
    "unknown_spans",
]
DESK = Path(__file__).parents[2] / "data" / "files"
NO_CONTENT = DATA / "genai_log_records_traces.json"
ONE_RUN = str(DESK / "genai.pb")
BARE = RECORDED / "openai__openinference-bare" / "retry"


@pytest.fixture
def many(tmp_path: Path) -> list[str]:
    """A run of one instrumentation, and two of another: one with content, one without."""
    captured = (DATA / "genai_attributes.json").read_text().replace(WITHOUT, WITH)
    (tmp_path / "captured.json").write_text(captured)
    return [ONE_RUN, str(NO_CONTENT), str(tmp_path / "captured.json")]


WITHOUT, WITH = "5b8efff798038103d269b633813fc60c", "5b8efff798038103d269b633813fc60d"


def shown(app: typer.Typer, *arguments: str, columns: int = 200) -> str:
    result = CliRunner(env={"COLUMNS": str(columns)}).invoke(app, ["transcript", *arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def survey(app: typer.Typer, *arguments: str) -> dict[str, Any]:
    (line,) = shown(app, "--summary", "--json", *arguments).splitlines()
    return json.loads(line)  # type: ignore[no-any-return]


def row(text: str, first: str) -> list[str]:
    return next(line.split() for line in text.splitlines() if line.startswith(first))


def test_the_summary_tells_per_instrumentation_and_evaluator_how_many_traces_have_all_inputs(
    app: typer.Typer, many: list[str]
) -> None:
    text = shown(app, "--summary", *many)
    assert text.startswith("3 traces")
    assert row(text, "harbour.agent")[1:] == ["genai", "2", "1/2", "1/2", "1/2", "1/2", "1/2"]
    assert row(text, "com.anthropic.sdk.python 2.14.0")[2:] == ["genai", "1", "1/1", "1/1", "1/1", "1/1", "1/1"]


def test_the_summary_names_what_is_missing_where_it_would_be_and_how_to_get_it(
    app: typer.Typer, many: list[str]
) -> None:
    text = shown(app, "--summary", *many)
    assert "not captured by harbour.agent" in text
    assert row(text.partition("not captured by")[2], "  user_input")[1:3] == ["1", "trace"]
    assert "e.g. in 5b8efff798038103d269b633813fc60c" in text
    assert "would be in gen_ai.input.messages; needed by all" in text
    assert "to capture them: " in text
    assert "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT" in text


def test_the_summary_as_json_is_one_object_for_all_traces(app: typer.Typer, many: list[str]) -> None:
    told = survey(app, *many)
    assert list(told) == KEYS_OF_SUMMARY
    assert told["traces"] == 3
    harbour = next(
        one for one in told["instrumentations"] if one["scopes"] == [{"name": "harbour.agent", "version": ""}]
    )
    assert (harbour["traces"], harbour["dialects"]) == (2, ["genai"])
    assert harbour["evaluators"]["tool_selection"] == {"ready": 1, "due": 2}
    lack = next(one for one in harbour["missing"] if one["fact"] == "tools")
    assert (lack["traces"], lack["needed_by"]) == (1, ["tool_selection", "tool_invocation"])
    assert (lack["attribute"], lack["example"]) == ("gen_ai.tool.definitions", WITHOUT)
    assert "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT" in lack["switch"]


def test_every_trace_is_shown_first_and_the_summary_after_them(app: typer.Typer, many: list[str]) -> None:
    text = shown(app, *many)
    assert text.index("calls find_book") < text.index("3 traces")
    assert text.count("trace 5b8efff798038103d269b633813fc60c") == 1


def test_the_view_of_a_single_trace_needs_no_summary(app: typer.Typer) -> None:
    assert "n/m" not in shown(app, ONE_RUN)


def test_in_a_narrow_terminal_the_summary_says_the_same(app: typer.Typer, many: list[str]) -> None:
    text = " ".join(shown(app, "--summary", *many, columns=80).split())
    assert "harbour.agent read as genai 2 traces, tool_selection 1/2, tool_invocation 1/2" in text


def test_an_evaluator_with_nothing_to_judge_is_not_counted(app: typer.Typer, tmp_path: Path) -> None:
    said = [{"role": "user", "parts": [{"type": "text", "content": "hello"}]}]
    answered = [{"role": "assistant", "parts": [{"type": "text", "content": "hi"}]}]
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": said, "gen_ai.output.messages": answered}
    span = {"trace_id": "ab" * 16, "span_id": "cd" * 8, "name": "chat", "start_time": 1796065375}
    (tmp_path / "chat.json").write_text(json.dumps([span | {"attributes": attributes}]))
    (told,) = survey(app, str(tmp_path))["instrumentations"]
    assert told["evaluators"]["tool_invocation"] == {"ready": 0, "due": 0}
    assert told["evaluators"]["task_completion"] == {"ready": 1, "due": 1}
    assert "–" in row(shown(app, "--summary", str(tmp_path)), "no instrumentation scope")


def test_traces_that_nobody_understands_and_spans_that_nobody_knows_are_counted_and_named(
    app: typer.Typer, tmp_path: Path
) -> None:
    def span(trace: int, number: int, name: str) -> dict[str, object]:
        ids = {"trace_id": f"{trace:032x}", "span_id": f"{number:016x}"}
        return {**ids, "name": name, "start_time": 1796065375, "scope": {"name": "web", "version": "2"}}

    spans = [span(1, 1, "GET /"), span(1, 2, "SELECT"), span(2, 3, "GET /"), span(3, 4, "\x1b[31mPUT")]
    (tmp_path / "web.json").write_text(json.dumps(spans))
    told = survey(app, str(tmp_path), ONE_RUN)
    assert (told["traces"], told["not_understood"]) == (4, 3)
    assert [(one["name"], one["traces"]) for one in told["not_understood_spans"]] == [("GET /", 2), ("\x1b[31mPUT", 1)]
    (strangers,) = [one for one in told["unknown_spans"] if one["scope"] == {"name": "web", "version": "2"}]
    assert (strangers["spans"], strangers["traces"], strangers["read"]) == (4, 3, False)
    text = shown(app, "--summary", str(tmp_path), ONE_RUN)
    assert "in 3 traces no model call, tool or agent was recognised" in text
    assert "2 traces: GET / of web 2, e.g. 00000000000000000000000000000001" in text
    assert "web 2: 4 spans in 3 traces (GET /, SELECT," in text
    assert "\x1b" not in text


def test_traces_in_which_nothing_was_recognised_are_left_to_the_summary(app: typer.Typer, tmp_path: Path) -> None:
    span = {"trace_id": "ab" * 16, "span_id": "cd" * 8, "name": "GET /", "start_time": 1796065375}
    (tmp_path / "web.json").write_text(json.dumps([span]))
    nothing = "no model call, tool or agent was recognised"
    assert shown(app, str(tmp_path)).splitlines()[1].endswith(nothing)
    text = shown(app, str(tmp_path), ONE_RUN)
    assert text.count(nothing) == 1
    assert f"in 1 trace {nothing}" in text


def test_only_the_traces_that_ended_last_are_looked_at(app: typer.Typer, many: list[str]) -> None:
    every = [json.loads(line)["trace_id"] for line in shown(app, "--json", *many).splitlines()]
    (last,) = [json.loads(line)["trace_id"] for line in shown(app, "--json", "--last", "1", *many).splitlines()]
    assert every[1:] == [WITHOUT, WITH]
    assert last == every[0], "which is years younger than the others"
    assert survey(app, "--last", "2", *many)["traces"] == 2
    assert survey(app, "--last", "9", *many)["traces"] == 3


def test_without_any_trace_the_summary_says_so(app: typer.Typer, tmp_path: Path) -> None:
    assert shown(app, "--summary", str(tmp_path)).startswith("0 traces")


def test_traces_that_go_on_from_another_one_are_counted(app: typer.Typer) -> None:
    told = survey(app, str(BARE))
    assert told["traces"] > 1
    assert told["continuing"] == told["traces"] - 1
    (group,) = told["instrumentations"]
    assert group["evaluators"]["task_completion"] == {"ready": 1, "due": 1}, "the run is judged where it ends"
    text = shown(app, "--summary", str(BARE))
    assert text.startswith(f"{told['traces']} traces, of which {told['continuing']} go on from another one")
