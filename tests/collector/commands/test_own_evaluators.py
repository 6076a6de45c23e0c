"""Evaluators of an operator's own through configuration, commands and the judging process."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from collector.components import load_config
from collector.config import ConfigError
from collector.judging.jobs import Job, Judged
from collector.judging.process import JudgingProcess
from collector.judging.setup import plan_of
from collector.saved_traces import read_saved_traces
from tests.evaluators.own.package import environment, install

ROOT = Path(__file__).parents[3]
TONE = """---
judges: run
threshold: 0.5
labels: {polite: 1, rude: 0}
---
Judge the tone.
"""
LINE = {"messages": [{"role": "user", "content": "Hello?"}], "output": "Good evening."}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(tmp_path_factory.mktemp("package"))


def configuration(directory: Path, **processors: object) -> str:
    (directory / "tone.md").write_text(TONE)
    names = [name.replace("__", "/") for name in processors]
    path = directory / "otel-config.yaml"
    path.write_text(
        yaml.safe_dump(
            {
                "receivers": {"otlp": {"protocols": {"grpc": {}}}},
                "processors": {"assemble": {}, **dict(zip(names, processors.values(), strict=True))},
                "exporters": {"console": {}},
                "service": {
                    "pipelines": {
                        "traces": {
                            "receivers": ["otlp"],
                            "processors": ["assemble", *names],
                            "exporters": ["console"],
                        }
                    }
                },
            }
        )
    )
    return str(path)


def problems(directory: Path, **processors: object) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load_config([configuration(directory, **processors)], [])
    return str(caught.value).splitlines()


def run(site: Path, *arguments: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "collector", *arguments],
        env=environment(site),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_the_part_after_the_slash_is_the_evaluator_s_name(tmp_path: Path) -> None:
    tone = {"file": str(tmp_path / "tone.md")}
    config = load_config([configuration(tmp_path, prompt__tone=tone, prompt__manner=tone, python__brevity={})], [])
    assert list(plan_of(config).evaluators) == ["tone", "manner", "brevity"]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("prompt", "processors::prompt ({path}, line {line}): prompt needs a name; write prompt/name"),
        ("prompt__Tone", "'Tone' is no name for an evaluator; use lower-case letters, digits and underscores"),
        ("prompt__run", "'run' is no name for an evaluator; use"),
        ("prompt__class", "'class' is no name for an evaluator; use"),
        (
            "prompt__tool_selection",
            "tool_selection is an evaluator that spanjudge brings along; give yours another name",
        ),
    ],
)
def test_a_name_that_can_not_be_is_told(tmp_path: Path, name: str, told: str) -> None:
    [problem] = problems(tmp_path, **{name: {"file": str(tmp_path / "tone.md")}})
    assert told.partition("({path}")[0] in problem
    assert told.rpartition("): ")[2] in problem


def test_two_evaluators_can_not_have_one_name(tmp_path: Path) -> None:
    [problem] = problems(tmp_path, prompt__tone={"file": str(tmp_path / "tone.md")}, python__tone={})
    assert "python/tone" in problem
    assert problem.endswith("prompt/tone is active under this name already; give one of the two another name")


def test_a_fault_of_a_prompt_file_is_told_with_both_places(tmp_path: Path) -> None:
    (tmp_path / "bad.md").write_text(TONE.replace("polite: 1", "polite: 5"))
    [problem] = problems(tmp_path, prompt__tone={"file": str(tmp_path / "bad.md")})
    assert problem.startswith(f"processors::prompt/tone ({tmp_path / 'otel-config.yaml'}, line ")
    assert f"{tmp_path / 'bad.md'}: line 4, labels.polite: has to be at most 1.0; correct it" in problem


def test_a_judge_that_only_the_file_names_has_to_be_there(tmp_path: Path) -> None:
    (tmp_path / "asks.md").write_text(TONE.replace("judges: run", "judges: run\njudge: judge/large"))
    [problem] = problems(tmp_path, prompt__tone={"file": str(tmp_path / "asks.md")})
    assert "there is no extension judge/large; define judge/… under extensions" in problem


def test_classes_are_checked_before_anything_starts_and_listed_with_their_package(
    tmp_path: Path,
    site: Path,
) -> None:
    good = configuration(tmp_path, python__brevity={"longest": 5})
    assert run(site, "validate", "--config", good)[:2] == (
        0,
        "traces: otlp -> assemble, python/brevity -> console\nvalid\n",
    )
    bad = configuration(tmp_path, python__brevity={"longest": 0}, python__tone={}, python__breaks={})
    code, out, err = run(site, "validate", "--config", bad)
    assert (code, out) == (2, "")
    told = [line for line in err.splitlines() if line.startswith("error: ")]
    assert all("otel-config.yaml, line " in line for line in told)
    assert [line.partition(": ")[2].partition(" (")[0] for line in told] == [
        "processors::python/brevity",
        "processors::python/tone",
        "processors::python/breaks",
    ]
    code, out, _ = run(site, "components")
    assert code == 0
    assert "    python/brevity: acme_evals:Brevity, brought along by acme-evals 1.2" in out.splitlines()


def test_what_is_in_effect_can_be_read_back(tmp_path: Path, site: Path) -> None:
    processors = {"python__brevity": {"class": "acme_evals:Brevity", "longest": 5}}
    tone = {"file": str(tmp_path / "tone.md")}
    code, out, err = run(site, "print-config", "--config", configuration(tmp_path, **processors, prompt__tone=tone))
    assert code == 0, err
    printed = yaml.safe_load(out)["processors"]
    assert (printed["python/brevity"]["class"], printed["python/brevity"]["longest"]) == ("acme_evals:Brevity", 5)
    (tmp_path / "printed.yaml").write_text(out)
    again = plan_of(load_config([str(tmp_path / "printed.yaml")], []))
    assert again.evaluators == plan_of(load_config([str(tmp_path / "otel-config.yaml")], [])).evaluators


def test_lines_of_a_file_may_name_evaluators_of_the_configuration(
    tmp_path: Path,
    site: Path,
) -> None:
    config = configuration(tmp_path, python__brevity={}, prompt__tone={"file": str(tmp_path / "tone.md")})
    cases, output = tmp_path / "cases.jsonl", tmp_path / "results.jsonl"
    cases.write_text(
        "".join(json.dumps({"id": name, "evaluator": name, "input": LINE}) + "\n" for name in ("brevity", "tone"))
    )
    code, _, err = run(site, "evaluate", str(cases), "--output", str(output), "--config", config)
    assert code == 0, err
    results = [json.loads(line) for line in output.read_text().splitlines()]
    assert [(one["evaluator"], one["status"], one["label"]) for one in results] == [
        ("brevity", "ok", "short"),
        ("tone", "needs_judge", None),
    ]


def test_replay_judges_by_them(tmp_path: Path, site: Path) -> None:
    config = configuration(tmp_path, python__brevity={}, prompt__tone={"file": str(tmp_path / "tone.md")})
    code, out, err = run(site, "replay", "--format", "jsonl", "--config", config, "collector/demo_data")
    assert code == 0, err
    verdicts = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    assert {(one["evaluator"], one["level"]) for one in verdicts} == {("brevity", "trace"), ("tone", "trace")}
    assert {one["label"] for one in verdicts if one["status"] == "ok"} == {"long"}


async def test_the_judging_process_loads_them_and_goes_on_when_one_breaks(
    tmp_path: Path,
    site: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTHONPATH", environment(site)["PYTHONPATH"])
    processors = {
        "python__brevity": {"longest": 10_000},
        "python__faulty": {"class": "acme_evals:Faulty", "fault": "exits"},
        "python__gone": {},
        "step_efficiency": {},
    }
    plan = plan_of(load_config([configuration(tmp_path, **processors)], []))
    results: list[Judged] = []
    counted: list[object] = []
    process = JudgingProcess(plan, results.append, counted.append)
    await process.start()
    try:
        [trace, *_] = read_saved_traces([ROOT / "collector/demo_data"]).traces
        spans = {}
        for record in trace.spans:
            spans.setdefault((record.origin.resource, record.origin.scope), []).append(record.span)
        batches = [(resource, scope, found) for (resource, scope), found in spans.items()]
        process.submit(Job(trace.trace_id, batches, [], complete=True, partial=False))
        async with asyncio.timeout(30):
            while not results:
                await asyncio.sleep(0.01)
    finally:
        await process.stop()
    [result] = results
    assert result.failure is None
    written = b"".join(result.tails.values())
    assert b"eval.brevity.label" in written
    assert b"eval.step_efficiency.label" in written
    assert b"eval.faulty.score" not in written
