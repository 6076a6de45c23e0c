"""A run reads the same from whatever it was saved in: real exports of one run, through the commands."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from collector.cli import app

DATA = Path(__file__).parents[2] / "data" / "files"
EXPORTS = [
    ("openinference.pb", "openinference_jaeger.json"),
    ("genai.pb", "genai_jaeger.json"),
    ("genai.pb", "genai_jaeger_v3.json"),
    ("openinference.pb", "openinference_phoenix.json"),
    ("genai.pb", "genai_phoenix.json"),
    ("openinference.pb", "openinference_phoenix_frame.json"),
    ("genai.pb", "genai_phoenix_frame_split.json"),
    ("genai.pb", "genai_phoenix_frame.jsonl"),
]
# Phoenix adds OpenInference's attributes to spans of the GenAI conventions, so that they speak both.
ABOUT_ATTRIBUTES = {"dialects", "missing"}


def transcripts(*paths: Path) -> list[dict[str, Any]]:
    result = CliRunner().invoke(app, ["transcript", "--json", *map(str, paths)])
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def verdicts(path: Path) -> list[tuple[Any, ...]]:
    result = CliRunner().invoke(app, ["replay", str(path), "--verdicts", "-"])
    assert result.exit_code == 0, result.output
    told = [json.loads(line) for line in result.stdout.splitlines()]
    keys = ("trace_id", "span_id", "span_name", "evaluator", "status", "label", "score", "explanation")
    return sorted(tuple(str(one[key]) for key in keys) for one in told)


@pytest.mark.parametrize(("sent", "export"), EXPORTS)
def test_an_export_tells_the_run_as_it_was_sent(sent: str, export: str) -> None:
    (told,), (expected,) = transcripts(DATA / export), transcripts(DATA / sent)
    assert told["tool_calls"], "the run has calls"
    facts = told.keys() - ABOUT_ATTRIBUTES
    assert {key: told[key] for key in facts} == {key: expected[key] for key in facts}
    assert {one["fact"] for one in told["missing"]} == {one["fact"] for one in expected["missing"]}


@pytest.mark.parametrize(("sent", "export"), EXPORTS)
def test_an_export_is_judged_as_the_run_that_was_sent(sent: str, export: str) -> None:
    assert verdicts(DATA / export) == verdicts(DATA / sent)


def test_compressed_and_line_by_line_it_is_the_same(tmp_path: Path) -> None:
    document = json.loads((DATA / "openinference_jaeger.json").read_text())
    (tmp_path / "traces.json.gz").write_bytes(gzip.compress(json.dumps(document).encode()))
    (tmp_path / "traces.jsonl").write_text("\n".join(json.dumps(one) for one in document["data"]))
    expected = transcripts(DATA / "openinference_jaeger.json")
    assert transcripts(tmp_path / "traces.json.gz") == transcripts(tmp_path / "traces.jsonl") == expected


ORIENTS = ["records", "index", "index without the column", "table", "columns without the column"]


@pytest.mark.parametrize("orient", ORIENTS)
def test_a_dataframe_is_read_however_it_is_oriented(tmp_path: Path, orient: str) -> None:
    columns = json.loads((DATA / "openinference_phoenix_frame.json").read_text())
    indexes = list(columns["name"])
    rows = {index: {name: cells[index] for name, cells in columns.items()} for index in indexes}
    if orient.endswith("without the column"):
        columns.pop("context.span_id")
        for row in rows.values():
            row.pop("context.span_id")
    written: dict[str, object] = {
        "records": list(rows.values()),
        "index": rows,
        "index without the column": rows,
        "table": {"schema": {"fields": []}, "data": [{"index": at, **row} for at, row in enumerate(rows.values())]},
        "columns without the column": columns,
    }
    (tmp_path / "frame.json").write_text(json.dumps(written[orient]))
    assert transcripts(tmp_path / "frame.json") == transcripts(DATA / "openinference_phoenix_frame.json")


@pytest.mark.parametrize("name", ["console.json", "zipkin.json"])
def test_exporters_of_the_sdk_are_read(name: str) -> None:
    (told,) = transcripts(DATA / name)
    assert told["user_inputs"] == ["Is The Salt Road on the shelf?"]
    assert [(call["id"], call["name"], call["arguments"], call["error"]) for call in told["tool_calls"]] == [
        ("call_1", "find_book", {"title": "The Salt Road"}, "ValueError: the catalogue is closed")
    ]
    assert (told["session_id"], told["final_answer"]) == ("desk-5", "I can't look it up just now.")
    assert [tool["name"] for tool in told["tools"]] == ["find_book"]


@pytest.mark.parametrize("name", ["mlflow.json", "langsmith.json"])
def test_traces_of_platforms_are_read(name: str) -> None:
    (told,) = transcripts(DATA / name)
    assert told["user_inputs"] == ["Is The Salt Road on the shelf?"]
    assert [(call["id"], call["arguments"], call["result"]) for call in told["tool_calls"]] == [
        ("call_1", {"title": "The Salt Road"}, "on the shelf, A3")
    ]
    assert told["final_answer"] == "Yes, on shelf A3."
    assert [(tool["name"], tool["schema"] is not None) for tool in told["tools"]] == [("find_book", True)]
