"""`replay --estimate` as an operator sees it: what judging would take, and nothing spent."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from collector.cli import app

TRACES = Path(__file__).parents[3] / "collector" / "demo_data"
JUDGED = """
extensions:
  judge/default: {model: m-1, base_url: "http://127.0.0.1:9/v1"PRICES}
processors:
  task_completion: {judge: judge/default}
  tool_selection: {judge: judge/default}
service:
  extensions: [judge/default]
"""


def run(tmp_path: Path, *arguments: str, prices: str = "", base: bool = True) -> tuple[int, str, str]:
    config = tmp_path / "judged.yaml"
    config.write_text(JUDGED.replace("PRICES", prices))
    shipped = str(Path(__file__).parents[3] / "otel-config.yaml")
    told = ["replay", str(TRACES), "--config", shipped, *(["--config", str(config)] if base else []), *arguments]
    result = CliRunner().invoke(app, told, env={"COLUMNS": "140"})
    return result.exit_code, result.stdout, result.stderr


def test_questions_tokens_and_money_are_told_per_evaluator_and_judge(tmp_path: Path) -> None:
    code, out, err = run(tmp_path, "--estimate", prices=", prices: {input: 0.4, output: 1.6}")
    assert (code, err) == (0, "")
    rows = {line.split()[0]: line.split() for line in out.splitlines() if line.strip()}
    assert rows["task_completion"][1] == "judge/default"
    assert all(int(rows[name][2]) > 0 and float(rows[name][5]) > 0 for name in ("task_completion", "tool_selection"))
    assert "step_efficiency" not in rows, "it is asked nothing, as it names no judge"
    assert "judge/default (m-1): " in out and " requests, " in out and "in the currency of its prices" in out


def test_without_prices_there_is_no_money(tmp_path: Path) -> None:
    _, out, _ = run(tmp_path, "--estimate")
    assert "currency" not in out and "–" in out


def test_without_a_judge_nothing_would_be_asked(tmp_path: Path) -> None:
    code, out, _ = run(tmp_path, "--estimate", base=False)
    assert code == 0 and "no judge would be asked anything, as none is configured" in out


def test_an_estimate_has_no_verdicts_to_write(tmp_path: Path) -> None:
    code, _, err = run(tmp_path, "--estimate", "--verdicts", "-")
    assert code == 2 and "--estimate judges nothing that could be written" in err


def test_the_sample_counts(tmp_path: Path) -> None:
    _, all_of_it, _ = run(tmp_path, "--estimate")
    processors = "service.pipelines.traces.processors=[assemble, admission, tool_selection, task_completion]"
    _, sampled, _ = run(
        tmp_path,
        "--estimate",
        "--set",
        "processors.admission={sampling_percentage: 0, always: []}",
        "--set",
        processors,
    )
    assert "task_completion" in all_of_it
    assert "no judge would be asked anything" in sampled
