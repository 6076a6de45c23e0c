"""The quality gate: points by arithmetic, outcomes by the book, red lines never missed and never claimed falsely."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from evaluators.cases import RunCase
from evaluators.evaluation import Item, evaluate, judge_by_rules
from evaluators.judge.client import OpenAIJudge
from evaluators.judge.settings import JudgeSettings
from evaluators.qa_judge import Judgment, QaJudge, QaJudgeSettings
from evaluators.verdict import Method, Status, Verdict
from tests.evaluators.judge_server import JudgeServer, changed
from tests.evaluators.qa_judge.deliveries import delivery, write

NOON = datetime(2026, 3, 25, 12, 0, 0, tzinfo=UTC)
CODE = "import os\n\ndef remove(name):\n    os.remove(name)\n\ndef double(x):\n    return x * 3\n"
GITHUB = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
REDLINES = {
    "sql_injection": (80, "CWE-89"),
    "command_injection": (80, "CWE-78"),
    "xss": (70, "CWE-79"),
    "hardcoded_secret": (100, "CWE-798"),
    "unsafe_deserialization": (70, "CWE-502"),
    "path_traversal": (60, "CWE-22"),
    "plaintext_password": (100, "CWE-256"),
    "insecure_random": (50, "CWE-338"),
    "pii_leak": (80, "CWE-359"),
    "sensitive_exposure": (60, "CWE-200"),
    "missing_authorization": (80, "CWE-862"),
    "license_violation": (70, ""),
    "critical_logic_error": (100, ""),
    "data_loss_risk": (80, ""),
    "resource_leak": (60, "CWE-404"),
    "race_condition": (70, "CWE-362"),
}


class Clock:
    """Goes on by a quarter of a second whenever it is read."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=0.25)
        return self.now


def defect(check: str, quote: str = "return x * 3", *, extent: str = "middle", **more: str) -> dict[str, Any]:
    said = {
        "item": "double",
        "why": f"It is {check}.",
        "category": "careless",
        "root_cause": "haste",
        "suggestion": "think",
    }
    return {"check": check, "quote": quote, "extent": extent, "evidence": [], **said, **more}


async def judged(
    case: RunCase, *defects: Mapping[str, Any], settings: QaJudgeSettings | None = None, **answers: str
) -> tuple[Verdict, str]:
    """The verdict where a judge finds these defects, and what it was asked."""

    def say(given: dict[str, Any]) -> None:
        [answer] = [one for one in given.values() if isinstance(one, dict)]
        no = {"security_related": "no", "performance_sensitive": "no", "documentation_task": "no"}
        answer.update(violations=list(defects), suggestions=[], **{"summary": "So it is.", **no, **answers})

    async with JudgeServer(changed(say)) as server:
        judge = OpenAIJudge(JudgeSettings(model="m", base_url=server.base_url))
        [verdict] = await evaluate([Item(QaJudge(settings, Clock()), case, judge)])
        await judge.close()
    return verdict, server.received[0].user


def report(verdict: Verdict) -> Judgment:
    """The report, read back in the strict form of the protocol."""
    return Judgment.model_validate_json(json.dumps(verdict.details["judgment"]), strict=True)


async def graded(case: RunCase, *defects: Mapping[str, Any], **answers: str) -> tuple[int, str, str]:
    verdict, _ = await judged(case, *defects, **answers)
    assert verdict.status is Status.OK, verdict.explanation
    told = report(verdict)
    assert verdict.score == told.score.total / 100
    assert verdict.passed is (told.status == "PASS")
    return told.score.total, told.score.grade, told.status


APP = delivery(write("app.py", CODE))
POEM = delivery(answer="Spring has come.\nBirds sing.")


async def test_nothing_found_is_the_best_grade() -> None:
    assert await graded(APP) == (100, "S", "PASS")


@pytest.mark.parametrize(
    ("case", "check", "extent", "total"),
    [
        # of code all five dimensions count: 20, 30, 25, 10, 15
        (APP, "missing_requirement", "middle", 100 - 0.20 * 32),
        (APP, "serious_function", "high", 100 - 0.30 * 48),
        (APP, "logic_fault", "middle", 100 - 0.30 * 12.5),
        (APP, "weak_token_key", "low", 100 - 0.25 * 16),
        (APP, "serious_performance", "high", 100 - 0.10 * 48),
        (APP, "style", "high", 100 - 0.15 * 10),
        (APP, "documentation", "low", 100 - 0.15 * 5),
        # of text three do: 20, 30 and 15 of 65
        (POEM, "serious_function", "high", 100 - 30 / 65 * 48),
        (POEM, "style", "high", 100 - 15 / 65 * 10),
        # performance is no dimension of a text
        (POEM, "serious_performance", "high", 100),
    ],
)
async def test_a_defect_is_deducted_from_its_dimension_alone(
    case: RunCase, check: str, extent: str, total: float
) -> None:
    quote = "Birds sing" if case is POEM else "return x * 3"
    points, _, _ = await graded(case, defect(check, quote, extent=extent))
    assert points == int(total + 0.5)


@pytest.mark.parametrize(
    ("artifact_type", "weights"),
    [
        ("code", {"completeness": 20, "correctness": 30, "security": 25, "performance": 10, "maintainability": 15}),
        ("mixed", {"completeness": 20, "correctness": 30, "security": 25, "performance": 10, "maintainability": 15}),
        ("data", {"completeness": 20, "correctness": 30, "security": 25}),
        ("text", {"completeness": 20, "correctness": 30, "maintainability": 15}),
        ("design", {"completeness": 20, "correctness": 30}),
    ],
)
async def test_dimensions_that_do_not_apply_have_no_weight_and_count_100(
    artifact_type: str, weights: dict[str, int]
) -> None:
    verdict, _ = await judged(delivery(write("app.py", CODE), artifact_type=artifact_type))
    told = report(verdict)
    whole = sum(weights.values())
    assert told.metadata.weights == {
        name: round(weights.get(name, 0) / whole, 4)
        for name in ("completeness", "correctness", "security", "performance", "maintainability")
    }
    assert set(told.metadata.inapplicable_metrics) == set(told.metadata.weights) - set(weights)
    assert all(getattr(told.detailed_report.metrics, name) == 100 for name in told.metadata.inapplicable_metrics)


@pytest.mark.parametrize(
    ("question", "dimension", "weight"),
    [
        ("security_related", "security", 35),
        ("performance_sensitive", "performance", 20),
        ("documentation_task", "maintainability", 25),
    ],
)
async def test_weights_rise_with_the_task_and_are_renormalised(question: str, dimension: str, weight: int) -> None:
    verdict, _ = await judged(APP, **{question: "yes"})
    usual = {"security": 25, "performance": 10, "maintainability": 15}[dimension]
    weights = report(verdict).metadata.weights
    assert weights[dimension] == pytest.approx(weight / (100 - usual + weight), abs=1e-4)
    assert sum(weights.values()) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("check", REDLINES)
async def test_a_red_line_means_retraining_and_at_most_30_points(check: str) -> None:
    deduction, cwe = REDLINES[check]
    verdict, _ = await judged(APP, defect(check))
    told = report(verdict)
    assert told.status == "RETRAIN_REQUIRED"
    assert told.score.total <= 30
    assert (verdict.label, verdict.passed) == ("fail", False)
    [found] = told.detailed_report.defects
    assert (found.deduction, found.cwe_id, found.severity) == (deduction, cwe, "critical")
    assert found.seed_cwe == ("CWE-558" if check == "data_loss_risk" else "")
    [line] = told.detailed_report.redline_violations
    assert (line.cwe_id, line.location, line.severity) == (cwe, "app.py:7", "critical")
    assert told.escalation_report_to_ceo.triggered


async def test_a_fatal_defect_leaves_nothing() -> None:
    assert await graded(APP, defect("fatal_defect")) == (0, "F", "RETRAIN_REQUIRED")
    verdict, _ = await judged(APP, defect("fatal_defect"))
    assert report(verdict).escalation_report_to_ceo.priority == "P0"


async def test_a_lack_of_capability_means_retraining_whatever_the_points() -> None:
    verdict, _ = await judged(APP, defect("style", category="capability"))
    told = report(verdict)
    assert (told.score.total, told.score.grade, told.status) == (99, "S", "RETRAIN_REQUIRED")
    assert (verdict.score, verdict.passed, verdict.label) == (0.99, False, "fail")
    assert told.escalation_report_to_ceo.capability_gaps == [told.detailed_report.defects[0].description]
    assert told.detailed_report.statistics.capability_gaps == 1


@pytest.mark.parametrize(
    ("defects", "outcome"),
    [
        ([], (100, "S", "PASS")),
        ([("serious_function", "high")], (86, "A", "PASS")),
        ([("serious_function", "high"), ("missing_requirement", "high")], (76, "B", "REWORK")),
    ],
)
async def test_points_lead_to_grades_and_outcomes(
    defects: list[tuple[str, str]], outcome: tuple[int, str, str]
) -> None:
    quotes = ("return x * 3", "def remove(name)", "import os", "os.remove(name)")
    said = [defect(check, quote, extent=extent) for (check, extent), quote in zip(defects, quotes, strict=False)]
    assert await graded(APP, *said) == outcome


async def test_good_work_earns_points_and_never_more_than_100() -> None:
    weak = defect("serious_function", extent="high")
    assert (await graded(APP, weak, defect("thorough_tests", "import os", extent="high")))[0] == 96
    assert (await graded(APP, defect("thorough_tests", "import os")))[0] == 100


async def test_agreement_of_parts_earns_points_of_mixed_deliveries_alone() -> None:
    weak, agree = defect("serious_function", extent="high"), defect("consistent", "import os")
    mixed = delivery(write("app.py", CODE), write("README.md", "It doubles.", id="c2"))
    assert (await graded(mixed, weak, agree))[0] == 96
    assert (await graded(APP, weak, agree))[0] == 86


async def test_what_files_say_differently_is_told_and_costs_nothing() -> None:
    verdict, _ = await judged(APP, defect("inconsistent_interface"))
    told = report(verdict)
    assert told.score.total == 100
    [found] = told.detailed_report.consistency_issues
    assert (found.type, found.severity, found.locations) == ("interface", "major", ["app.py:7", "double"])
    assert told.detailed_report.defects == []


async def test_a_defect_without_a_true_quote_is_none() -> None:
    assert (await graded(APP, defect("sql_injection", "SELECT * FROM users")))[0] == 100


async def test_what_stands_elsewhere_than_in_the_artifact_shows_no_fault_of_it() -> None:
    asked_for = delivery(
        write("app.py", CODE), user='Make this safe: os.system("rm " + name)', answer="No more rm there."
    )
    for quote in ('os.system("rm " + name)', "No more rm there"):
        verdict, _ = await judged(asked_for, defect("command_injection", quote))
        assert report(verdict).score.total == 100
        assert verdict.details["dropped"] == {"made_up_quotes": 1, "not_applicable": 0, "repeated": 0}


@pytest.mark.parametrize("quote", ["os.remove(name)", "  os.remove( name )", "def remove(name):\\n    os.remove(name)"])
async def test_a_place_is_found_as_the_judge_read_it(quote: str) -> None:
    verdict, _ = await judged(APP, defect("logic_fault", quote))
    [found] = report(verdict).detailed_report.defects
    assert found.location == ("app.py:3" if quote.startswith("def") else "app.py:4")


async def test_the_report_says_everything_and_repairs_nothing() -> None:
    case = delivery(
        write("app.py", CODE),
        acceptance_criteria=["doubles numbers"],
        context={
            "previous_judgments": ["judge-a", {"judgment_id": "judge-b", "score": {"total": 60}, "status": "REWORK"}]
        },
        original_task="Write the module.",
    )
    verdict, _ = await judged(case, defect("serious_function"), defect("style", "import os", category="design"))
    told = report(verdict)
    assert (told.version, told.target_agent, told.original_task) == ("2.0", "coder-7", "Write the module.")
    assert told.timestamp.startswith("2026-03-25T12:00:0")
    assert [one.id for one in told.detailed_report.defects] == ["D-001", "D-002"]
    assert [one.category for one in told.detailed_report.defects] == ["粗心", "设计缺陷"]
    assert {one.example_fix for one in told.detailed_report.defects} == {""}
    first = told.detailed_report.defects[0]
    assert (first.location, first.root_cause, first.suggestion, first.type) == (
        "app.py:7",
        "haste",
        "think",
        "function",
    )
    assert told.detailed_report.statistics.model_dump() == {
        "total_defects": 2, "critical": 0, "major": 1, "minor": 1, "info": 0,
        "careless_errors": 1, "design_defects": 1, "capability_gaps": 0,
    }  # fmt: skip
    meta = told.metadata
    assert (meta.files_reviewed, meta.lines_reviewed, meta.review_duration_ms) == (1, 7, 250)
    assert [one.total for one in meta.previous_judgments] == [-1, 60]
    assert meta.change == told.score.total - 60
    assert told.escalation_report_to_ceo.model_dump() == {
        "triggered": False, "systemic_issue": "", "capability_gaps": [], "recommended_action": "", "priority": "P2",
    }  # fmt: skip
    assert "null" not in json.dumps(verdict.details["judgment"])


async def test_the_checklist_counts_by_group() -> None:
    verdict, _ = await judged(
        APP, defect("xss"), defect("session_fault", "import os"), defect("debug_mode", "def remove")
    )
    assert report(verdict).metadata.checklist == {
        "injection": 1, "authentication": 1, "data": 0, "configuration": 1, "business": 0,
    }  # fmt: skip


SECRET = delivery(write("app.py", f'{CODE}TOKEN = "{GITHUB}"\n'))


def test_a_key_of_a_known_format_convicts_without_a_judge() -> None:
    verdict = judge_by_rules(QaJudge(now=Clock()), SECRET)
    assert (verdict.status, verdict.score, verdict.label, verdict.method) == (Status.OK, 0.3, "fail", Method.RULE)
    told = report(verdict)
    assert (told.status, told.score.grade) == ("RETRAIN_REQUIRED", "D")
    assert told.detailed_report.redline_violations[0].location == "app.py:8"
    assert GITHUB not in json.dumps(verdict.details) + verdict.explanation + repr(verdict.issues)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ('cursor.execute("SELECT * FROM t WHERE id = " + x)', "sql_injection"),
        ("db.query(`DELETE FROM t WHERE id = ${x}`)", "sql_injection"),
        ("os.system('ls ' + x)", "command_injection"),
        ("element.innerHTML = x", "xss"),
        ("innerHTML = userInput", "xss"),
        ('query("SELECT * FROM users WHERE id = " + userId)', "sql_injection"),
        ('exec("rm -rf " + userInput)', "command_injection"),
        ('const API_KEY = "sk-12345"', "hardcoded_secret"),
        ('readFile("/data/" + userPath)', "path_traversal"),
        ("new Function(body)", "code_injection"),
        ("pickle.loads(x)", "unsafe_deserialization"),
        ('fs.readFile("/data/" + x)', "path_traversal"),
        ("token = Math.random()", "insecure_random"),
        ("logger.info('手机号', x)", "pii_leak"),
        ("if password == x:", "plaintext_password"),
        ("DROP TABLE users", "data_loss_risk"),
    ],
)
def test_what_may_be_a_red_line_is_left_open_without_a_judge_and_named(line: str, code: str) -> None:
    verdict = judge_by_rules(QaJudge(), delivery(write("app.js", f"x = 1\n{line}\n")))
    assert (verdict.status, verdict.score) == (Status.NEEDS_JUDGE, None)
    codes = {str(found.code) for found in verdict.issues}
    assert {code, "redline_candidate"} <= codes
    assert not any(found.conclusive for found in verdict.issues)


@pytest.mark.parametrize(
    "line",
    [
        'cursor.execute("SELECT * FROM t WHERE id = %s", (x,))',
        "subprocess.run(['ls', x])",
        "element.textContent = x",
        'element.innerHTML = "<b>All done</b>";',
        "if (element.innerHTML === x) {",
        "eval('1 + 1')",
        "JSON.parse(x)",
        "yaml.safe_load(x)",
        'open("data.txt")',
        "colour = Math.random()",
        "print(total)",
    ],
)
def test_what_is_done_right_is_no_candidate(line: str) -> None:
    verdict = judge_by_rules(QaJudge(QaJudgeSettings(scanners=False)), delivery(write("app.js", f"x = 1\n{line}\n")))
    assert (verdict.status, verdict.issues) == (Status.NEEDS_JUDGE, ())


async def test_a_judge_rejects_a_candidate_by_not_naming_it() -> None:
    case = delivery(write("app.py", "import os\nos.system('ls ' + 'x')\n"))
    assert await graded(case) == (100, "S", "PASS")
    _, asked = await judged(case)
    assert "command_injection: bandit reports B605 in app.py:2" in asked


@pytest.mark.parametrize("line", ['password = "changeme-now-1"', "pwd: changeme-now-1", "PASSWORD='changeme-now-1'"])
async def test_a_secret_that_a_judge_quotes_is_not_told_on(line: str) -> None:
    case = delivery(write("app.conf", f"import os\n{line}\n"))
    told = {"why": f"It holds {line}", "suggestion": "Take changeme-now-1 out.", "root_cause": f"{line} was easy."}
    verdict, _ = await judged(
        case, defect("hardcoded_secret", line, **told), summary="The password changeme-now-1 works."
    )
    assert verdict.label == "fail"
    assert "changeme-now-1" not in json.dumps(verdict.details) + repr(verdict.issues) + verdict.explanation
    assert report(verdict).detailed_report.redline_violations[0].location == "app.conf:2"


async def test_a_password_that_is_a_word_of_the_protocol_spoils_no_report() -> None:
    line = 'password = "critical"'
    verdict, _ = await judged(delivery(write("app.py", f"{line}\n")), defect("hardcoded_secret", line))
    [found] = report(verdict).detailed_report.defects
    assert (found.severity, "critical" in found.description) == ("critical", False)


async def test_who_made_it_is_not_told_to_the_judge() -> None:
    verdict, asked = await judged(delivery(write("app.py", CODE), target_agent="poet-9"))
    assert report(verdict).target_agent == "poet-9"
    assert "poet-9" not in asked
    assert "coder-7" not in asked


async def test_a_file_of_the_root_is_shown_to_the_judge_and_quoted(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(CODE)
    case = delivery(artifact_path="app.py", acceptance_criteria=["doubles numbers"])
    verdict, asked = await judged(case, defect("serious_function"), settings=QaJudgeSettings(root=tmp_path))
    assert "return x * 3" in asked
    assert "1. doubles numbers" in asked
    assert report(verdict).detailed_report.defects[0].location == "app.py:7"


async def test_a_file_is_judged_as_it_was_when_it_was_looked_at(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(CODE)
    judge, case = QaJudge(QaJudgeSettings(root=tmp_path)), delivery(artifact_path="app.py")
    screening = judge.screen(case)
    (tmp_path / "app.py").write_text("changed")
    assert "return x * 3" in judge.question(case, screening).subject


async def test_what_is_too_long_to_be_shown_makes_the_verdict_less_sure(tmp_path: Path) -> None:
    settings = QaJudgeSettings(root=tmp_path)
    confidences = []
    for length in (100, 50_000):
        (tmp_path / "a.txt").write_text("x" * length)
        verdict, asked = await judged(delivery(artifact_path="a.txt"), settings=settings)
        assert len(asked) < 40_000
        confidences.append(verdict.confidence or 0)
    assert confidences[1] < confidences[0]


def test_what_is_lacking_is_named_and_never_graded() -> None:
    no_task = judge_by_rules(QaJudge(), delivery(write("a.py", "x"), user=None))
    assert (no_task.status, no_task.explanation) == (Status.MISSING_INPUT, "The task of the artifact was not captured.")
    nothing = judge_by_rules(QaJudge(), delivery(answer=None))
    assert nothing.status is Status.MISSING_INPUT
    assert nothing.explanation.startswith("No artifact was captured")
    picture = judge_by_rules(QaJudge(), delivery(answer=None, artifact_path="shot.png"))
    assert (picture.status, picture.explanation) == (Status.NOT_APPLICABLE, "A picture can't be judged by reading.")
    partial = delivery(write("a.py", "x"))
    partial = replace(partial, run=replace(partial.run, partial=True))
    assert judge_by_rules(QaJudge(), partial).status is Status.MISSING_INPUT


async def test_it_is_judged_in_chinese_as_well() -> None:
    case = delivery(write("诗.md", "春眠不觉晓，处处闻啼鸟。"), user="写一首五言绝句。", answer="写好了。")
    verdict, asked = await judged(case, defect("missing_requirement", "处处闻啼鸟", item="第二句", why="少了两句。"))
    assert "只评交付物本身" in asked
    assert report(verdict).detailed_report.defects[0].location == "诗.md:1"
