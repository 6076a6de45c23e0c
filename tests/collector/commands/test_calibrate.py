"""`calibrate` as an operator sees it: labelled cases and exported annotations in, agreement out."""

from __future__ import annotations

import asyncio
from pathlib import Path

import orjson
import pytest
from typer.testing import CliRunner

from collector.cli import app
from tests.evaluators.judge_server import JudgeServer, agrees, well

TOOL = {
    "name": "get_weather",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}


def case(number: int, arguments: dict[str, object], label: str, source: str = "desk") -> bytes:
    given = {
        "messages": [{"role": "user", "content": "How warm is it in Lima?"}],
        "available_tools": [TOOL],
        "tool_calls": [{"id": "c1", "name": "get_weather", "arguments": arguments}],
    }
    return orjson.dumps(
        {"id": f"case-{number}", "evaluator": "tool_invocation", "input": given, "label": label, "source": source}
    )


CASES = [
    case(1, {"city": "Lima"}, "correct"),
    case(2, {"town": "Lima"}, "incorrect"),
    case(3, {}, "incorrect", "lab"),
    case(4, {"city": "Lima"}, "incorrect", "lab"),
]


def run(*arguments: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["calibrate", *map(str, arguments)], env={"COLUMNS": "140"})
    return result.exit_code, result.stdout, result.stderr


def write(path: Path, lines: list[bytes]) -> Path:
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path


def test_labelled_cases_are_judged_and_compared_by_source_with_examples(tmp_path: Path) -> None:
    code, out, err = run(write(tmp_path / "cases.jsonl", CASES))
    assert (code, err) == (0, "")
    rows = {line.split("  ")[0] or line.split()[1]: line.split() for line in out.splitlines() if line}
    assert rows["tool_invocation"][1:5] == ["4", "4", "0", "0.75"]
    assert [line for line in out.splitlines() if line.strip().startswith("source lab")]
    assert "tool_invocation, missed:" in out and "case-4 (rule)" in out


def test_cases_without_a_label_are_left_out_and_bad_lines_told(tmp_path: Path) -> None:
    unlabelled = orjson.dumps({**orjson.loads(CASES[0]), "id": "other", "label": None})
    code, out, err = run(write(tmp_path / "cases.jsonl", [*CASES, unlabelled, b"{"]))
    assert code == 1
    assert "1 cases have no label" in err and "cases.jsonl:6: is no JSON" in err
    assert "tool_invocation" in out


async def test_a_model_that_nothing_checks_is_measured_as_one_and_the_notes_say_so(tmp_path: Path) -> None:
    cases = write(tmp_path / "cases.jsonl", [line.replace(b'"tool_invocation"', b'"tool_selection"') for line in CASES])
    revisions = []
    for behaviour in (agrees, well):
        async with JudgeServer(behaviour) as server:
            record = tmp_path / "record.json"
            told = await asyncio.to_thread(run, cases, "--judge", server.base_url, "--record", record)
        (measured,) = orjson.loads(record.read_bytes())["measured"]
        assert measured["pairs"] == 4
        assert (told[0], "4 verdicts are of a model that is too weak" in told[2]) == (0, behaviour is agrees)
        revisions.append(measured["revision"])
    assert revisions[0] != revisions[1]


def verdict_line(span: str, passed: bool, evaluator: str = "tool_selection") -> bytes:
    return orjson.dumps(
        {
            "trace_id": "aa", "span_id": span, "span_name": "chat", "session_id": None, "evaluator": evaluator,
            "level": "span", "status": "ok", "label": "correct" if passed else "incorrect", "score": float(passed),
            "passed": passed, "explanation": "as it is", "issues": [], "calls": [], "evidence": [], "method": "judge",
            "confidence": 0.8, "revision": "r1", "model": "m",
        }
    )  # fmt: skip


def test_verdicts_on_traces_are_compared_with_what_people_annotated(tmp_path: Path) -> None:
    verdicts = write(tmp_path / "verdicts.jsonl", [verdict_line("01", True), verdict_line("02", False)])
    annotated = [
        {"span_id": span, "name": "tool_selection", "annotator_kind": "HUMAN", "result": {"label": "correct"}}
        for span in ("01", "02", "03")
    ]
    annotations = tmp_path / "annotations.json"
    annotations.write_bytes(orjson.dumps({"data": annotated}))
    record = tmp_path / "record.json"
    code, out, err = run("--verdicts", verdicts, "--annotations", annotations, "--record", record)
    assert code == 0
    assert "false alarms" in out and "aa/02 (judge)" in out
    assert "1 annotations are about spans or evaluators that have no verdict" in err
    [kept] = orjson.loads(record.read_bytes())["measured"]
    assert (kept["evaluator"], kept["revision"], kept["pairs"], kept["agreement"]) == ("tool_selection", "r1", 2, 0.5)


def test_lines_that_are_no_verdicts_are_told_with_the_remedy(tmp_path: Path) -> None:
    verdicts = write(tmp_path / "verdicts.jsonl", [b'{"evaluator": "e"}', verdict_line("01", True)])
    annotations = write(tmp_path / "a.jsonl", [b'{"span_id": "01", "evaluator": "tool_selection", "label": "pass"}'])
    code, _, err = run("--verdicts", verdicts, "--annotations", annotations)
    assert code == 1
    assert "verdicts.jsonl:1: has no issues; write verdicts with spanjudge replay --verdicts" in err


@pytest.mark.parametrize("arguments", [(), ("--verdicts", "v"), ("cases", "--annotations", "a")])
def test_without_two_sides_there_is_nothing_to_compare(arguments: tuple[str, ...]) -> None:
    code, _, err = run(*arguments)
    assert code == 2 and "name either a file of labelled CASES, or --verdicts together with --annotations" in err


def test_a_record_without_a_judge_is_not_written(tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    code, _, err = run(write(tmp_path / "cases.jsonl", CASES), "--record", record)
    assert code == 1 and not record.exists()
    assert "no judge has decided anything; name one with --judge" in err
