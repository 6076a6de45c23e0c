"""The examples on the page about evaluators of one's own are complete and work as they stand."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from evaluators.evaluation import judge_by_rules
from evaluators.prompt_file import PromptEvaluator, PromptSettings
from evaluators.prompt_file.definition import PromptDefinition
from evaluators.python_class import ClassEvaluator, PythonSettings
from evaluators.verdict import Status
from tests.evaluators.runs import run_of

PAGE = Path(__file__).parents[3] / "docs" / "evaluators" / "own.md"
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def block(language: str, holding: str) -> str:
    [found] = [text for name, text in BLOCKS if name == language and holding in text]
    return str(found)


@pytest.fixture
def acme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "acme_evals.py").write_text(block("python", "class Brevity"))
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("acme_evals", None)


def test_the_prompt_file_can_be_used(tmp_path: Path) -> None:
    path = tmp_path / "politeness.md"
    path.write_text(block("markdown", "Judge the tone"))
    one = PromptEvaluator("politeness", PromptSettings(file=path))
    assert judge_by_rules(one, run_of()).status is Status.NEEDS_JUDGE
    assert one.criteria().startswith("Judge the tone of the final answer")


def test_every_key_of_a_prompt_file_is_described() -> None:
    table = PAGE.read_text(encoding="utf-8").split("| key | meaning |")[1].split("\n\n")[0]
    assert set(re.findall(r"^\| `(\w+)`", table, re.MULTILINE)) == set(PromptDefinition.model_fields)


@pytest.mark.usefixtures("acme")
def test_the_class_can_be_used_as_it_is_configured_and_offered() -> None:
    offered = tomllib.loads(block("toml", "entry-points"))["project"]["entry-points"]["spanjudge.evaluators"]
    processors = yaml.safe_load(block("yaml", "python/brevity"))["processors"]
    for name, given in (
        ("brevity", {"class": offered["brevity"]} | processors["python/brevity"]),
        ("terse", processors["python/terse"]),
    ):
        one = ClassEvaluator(name, PythonSettings.model_validate(given))
        assert judge_by_rules(one, run_of(answer="Done.")).label == "short"
        verdict = judge_by_rules(one, run_of(answer="Done. " * 100))
        assert (verdict.evaluator, verdict.label, verdict.explanation) == (
            name,
            "long",
            "The answer has 600 characters.",
        )
        assert judge_by_rules(one, run_of(answer=None)).status is Status.MISSING_INPUT
