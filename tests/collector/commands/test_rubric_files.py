"""Rubrics of an operator's own through configuration and commands."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from collector.components import load_config
from collector.config import ConfigError
from collector.judging.setup import plan_of

ROOT = Path(__file__).parents[3]
POLICY = """\
name: policy
title: Look before you tell
question: Was the weather looked up?
threshold: 90
checks:
  - id: not_looked_up
    code: W-1
    severity: major
    deduct: 30
    per: once
    text: The weather was told without looking it up.
    ask: false
    shown_by: {not: {called: get_weather}}
"""
DOCUMENT = """\
# Courtesy

| code | violation | severity | points |
|---|---|---|---|
| C-1 | No greeting | minor | -10 |
"""
ASKED = [{"role": "user", "content": "How warm is it in Porto?"}]
LOOKED_UP = [
    *ASKED,
    {
        "role": "assistant",
        "tool_calls": [{"id": "1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "1", "content": "18"},
]


def configuration(directory: Path, file: Path, **settings: object) -> str:
    path = directory / "otel-config.yaml"
    processors = {"assemble": {}, "rubric/weather_policy": {"file": str(file), **settings}}
    pipeline = {"receivers": ["otlp"], "processors": list(processors), "exporters": ["console"]}
    document = {
        "receivers": {"otlp": {"protocols": {"grpc": {}}}},
        "processors": processors,
        "exporters": {"console": {}},
        "service": {"pipelines": {"traces": pipeline}},
    }
    path.write_text(yaml.safe_dump(document))
    return str(path)


def written(directory: Path, text: str, name: str = "policy.yaml") -> Path:
    path = directory / name
    path.write_text(text)
    return path


def run(*arguments: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "collector", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(("text", "name"), [(POLICY, "policy.yaml"), (DOCUMENT, "courtesy.md")])
def test_a_dropped_file_is_an_evaluator_that_validates(tmp_path: Path, text: str, name: str) -> None:
    code, out, err = run("validate", "--config", configuration(tmp_path, written(tmp_path, text, name)))
    assert (code, out.splitlines()) == (0, ["traces: otlp -> assemble, rubric/weather_policy -> console", "valid"]), err


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("deduct: 30", "deducts: 30", "line 9, checks[0].deducts: is no key here; did you mean deduct?"),
        ("severity: major", "severity: awful", "line 8, checks[0].severity: is none of the possible values; use"),
        ("called: get_weather", "caled: get_weather", "caled: is no key here; did you mean called?"),
        ("threshold: 90", "threshold: 900", "line 4, threshold: has to be at most 100.0; correct it"),
    ],
)
def test_a_fault_is_told_by_file_line_key_and_remedy(tmp_path: Path, old: str, new: str, told: str) -> None:
    file = written(tmp_path, POLICY.replace(old, new))
    code, _, err = run("validate", "--config", configuration(tmp_path, file))
    assert code == 2
    assert str(file) in err and told in err
    assert "processors::rubric/weather_policy" in err


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="can't be read: No such file"):
        load_config([configuration(tmp_path, tmp_path / "none.yaml")], [])


def test_the_judging_process_gets_what_the_file_said_when_it_was_checked(tmp_path: Path) -> None:
    file = written(tmp_path, POLICY)
    plan = plan_of(load_config([configuration(tmp_path, file)], []))
    file.unlink()
    again = pickle.loads(pickle.dumps(plan))
    assert again.evaluators["weather_policy"].rubric.threshold == 90


@pytest.mark.parametrize(
    ("messages", "settings", "expected"),
    [
        (LOOKED_UP, {}, ("ok", "pass", 1.0, [])),
        (ASKED, {}, ("ok", "fail", 0.7, ["W-1"])),
        (ASKED, {"threshold": 0.6}, ("ok", "pass", 0.7, ["W-1"])),
    ],
)
def test_cases_are_judged_by_it(
    tmp_path: Path, messages: object, settings: dict[str, object], expected: tuple[str, str, float, list[str]]
) -> None:
    config = configuration(tmp_path, written(tmp_path, POLICY), **settings)
    line = {"id": "1", "evaluator": "weather_policy", "input": {"messages": messages, "output": "18 degrees."}}
    cases, output = tmp_path / "cases.jsonl", tmp_path / "results.jsonl"
    cases.write_text(json.dumps(line))
    code, _, err = run("evaluate", str(cases), "--output", str(output), "--config", config)
    assert code == 0, err
    found = json.loads(output.read_text())
    told = [issue["code"] for issue in found["issues"]]
    assert (found["status"], found["label"], found["score"], told) == expected
    assert found["evaluator"] == "weather_policy"


def test_saved_traces_are_judged_by_it(tmp_path: Path) -> None:
    config = configuration(tmp_path, written(tmp_path, POLICY))
    code, out, err = run("replay", "--format", "jsonl", "--config", config, "collector/demo_data")
    assert code == 0, err
    verdicts = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    assert {one["evaluator"] for one in verdicts} == {"weather_policy"}
    assert {one["label"] for one in verdicts} == {"pass", "fail"}
