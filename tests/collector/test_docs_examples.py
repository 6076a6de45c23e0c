"""What the documentation tells readers to type is understood, and what it names is there."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
import typer.main
import yaml
from typer.testing import CliRunner

from collector.cli import app
from collector.config.reference import rows
from evaluators.calibration.record import write_record
from evaluators.judge.settings import JudgeSettings

PAGES = [Path("README.md"), *sorted(Path("docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
SECTIONS = {"receivers", "processors", "exporters", "extensions", "service"}
JUDGE = """yaml:
extensions: {judge/default: {model: m, base_url: "http://127.0.0.1:1/v1"}}
service: {extensions: [judge/default]}
"""


def configurations(page: Path) -> list[str]:
    """The fragments of our configuration on a page; those with `otlp/spanjudge` are the Collector's."""
    texts = [text for language, text in BLOCK.findall(page.read_text()) if language == "yaml"]
    return [text for text in texts if "otlp/spanjudge" not in text and set(yaml.safe_load(text)) <= SECTIONS]


CONFIGURATIONS = [
    pytest.param(text, id=f"{page}-{number}")
    for page in PAGES
    for number, text in enumerate(configurations(page), 1)
    if "python/" not in text  # classes of a package that isn't installed: see tests/evaluators/own/test_documented.py
]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with the files that the pages' configurations name, as the pages show them."""
    shown = {
        "politeness.md": ("docs/evaluators/own.md", "markdown", "judges: run"),
        "rubrics/refund_policy.yaml": ("docs/evaluators/rubrics.md", "yaml", "name: refund_policy"),
        "references.yaml": ("docs/references.md", "yaml", "references:\n  - match"),
    }
    for name, (page, language, holding) in shown.items():
        [text] = [text for kind, text in BLOCK.findall(Path(page).read_text()) if kind == language and holding in text]
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    write_record(tmp_path / "calibration.json", [])
    shipped = Path("otel-config.yaml").resolve()
    monkeypatch.chdir(tmp_path)
    return shipped


@pytest.mark.parametrize("text", CONFIGURATIONS)
def test_a_configuration_on_a_page_is_valid_beside_the_shipped_one(text: str, files: Path) -> None:
    arguments = ["validate", "--config", str(files), "--config", JUDGE, "--config", f"yaml:{text}"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output


def commands(text: str) -> list[list[str]]:
    """The calls of `spanjudge` in a block, as words, without what is piped or redirected and without comments."""
    lines = text.replace("\\\n", " ").splitlines()
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("spanjudge ")]


COMMANDS = [
    pytest.param(words, id=f"{page}: {' '.join(words)}")
    for page in PAGES
    for language, text in BLOCK.findall(page.read_text())
    if language in ("", "sh")
    for words in commands(text)
]


@pytest.mark.parametrize("words", COMMANDS)
def test_a_command_on_a_page_has_the_options_that_it_is_given(words: list[str]) -> None:
    name, *rest = words
    known = vars(typer.main.get_command(app))["commands"][name]
    options = {option for parameter in known.params for option in parameter.opts} | {"--help"}
    assert {word.split("=")[0] for word in rest if word.startswith("--")} <= options


@pytest.mark.parametrize("words", COMMANDS)
def test_an_example_that_a_command_on_a_page_names_is_there(words: list[str]) -> None:
    assert [word for word in words if word.startswith("examples/") and not Path(word).exists()] == []


def test_what_a_probe_prints_is_as_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    shown = Path("docs/calibration.md").read_text().split("$ spanjudge probe collector/demo_data\n")[1].split("```")[0]
    printed = CliRunner().invoke(app, ["probe", "collector/demo_data"]).stdout
    assert [line.rstrip() for line in printed.splitlines()] == shown.splitlines()


@pytest.mark.parametrize("options", [["--json"], ["--summary", "--json"]])
def test_every_key_of_a_transcript_is_described(options: list[str]) -> None:
    printed = CliRunner().invoke(app, ["transcript", *options, "collector/demo_data"]).stdout.splitlines()[0]
    described = Path("docs/commands.md").read_text()
    assert [key for key in json.loads(printed) if f"`{key}`" not in described] == []


def test_the_keys_and_defaults_of_a_judge_in_its_table_are_those_of_its_settings() -> None:
    table = Path("docs/judge.md").read_text().split("## Settings", 1)[1].split("\n## ", 1)[0]
    cells = [line.split("|") for line in table.splitlines() if line.startswith("| `")]
    said = {key: row[2].strip() for row in cells for key in re.findall(r"`(\w+)`", row[1])}
    top = {row.key: row for row in rows(JudgeSettings) if len(row.path) == 1}
    elsewhere = {"escalate_to", "escalate_below"}  # in the section on a second judge
    assert set(said) == set(top) - elsewhere
    words = {"empty": "", "none": "{}", "–": "", "not sent": "", "as many as the answer can need": ""}
    assert {key: words.get(default, default.strip("`")) for key, default in said.items()} == {
        key: row.default for key, row in top.items() if key in said
    }


def test_places_in_the_code_that_pages_name_are_there() -> None:
    place = re.compile(r"`((?:collector|processors|evaluators|tests|examples|bench|docs)/[\w./]*)`")
    named = {(page, found) for page in PAGES for found in place.findall(page.read_text())}
    assert {(str(page), found) for page, found in named if not Path(found).exists()} == set()
