"""The documentation agrees with the code where that can be checked."""

from __future__ import annotations

import importlib
import json
import re
import tomllib
from enum import StrEnum
from pathlib import Path

import pytest
import typer.main
import yaml
from pydantic import BaseModel
from typer.testing import CliRunner

from collector.cli import app
from evaluators.case_files.form import CaseInput
from evaluators.error_recovery.outcomes import Outcome
from evaluators.failure_attribution.table import Fault
from evaluators.issues import IssueCode
from evaluators.registry import CASE_OPTIONS, EVALUATORS
from evaluators.step_efficiency.worth import StepType
from evaluators.verdict import Status
from processors.verdicts import scores

PAGES = [Path("README.md"), *sorted(Path("docs").rglob("*.md"))]
LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")
ANCHOR = re.compile(r"\]\(([^)#:]*)#([^)]+)\)")
FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
JSON_BLOCK = re.compile(r"```json\n(.*?)```", re.DOTALL)
QUOTED = re.compile(r"`([^`]+)`")


def first_column(text: str, heading: str) -> list[str]:
    """What stands in backticks in the first column of the table under a heading."""
    section = text.split(f"## {heading}", 1)[1].split("\n## ", 1)[0]
    rows = [line for line in section.splitlines() if line.startswith("|")][2:]
    return [name for row in rows for name in QUOTED.findall(row.split("|")[1])]


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_link_leads_somewhere(page: Path) -> None:
    links = [link for link in LINK.findall(page.read_text()) if "://" not in link]
    missing = [link for link in links if not (page.parent / link).exists()]
    assert missing == []


def anchors(page: Path) -> set[str]:
    """What may stand behind a `#`: headings in small letters, blanks as dashes, without signs and targets of links."""
    headings = re.findall(r"^#+ (.+)$", FENCED.sub("", page.read_text()), re.MULTILINE)
    plain = [re.sub(r"\]\([^)]*\)", "", heading).lower() for heading in headings]
    return {re.sub(r"[^\w -]", "", heading).replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_anchor_is_a_heading(page: Path) -> None:
    links = ANCHOR.findall(FENCED.sub("", page.read_text()))
    lost = [(path, name) for path, name in links if name not in anchors(page.parent / path if path else page)]
    assert lost == []


def test_every_page_can_be_reached_from_the_index() -> None:
    indexes = [Path("docs/index.md"), Path("docs/evaluators/index.md")]
    linked = {(index.parent / link).resolve() for index in indexes for link in LINK.findall(index.read_text())}
    assert {page.resolve() for page in PAGES[1:]} - linked == {Path("docs/index.md").resolve()}


def test_every_shipped_evaluator_stands_in_the_overview() -> None:
    text = Path("docs/evaluators/index.md").read_text() + Path("docs/evaluators/published-metrics.md").read_text()
    assert [name for name in EVALUATORS if name not in text] == []


def test_the_readme_counts_the_evaluators_and_names_those_of_the_shipped_configuration() -> None:
    readme, shipped = Path("README.md").read_text(), yaml.safe_load(Path("otel-config.yaml").read_text())
    on = [name for name in shipped["processors"] if name in EVALUATORS]
    assert re.findall(r"^\| \[(\w+)\]\(docs/evaluators/", readme, re.MULTILINE) == on
    assert f"[{len(EVALUATORS) - len(on)} more](docs/evaluators/index.md)" in readme


DIALECTS = [page for page in PAGES if page.parent.name == "dialects"]
SECTIONS = ["What is understood", "What it never contains", "Switching content on", "Known faults that are coped with"]


@pytest.mark.parametrize("page", DIALECTS, ids=lambda page: page.stem)
def test_pages_on_dialects_have_the_same_sections_in_the_same_order(page: Path) -> None:
    if page.stem not in ("unknown", "content-capture"):
        sections = re.findall(r"^## (.+)$", page.read_text(), re.MULTILINE)
        assert sections in (SECTIONS, SECTIONS[:-1])


PUBLISHED = "docs/evaluators/published-metrics.md"
TEMPLATE = ["Inputs", "Rules", "Judge", "Score", "Limits", "Figures"]
OUTCOMES: dict[str, type[StrEnum]] = {
    "step_efficiency": StepType,
    "error_recovery": Outcome,
    "failure_attribution": Fault,
}
METRICS = first_column(Path(PUBLISHED).read_text().replace("| metric |", "## Metrics\n| metric |"), "Metrics")


def test_published_metrics_are_evaluators_and_share_a_page() -> None:
    assert [name for name in CASE_OPTIONS if name != "tool_calls_match"] == METRICS
    others_names = Path("docs/coming-from.md").read_text()
    assert [name for name in METRICS if f"`{name}`" not in others_names] == []


@pytest.mark.parametrize("name", [name for name in EVALUATORS if name not in METRICS])
def test_an_evaluators_page_names_its_threshold_labels_and_only_real_codes(name: str) -> None:
    text = Path(f"docs/evaluators/{name}.md").read_text()
    entry = EVALUATORS[name]
    evaluator = entry.evaluator_type
    threshold = entry.settings().threshold
    if threshold is not None:
        assert f"Labels `{evaluator.good_label}` / `{evaluator.bad_label}`, threshold {threshold}." in text
    outcomes = {outcome.value for outcome in OUTCOMES.get(name, ())}
    described = set(first_column(text, "Rules"))
    assert outcomes <= described <= outcomes | {code.value for code in IssueCode}


@pytest.mark.parametrize("name", [name for name in EVALUATORS if name not in METRICS])
def test_an_evaluators_page_follows_the_template(name: str) -> None:
    text = Path(f"docs/evaluators/{name}.md").read_text()
    title, question = text.splitlines()[:3:2]
    assert title == f"# {name}"
    assert re.match(r"\*\*[^*]+\?", question)
    assert "\nThe verdict " in text.split("\n## ")[0]
    sections = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert [section for section in sections if section in TEMPLATE] == TEMPLATE


def test_every_code_stands_on_the_page_of_an_evaluator() -> None:
    text = "".join(page.read_text() for page in PAGES if page.parent.name == "evaluators")
    assert [code.value for code in IssueCode if f"`{code.value}`" not in text] == []


@pytest.mark.parametrize("path", sorted(Path("evaluators").glob("*/answer.py")), ids=lambda path: path.parent.name)
def test_what_a_judge_may_answer_stands_on_the_evaluators_page(path: Path) -> None:
    module = importlib.import_module(f"evaluators.{path.parent.name}.answer")
    models = [one for one in vars(module).values() if isinstance(one, type) and one.__module__ == module.__name__]
    schemas = json.dumps([one.model_json_schema() for one in models if issubclass(one, BaseModel)])
    page = Path("docs/evaluators", f"{path.parent.name}.md")
    if page.exists():  # what is made from files has its page elsewhere
        text = page.read_text()
        assert [code.value for code in IssueCode if f'"{code}"' in schemas and f"`{code}`" not in text] == []


def test_every_attribute_of_a_verdict_is_explained() -> None:
    written = set(re.findall(r"eval\.<n>\.([a-z_]+)", scores.__doc__ or ""))
    text = Path("docs/concepts.md").read_text()
    assert [name for name in written if f".{name}`" not in text] == []


def test_every_status_is_explained() -> None:
    assert set(first_column(Path("docs/concepts.md").read_text(), "Verdicts")) == {status.value for status in Status}


def test_every_command_is_described_and_no_other() -> None:
    text = Path("docs/commands.md").read_text().split("\n## ", 1)[0]
    described = {row.split("`")[1].split()[0] for row in text.splitlines() if row.startswith("| `")}
    commands = typer.main.get_command(app)
    assert described == set(vars(commands)["commands"])


def test_every_dependency_has_its_reason_and_no_other_package() -> None:
    project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
    needed = {re.split(r"[><=;\[ ]", requirement)[0] for requirement in project["dependencies"]}
    table = Path("docs/dependencies.md").read_text().split("\n## ", 1)[0]
    listed = {row.split("`")[1] for row in table.splitlines() if row.startswith("| `")}
    assert listed == needed


def test_a_case_and_its_result_are_as_described(tmp_path: Path) -> None:
    case, result = JSON_BLOCK.findall(Path("docs/commands.md").read_text().split("## evaluate", 1)[1])
    cases, output = tmp_path / "cases.jsonl", tmp_path / "results.jsonl"
    cases.write_text(json.dumps(json.loads(case)))
    assert CliRunner().invoke(app, ["evaluate", str(cases), "--output", str(output)]).exit_code == 0
    assert json.loads(output.read_text()) | {"revision": "…"} == json.loads(result)


def test_every_key_of_a_case_is_described() -> None:
    described = first_column(Path("docs/commands.md").read_text(), "evaluate")
    assert described == [field.alias or name for name, field in CaseInput.model_fields.items()]


def test_a_verdict_line_is_as_described() -> None:
    [verdict] = JSON_BLOCK.findall(Path("docs/commands.md").read_text().split("## evaluate", 1)[0])
    described = json.loads(verdict)
    printed = CliRunner().invoke(app, ["replay", "--format", "jsonl", "collector/demo_data"]).stdout
    lines = [json.loads(line) for line in printed.splitlines()]
    [same] = [
        line for line in lines if (line["evaluator"], line["passed"]) == (described["evaluator"], described["passed"])
    ]
    assert same | {"revision": "…"} == described
