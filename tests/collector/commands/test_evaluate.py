"""`spanjudge evaluate` on real files, with and without a judge behind real HTTP."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from collector.cli import app
from tests.evaluators.judge_server import JudgeServer, Received, Response, agrees, slow, status, well

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS = [{"name": "get_weather", "description": "Weather of a city.", "parameters": SCHEMA}]
USER = {"role": "user", "content": "Weather in Lima?"}


def case(case_id: str, evaluator: str = "tool_invocation", *, name: str = "get_weather", **arguments: Any) -> str:
    call = {"id": "call_1", "name": name, "arguments": arguments}
    given = {"messages": [USER], "available_tools": TOOLS, "tool_calls": [call], "output": None}
    return json.dumps({"id": case_id, "evaluator": evaluator, "input": given})


def evaluate(tmp_path: Path, lines: list[str], *options: str) -> tuple[Result, dict[str, dict[str, Any]]]:
    cases, output = tmp_path / "cases.jsonl", tmp_path / "results.jsonl"
    cases.write_text("\n".join(lines), "utf-8")
    result = CliRunner().invoke(app, ["evaluate", str(cases), "--output", str(output), *options])
    results = [json.loads(line) for line in output.read_text("utf-8").splitlines()] if output.exists() else []
    assert [one["id"] for one in results] == list(dict.fromkeys(one["id"] for one in results))
    return result, {one["id"]: one for one in results}


def with_judge(tmp_path: Path, lines: list[str], server: JudgeServer) -> tuple[Result, dict[str, dict[str, Any]]]:
    async def run() -> tuple[Result, dict[str, dict[str, Any]]]:
        async with server:
            options = ("--judge", server.base_url, "--judge-model", "fake-1")
            return await asyncio.to_thread(evaluate, tmp_path, lines, *options)

    return asyncio.run(run())


def test_rules_decide_what_they_can_and_the_rest_has_a_status(tmp_path: Path) -> None:
    lines = [
        case("wrong", country="Peru"),
        case("right", city="Lima"),
        case("unknown", "tool_selection", name="get_tides", city="Lima"),
        case("open", "tool_selection", city="Lima"),
    ]
    result, results = evaluate(tmp_path, lines)
    assert result.exit_code == 0
    assert [(one["status"], one["label"]) for one in results.values()] == [
        ("ok", "incorrect"),
        ("ok", "correct"),
        ("ok", "incorrect"),
        ("needs_judge", None),
    ]
    assert {issue["code"] for issue in results["wrong"]["issues"]} == {"missing_argument", "unexpected_argument"}
    assert all(one["method"] == "rule" and one["requests"] == 0 for one in results.values())


def test_every_evaluator_takes_cases(tmp_path: Path) -> None:
    names = ["tool_selection", "tool_invocation", "tool_response_handling", "task_completion", "step_efficiency"]
    result, results = evaluate(tmp_path, [case(name, name, city="Lima") for name in names])
    assert result.exit_code == 0
    assert [one["evaluator"] for one in results.values()] == names


def test_bad_lines_are_told_with_file_and_line_and_the_rest_is_judged(tmp_path: Path) -> None:
    result, results = evaluate(tmp_path, ["{oops", case("right", city="Lima"), case("odd", "tool_elegance")])
    assert result.exit_code == 1
    assert list(results) == ["right"]
    assert f"{tmp_path / 'cases.jsonl'}:1: is no JSON" in result.stderr
    assert f"{tmp_path / 'cases.jsonl'}:3: evaluator 'tool_elegance' is unknown" in result.stderr


def test_files_that_can_not_be_read_or_written_are_named(tmp_path: Path) -> None:
    missing = CliRunner().invoke(app, ["evaluate", str(tmp_path / "none.jsonl"), "--output", str(tmp_path / "out")])
    assert missing.exit_code == 1
    assert f"{tmp_path / 'none.jsonl'}: can't be read" in missing.stderr
    (tmp_path / "cases.jsonl").write_text(case("a", city="Lima"))
    where = ["--output", str(tmp_path / "no" / "out.jsonl")]
    unwritable = CliRunner().invoke(app, ["evaluate", str(tmp_path / "cases.jsonl"), *where])
    assert unwritable.exit_code == 1
    assert "can't be written" in unwritable.stderr


def test_the_file_of_cases_is_never_written_over(tmp_path: Path) -> None:
    cases = tmp_path / "cases.jsonl"
    cases.write_text(case("a", city="Lima"))
    result = CliRunner().invoke(app, ["evaluate", str(cases), "--output", str(cases)])
    assert result.exit_code == 2
    assert "is the file of cases itself" in result.stderr
    assert cases.read_text() == case("a", city="Lima")


def test_no_judge_is_asked_if_the_answers_could_not_be_written(tmp_path: Path) -> None:
    server = JudgeServer()
    cases = tmp_path / "cases.jsonl"
    cases.write_text(case("open", "tool_selection", city="Lima"))

    async def run() -> Result:
        async with server:
            where = ["--output", str(tmp_path / "no" / "out.jsonl"), "--judge", server.base_url]
            return await asyncio.to_thread(CliRunner().invoke, app, ["evaluate", str(cases), *where])

    assert asyncio.run(run()).exit_code == 1
    assert server.received == []


def test_an_address_that_is_none_is_told_by_its_option(tmp_path: Path) -> None:
    cases = tmp_path / "cases.jsonl"
    cases.write_text(case("a", city="Lima"))
    result = CliRunner().invoke(app, ["evaluate", str(cases), "--output", str(tmp_path / "out"), "--judge", "here"])
    assert result.exit_code == 2
    assert result.stderr.startswith("error: --judge: is not an http:// or https:// address")


def test_a_judge_is_asked_only_what_rules_leave_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-the-test")
    server = JudgeServer()
    lines = [case("wrong", country="Peru"), case("open", "tool_selection", city="Lima")]
    result, results = with_judge(tmp_path, lines, server)
    assert result.exit_code == 0
    assert results["wrong"]["method"] == "rule"
    assert (results["open"]["status"], results["open"]["method"]) == ("ok", "judge")
    assert results["open"]["requests"] == len(server.received) == 1
    assert results["open"]["prompt_chars"] > 0
    assert server.received[0].headers["authorization"] == "Bearer sk-for-the-test"
    assert server.received[0].body["model"] == "fake-1"


def run_case(case_id: str, evaluator: str, **options: Any) -> str:
    """A whole run that asks for the same weather twice."""
    calls = [{"id": f"call_{number}", "name": "get_weather", "arguments": {"city": "Lima"}} for number in (1, 2)]
    messages: list[dict[str, Any]] = [USER]
    for call in calls:
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call["id"], "content": '{"degrees": 21}'},
        ]
    given = {"messages": messages, "available_tools": TOOLS, "output": "It is 21 degrees.", "options": options}
    return json.dumps({"id": case_id, "evaluator": evaluator, "input": given})


def test_a_derived_verdict_comes_from_what_rules_say_of_the_same_run(tmp_path: Path) -> None:
    lines = [run_case("way", "trajectory_quality"), run_case("fault", "failure_attribution")]
    result, results = evaluate(tmp_path, lines)
    assert result.exit_code == 0
    assert results["way"]["score"] == 0.5
    assert results["way"]["details"]["parts"]["efficiency"]["score"] == 0.5
    assert results["way"]["details"]["parts"]["tool_choice"]["status"] == "needs_judge"
    assert (results["fault"]["status"], results["fault"]["label"]) == ("needs_judge", None)
    assert results["fault"]["explanation"] == "It depends on task_completion, which is needs_judge."


def test_a_derived_verdict_has_the_judge_asked_about_what_it_needs_and_tells_the_cost(tmp_path: Path) -> None:
    server = JudgeServer()
    result, results = with_judge(tmp_path, [run_case("way", "trajectory_quality")], server)
    assert result.exit_code == 0
    assert results["way"]["details"]["parts"]["tool_choice"]["score"] is not None
    assert results["way"]["requests"] == len(server.received) > 0
    assert results["way"]["model"] == "fake-1"


def test_a_judge_that_fails_leaves_a_status_and_never_a_score(tmp_path: Path) -> None:
    result, results = with_judge(tmp_path, [case("open", "tool_selection", city="Lima")], JudgeServer(status(401)))
    assert result.exit_code == 0
    assert (results["open"]["status"], results["open"]["score"]) == ("judge_error", None)


def test_what_a_model_says_that_is_too_weak_to_be_checked_counts_and_is_marked(tmp_path: Path) -> None:
    server = JudgeServer(agrees)
    result, results = with_judge(tmp_path, [case("open", "tool_selection", city="Lima")], server)
    assert result.exit_code == 0
    assert (results["open"]["status"], results["open"]["details"]["control"]) == ("ok", "not_checked")
    assert results["open"]["requests"] == len(server.received) == 2


def test_many_cases_are_judged_at_a_bounded_pace(tmp_path: Path) -> None:
    def slowly(received: Received) -> Response:
        answer = well(received)
        return Response(answer.status, answer.body, answer.headers, delay_s=0.02)

    server = JudgeServer(slowly)
    lines = [case(f"c{number}", "tool_selection", city="Lima") for number in range(40)]
    _, results = with_judge(tmp_path, lines, server)
    assert len(results) == 40
    assert server.most_at_once <= 16


def test_an_address_that_is_none_is_refused(tmp_path: Path) -> None:
    result, _ = evaluate(tmp_path, [case("a", city="Lima")], "--judge", "localhost:8000")
    assert result.exit_code == 2
    assert "--judge" in result.stderr


def test_settings_of_evaluators_and_judges_are_taken_from_a_configuration(tmp_path: Path) -> None:
    async def run() -> tuple[Result, dict[str, dict[str, Any]]]:
        async with JudgeServer() as server:
            config = tmp_path / "config.yaml"
            config.write_text(
                "receivers: {otlp: {protocols: {grpc: {}}}}\n"
                f"extensions: {{judge/mine: {{model: fake-1, base_url: '{server.base_url}'}}}}\n"
                "processors: {assemble: {}, tool_selection: {judge: judge/mine}, tool_invocation: {threshold: 0}}\n"
                "exporters: {console: {}}\n"
                "service:\n"
                "  extensions: [judge/mine]\n"
                "  pipelines:\n"
                "    traces:\n"
                "      receivers: [otlp]\n"
                "      processors: [assemble, tool_selection, tool_invocation]\n"
                "      exporters: [console]\n"
            )
            lines = [case("lenient", country="Peru"), case("open", "tool_selection", city="Lima")]
            return await asyncio.to_thread(evaluate, tmp_path, lines, "--config", str(config))

    result, results = asyncio.run(run())
    assert result.exit_code == 0, result.stderr
    assert (results["lenient"]["score"], results["lenient"]["label"]) == (0.0, "correct")
    assert results["open"]["method"] == "judge"


def test_a_configuration_that_can_not_be_used_is_told(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("processors: {tool_elegance: {}}\n")
    result, results = evaluate(tmp_path, [case("a", city="Lima")], "--config", str(config))
    assert result.exit_code == 2
    assert "tool_elegance" in result.stderr
    assert results == {}


def call_case(case_id: str, evaluator: str, city: str = "Lima", **given: Any) -> str:
    call = {"id": "call_1", "name": "get_weather", "arguments": {"city": city}}
    return json.dumps({"id": case_id, "evaluator": evaluator, "input": {"tool_calls": [call], **given}})


def test_calls_are_held_against_those_of_the_case_by_the_settings_of_the_case(tmp_path: Path) -> None:
    reference = [{"name": "get_weather", "arguments": {"city": "lima"}}]
    lines = [
        call_case("peer", "tool_correctness", reference_tool_calls=reference),
        call_case("args", "tool_correctness", reference_tool_calls=reference, options={"evaluation_params": ["args"]}),
        call_case("own", "tool_calls_match", reference_tool_calls=reference, options={"threshold": 0.5}),
        call_case("none", "tool_calls_match"),
        call_case("bad", "tool_calls_match", reference_tool_calls=reference, options={"order": "reversed"}),
    ]
    result, results = evaluate(tmp_path, lines)
    assert [(one["id"], one["status"], one["score"], one["label"]) for one in results.values()] == [
        ("peer", "ok", 1.0, None),
        ("args", "ok", 0.0, None),
        ("own", "ok", 0.0, "fail"),
        ("none", "missing_input", None, None),
    ]
    assert results["own"]["issues"][0]["code"] == "wrong_arguments"
    assert result.exit_code == 1
    assert "cases.jsonl:5: input.options.order" in result.stderr


def test_cases_without_a_reference_have_that_of_the_configured_file_by_what_the_user_said(tmp_path: Path) -> None:
    references = tmp_path / "references.yaml"
    references.write_text("references: [{match: {input: 'Weather in Lima?'}, tool_calls: [get_weather]}]\n")
    config = tmp_path / "config.yaml"
    config.write_text(
        "receivers: {otlp: {protocols: {grpc: {}}}}\n"
        f"processors: {{assemble: {{}}, references: {{file: '{references}'}}, tool_calls_match: {{threshold: 0.9}}}}\n"
        "exporters: {console: {}}\n"
        "service:\n"
        "  pipelines:\n"
        "    traces:\n"
        "      receivers: [otlp]\n"
        "      processors: [assemble, references, tool_calls_match]\n"
        "      exporters: [console]\n"
    )
    lines = [
        call_case("known", "tool_calls_match", messages=[USER]),
        call_case("own", "tool_calls_match", messages=[USER], reference_tool_calls=[]),
        call_case("unknown", "tool_calls_match", messages=[{"role": "user", "content": "Tides?"}]),
    ]
    result, results = evaluate(tmp_path, lines, "--config", str(config))
    assert result.exit_code == 0, result.stderr
    assert [(one["status"], one["score"], one["passed"]) for one in results.values()] == [
        ("ok", 1.0, True),
        ("ok", 0.0, False),
        ("missing_input", None, None),
    ]
    assert results["known"]["details"]["reference"] == "file"


async def test_what_was_judged_before_an_interruption_is_kept(tmp_path: Path) -> None:
    cases, output = tmp_path / "cases.jsonl", tmp_path / "results.jsonl"
    lines = [case("wrong", country="Peru"), case("bare"), case("slow", "tool_selection", city="Lima")]
    cases.write_text("\n".join(lines), "utf-8")
    async with JudgeServer(slow(60)) as server:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "collector", "evaluate", str(cases), "--output", str(output)),
            *("--judge", server.base_url),
        )
        while not server.received:
            await asyncio.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert await process.wait() == 130
    assert [json.loads(line)["id"] for line in output.read_text("utf-8").splitlines()] == ["wrong", "bare"]
