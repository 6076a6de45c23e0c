"""Evaluators that an installed package brings along: found by their metadata, and held to what the others rely on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from evaluators.evaluation import Item, evaluate, judge_by_rules
from evaluators.judge.client import OpenAIJudge
from evaluators.judge.settings import JudgeSettings
from evaluators.python_class import ClassEvaluator, LoadError, PythonSettings, offered
from evaluators.registry import create_evaluator
from evaluators.task_completion import TaskCompletion
from evaluators.verdict import Status, Verdict
from tests.evaluators.judge_server import JudgeServer
from tests.evaluators.runs import run_of

pytestmark = pytest.mark.usefixtures("installed")
RUN = run_of(answer="A short answer.")


def settings(path: str | None = None, **given: Any) -> PythonSettings:
    return PythonSettings.model_validate(({} if path is None else {"class": path}) | given)


def faulty(fault: str) -> ClassEvaluator:
    return ClassEvaluator("faulty", settings("acme_evals:Faulty", fault=fault))


def test_packages_offer_evaluators_by_their_metadata_and_nothing_is_loaded_for_it() -> None:
    mine = [one for one in offered() if one.package == "acme-evals 1.2"]
    assert [(one.name, one.path) for one in mine] == [
        ("breaks", "acme_evals_broken:Breaks"),
        ("brevity", "acme_evals:Brevity"),
        ("classless", "acme_evals"),
        ("gone", "acme_evals:NotThere"),
    ]


@pytest.mark.parametrize(
    ("name", "given"), [("brevity", settings()), ("anything", settings("acme_evals:Brevity"))], ids=["offered", "named"]
)
def test_a_class_is_found_by_the_name_under_which_it_is_offered_or_by_its_own(name: str, given: PythonSettings) -> None:
    verdict = judge_by_rules(create_evaluator(name, given), RUN)
    assert (verdict.evaluator, verdict.status, verdict.label, verdict.score) == (name, Status.OK, "short", 1.0)


def test_a_class_is_told_the_settings_that_it_declares() -> None:
    one = create_evaluator("brevity", settings(longest=3, threshold=0.5, judge="judge/x"))
    assert (one.settings.threshold, one.settings.judge) == (0.5, "judge/x")
    assert judge_by_rules(one, RUN).label == "long"
    assert one.revision() != create_evaluator("brevity", settings()).revision()


@pytest.mark.parametrize(
    ("name", "given", "told"),
    [
        (
            "tone",
            {},
            "no installed package offers an evaluator tone (there are: breaks, brevity, classless, gone); install the",
        ),
        ("x", {"class": "acme_nowhere:X"}, "acme_nowhere:X is not installed; install it into the environment"),
        ("x", {"class": "acme_evals:Nope"}, "acme_evals has no Nope; correct the name of the class"),
        ("gone", {}, "acme_evals of acme-evals 1.2 has no NotThere; correct the name"),
        (
            "breaks",
            {},
            "acme_evals_broken:Breaks of acme-evals 1.2 can't be imported: ImportError in acme_evals_broken.py:1",
        ),
        ("classless", {}, "classless of acme-evals 1.2 names no class; write package.module:Class in its entry points"),
        ("x", {"class": "acme_evals:not_a_class"}, "acme_evals:not_a_class is no subclass of evaluators.Evaluator"),
        ("x", {"class": "acme_evals:Abstract"}, "doesn't implement conclude, criteria, question, screen; add what"),
        ("x", {"class": "acme_evals:Nameless"}, "acme_evals:Nameless has no judges; set it in the class, a CaseKind"),
        (
            "x",
            {"class": "acme_evals:OddSettings"},
            "Settings is no subclass of evaluators.EvaluatorSettings; make it one",
        ),
        ("x", {"class": "acme_evals:Unmade"}, "acme_evals:Unmade can't be made: OSError in acme_evals.py:"),
        ("brevity", {"longest": 0}, "settings that Brevity refuses (longest: Input should be greater than"),
        ("brevity", {"shortest": 1}, "(shortest: Extra inputs are not permitted); its keys: judge, longest, threshold"),
    ],
)
def test_a_class_that_can_not_be_used_is_told_with_package_and_remedy(
    name: str, given: dict[str, Any], told: str
) -> None:
    with pytest.raises(LoadError) as caught:
        create_evaluator(name, settings(**given))
    assert told in str(caught.value)
    assert "secret" not in str(caught.value)
    assert "no model file" not in str(caught.value)


def test_a_module_that_is_no_python_is_told_by_its_own_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "acme_no_python.py").write_text("x = 1\ndef broken(:\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(LoadError, match=r"can't be imported: SyntaxError in acme_no_python\.py:2; correct the package"):
        create_evaluator("x", settings("acme_no_python:X"))


def test_a_class_is_written_with_its_module() -> None:
    with pytest.raises(ValidationError, match=r"is no class; write package\.module:Class"):
        settings("acme_evals.Brevity")


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("raises", "Faulty.screen failed: ValueError in acme_evals.py:"),
        ("exits", "Faulty.screen failed: SystemExit in acme_evals.py:"),
        ("gives nothing", "Faulty.screen failed: TypeError in evaluator.py:"),
        ("question raises", "Faulty.screen failed: KeyError in acme_evals.py:"),
        ("free form", "Faulty.screen failed: TypeError in strict_schema.py:"),
        ("long", "Faulty.screen failed: TypeError in evaluator.py:"),
        ("no calls", "Faulty.screen failed: TypeError in evaluator.py:"),
        ("verdict raises", "Faulty.conclude_by_rules failed: RuntimeError in acme_evals.py:"),
        ("no verdict", "Faulty.conclude_by_rules failed: TypeError in evaluator.py:"),
        ("no json", "Faulty.conclude_by_rules failed: TypeError in evaluator.py:"),
        ("conclude raises", "Faulty.conclude failed: ZeroDivisionError in acme_evals.py:"),
    ],
)
async def test_what_a_class_gets_wrong_costs_its_own_verdict_alone_and_tells_nothing_of_the_trace(
    fault: str, told: str
) -> None:
    async with JudgeServer() as server:
        judge = OpenAIJudge(JudgeSettings(model="m", base_url=server.base_url))
        items = [Item(TaskCompletion(), RUN, judge), Item(faulty(fault), RUN, judge)]
        good, bad = await evaluate(items)
        await judge.close()
    assert good.status is Status.OK
    assert (bad.evaluator, bad.status, bad.score) == ("faulty", Status.JUDGE_ERROR, None)
    assert bad.explanation.startswith(told)
    assert "short answer" not in bad.explanation
    assert "secret" not in bad.explanation


def test_what_a_class_gets_wrong_is_logged_once_for_each_place(caplog: pytest.LogCaptureFixture) -> None:
    broken = faulty("raises")
    for _ in range(3):
        judge_by_rules(broken, RUN)
    [record] = caplog.records
    assert "the evaluator faulty: Faulty.screen failed: ValueError in acme_evals.py:" in record.getMessage()


async def test_a_class_asks_the_judge_like_any_evaluator_and_under_the_configured_name() -> None:
    async with JudgeServer() as server:
        judge = OpenAIJudge(JudgeSettings(model="m", base_url=server.base_url))
        verdicts: list[Verdict] = await evaluate([Item(faulty(""), RUN, judge)])
        await judge.close()
    assert [(one.evaluator, one.status, one.label) for one in verdicts] == [("faulty", Status.OK, "short")]
    assert "faulty" in server.received[0].user
    assert judge_by_rules(faulty(""), RUN).status is Status.NEEDS_JUDGE
