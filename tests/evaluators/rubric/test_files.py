"""Rubrics in files: YAML that is checked key by key, and Markdown as people write it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from evaluators.definition_file import DefinitionError
from evaluators.rubric import Rubric, RubricEvaluator, RubricSettings, read_rubric
from evaluators.rubric.model import Check, Extent
from evaluators.verdict import Status
from tests.evaluators.rubric.travel import answered, as_run, codes, ruled
from tests.evaluators.runs import run_of

GOOD = """\
name: manners
title: Manners
question: Is the agent polite?
patterns:
  greeting: hello
checks:
  - id: rude
    severity: major
    deduct: 25
    text: An insult.
"""


def read(tmp_path: Path, text: str, name: str = "manners.yaml") -> Rubric:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read_rubric(path)


def test_a_good_file_is_an_evaluator(tmp_path: Path) -> None:
    evaluator = RubricEvaluator(read(tmp_path, GOOD), name="courtesy")
    verdict = answered(evaluator, as_run(run_of(answer="hello you fool").run), {"check": "rude", "quote": "you fool"})
    assert (verdict.evaluator, verdict.score, verdict.passed) == ("courtesy", 0.75, True)


@pytest.mark.parametrize(
    ("old", "new", "line", "told"),
    [
        ("deduct: 25", "deduct: much", 9, "checks[0].deduct"),
        ("deduct: 25", "deduct: -5", 9, "at least 0"),
        ("severity: major", "severity: bad", 8, "critical"),
        ("deduct: 25", "deducts: 25", 9, "did you mean deduct?"),
        ("    text: An insult.\n", "", 7, "text: is missing"),
        ("id: rude", "id: Rude Words", 7, "checks[0].id"),
        ("    deduct: 25\n", "    shown_by: {calls: pay}\n", 9, "calls"),
        ("    deduct: 25\n", "    shown_by: {called: a, repeated: a}\n", 9, "exactly one key"),
        ("greeting: hello", "greeting: '(hello'", 5, "no regular expression"),
        ("greeting: hello", "greeting: ''", 5, "empty"),
        ("greeting: hello", f"greeting: '{'a' * 4001}'", 5, "several patterns"),
        ("text: An insult.", "text: ' '", 10, "is empty"),
        ("deduct: 25", "deduct: {least: 9}", 9, "checks[0].deduct.most"),
        ("deduct: 25", f"deduct: {'9' * 5000}", 9, "too long to read"),
        ("    deduct: 25\n", "    shown_by: {not: null}\n", 9, "exactly one key"),
        ("    deduct: 25\n", "    shown_by: {called: ''}\n", 9, "empty"),
        ("title: Manners", "title: Manners\nthreshold: 0.7", 3, "write 70 for 0.7"),
        ("title: Manners", "title: &t [*t]", 2, "contains itself"),
    ],
)
def test_a_fault_is_told_by_line_key_and_remedy(tmp_path: Path, old: str, new: str, line: int, told: str) -> None:
    with pytest.raises(DefinitionError) as raised:
        read(tmp_path, GOOD.replace(old, new))
    message = str(raised.value)
    assert "manners.yaml" in message and f"line {line}" in message and told in message and "; " in message


@pytest.mark.parametrize(
    ("extra", "line", "key", "told"),
    [
        ("    step: second\n", 11, "checks[0].step", "isn't among the steps"),
        ("    per: step\n", 11, "checks[0].per", "names none"),
        ("    state: skipped\n", 11, "checks[0].state", "names none"),
        ("    dimension: looks\n", 11, "checks[0].dimension", "isn't there"),
        ("    ask: false\n", 11, "checks[0].ask", "neither asked for nor shown"),
        ("    shown_by: {called: a}\n    suspect: {called: b}\n    ask: false\n", 12, "checks[0].suspect", "no judge"),
        ("    elements: [{id: a, title: A}, {id: a, title: B}]\n", 11, "elements[1]", "more than once"),
        ("    applies: {contains: {text: answer, pattern: greeting}}\n", 11, "applies", "isn't among the inputs"),
        ("    applies: {not: {contains: {text: user, pattern: bye}}}\n", 11, "applies", "isn't among the patterns"),
        ("    applies: {field: {name: notes, is: empty}}\n", 11, "applies", "isn't among the inputs"),
        ("    applies: {sections: {text: notes, more_than: 1}}\n", 11, "applies", "isn't among the inputs"),
        ("    applies: {asked: {kind: code}}\n", 11, "applies", "rests on question"),
        ("  - {id: rude, severity: minor, text: again}\n", 11, "checks[1]", "more than once"),
        ("bonus: [{id: rude, text: t, add: 5}]\n", 11, "bonus[0].id", "more than once"),
        ("grades: [{at_least: 50, grade: A}, {at_least: 50.0, grade: B}]\n", 11, "grades[1]", "more than once"),
        ("veto: [X-1]\n", 11, "veto[0]", "no check has the code"),
        ("caps: [{of: {codes: [X-1]}, at: 10}]\n", 11, "caps[0].of.codes", "no check has the code"),
        ("overrides: [{of: {tags: [bad]}, outcome: NO}]\n", 11, "overrides[0].of.tags", "no check has the tag"),
        ("caps: [{of: {chosen: {kind: bad}}, at: 10}]\n", 11, "caps[0].of.chosen", "classify has no kind"),
        ("output: {all: {issues: {group: data}}}\n", 11, "output.all.issues.group", "no check has the group"),
        ("reweight: [{when: {called: a}, dimension: looks, weight: 1}]\n", 11, "reweight[0].dimension", "isn't there"),
        ("questions: {violations: {text: t, one_of: [a, b]}}\n", 11, "questions.violations", "taken"),
        ("classify: {quote: {text: t, one_of: [a, b]}}\n", 11, "classify.quote", "taken"),
        ("classify: {model_config: {text: t, one_of: [a, b]}}\n", 11, "classify.model_config", "taken"),
        ("questions: {my kind: {text: t, one_of: [a, b]}}\n", 11, "questions.my kind", "no name"),
        ("questions: {kind: {text: t, one_of: [a, a]}}\n", 11, "questions.kind.one_of[1]", "more than once"),
    ],
)
def test_what_is_referred_to_has_to_exist_once(tmp_path: Path, extra: str, line: int, key: str, told: str) -> None:
    with pytest.raises(DefinitionError) as raised:
        read(tmp_path, GOOD + extra)
    message = str(raised.value)
    assert f"line {line}" in message and key in message and told in message and "; " in message


def multiplied(first: str, form: str) -> str:
    """Nine lines, each of which names the one before nine times."""
    lines = [f"a{at}: &a{at} {form.format(', '.join([f'*a{at - 1}'] * 9))}" for at in range(1, 9)]
    return "\n".join([f"a0: &a0 {first}", *lines, ""])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (multiplied("[x, x]", "[{}]"), "aliases"),
        (multiplied("{x: y}", "{{<<: [{}]}}"), "aliases"),
        ("a: &a {<<: *a}\n", "contains itself"),
        ("applies: " + "[" * 20_000, "nests too deeply"),
        ("applies: " + "{not: " * 300 + "{called: a}" + "}" * 300, "applies.not"),
        ("threshold: !!int many", "isn't what its type"),
        ("threshold: !!python/object/apply:os.getcwd []", "has to be"),
    ],
)  # fmt: skip
def test_what_would_cost_more_than_it_says_is_refused_in_a_short_sentence(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(DefinitionError, match=re.escape(told)) as raised:
        read(tmp_path, GOOD + text)
    assert len(str(raised.value)) < 600


def test_settings_read_the_file_once_and_bring_its_threshold(tmp_path: Path) -> None:
    path = tmp_path / "manners.yaml"
    path.write_text(GOOD + "threshold: 80\n")
    settings = RubricSettings(file=path)
    path.unlink()
    assert settings.rubric.threshold == 80
    with pytest.raises(ValidationError, match="can't be read"):
        RubricSettings(file=path)


ENGLISH = """\
# Courtesy

Is the agent polite?

## Input

- `answer`: what is said
- `notes`: what was noted

## Steps

| step | what has to be done | sign that it was skipped |
|---|---|---|
| Greet | say hello | starts at once |
| Help | answer | no answer |

## Insults (critical)

- swearing

## Violations

| code | violation | severity |
|---|---|---|
| C-1 | The user is insulted | critical |
| C-2 | No greeting | minor |

## Points

| deduction | points | detail |
|---|---|---|
| Skipping a step | -30 per step | left out |
| Step done badly | -20 per step | |
| Steps in another order | -25 | |
| No greeting | -10 | at the beginning |
| Each sentence in capitals | -5 | |

Threshold: 80 points.

{"dimension": "courtesy", "score": 85, "passed": true, "critical_issues": [], "steps_skipped": [], "summary": ""}
"""
CHINESE = """\
---
name: courtesy
asks_back: insufficient
---
# 礼貌

是否礼貌？

## 输入

• answer：回答

## 反模式

编号	违规行为	严重程度
C-1	侮辱用户	严重
C-2	没有问候	轻微

## 评分

扣分项	扣分	说明
没有问候	-10	开头
一处大写喊叫	-5
语气冷淡	-15/处

通过阈值：80 分。
"""


def by_name(rubric: Rubric) -> dict[str, Check]:
    return {check.name: check for check in rubric.checks}


def test_tables_and_lists_in_english_become_data_and_the_rest_guidance(tmp_path: Path) -> None:
    rubric = read(tmp_path, ENGLISH, "courtesy.md")
    checks = by_name(rubric)
    assert (rubric.title.said_in("en"), rubric.threshold) == ("Courtesy", 80)
    assert [one.name for one in rubric.inputs] == ["answer", "notes"]
    assert [step.title.said_in("en") for step in rubric.steps] == ["Greet: say hello", "Help: answer"]
    assert (checks["C-1"].severity, checks["C-1"].deduct) == ("critical", None)
    assert (checks["C-2"].severity, checks["C-2"].deduct, checks["C-2"].per) == ("minor", 10, "once")
    assert [one.deduct for one in rubric.checks if one.per == "item" and one.code is None] == [None, 5]
    assert {(one.step, one.state, one.deduct) for one in rubric.checks if one.per == "step"} == {
        ("s1", "skipped", 30), ("s2", "skipped", 30), ("s1", "poor", 20), ("s2", "poor", 20),
        ("s1", "out_of_order", 25), ("s2", "out_of_order", 25),
    }  # fmt: skip
    assert [one.severity for one in rubric.checks if "swearing" in one.text.said_in("en")] == ["critical"]
    assert list(rubric.output) == ["dimension", "score", "passed", "critical_issues", "steps_skipped", "summary"]
    assert rubric.guidance is not None and "Is the agent polite?" in rubric.guidance.said_in("en")


def test_the_same_in_chinese_with_tabs_and_keys_at_the_top(tmp_path: Path) -> None:
    rubric = read(tmp_path, CHINESE, "courtesy.md")
    checks = by_name(rubric)
    assert (rubric.name, rubric.asks_back, rubric.threshold) == ("courtesy", "insufficient", 80)
    assert [(one.severity, one.deduct, one.per) for one in (checks["C-1"], checks["C-2"])] == [
        ("critical", None, "once"), ("minor", 10, "once"),
    ]  # fmt: skip
    assert [(one.deduct, one.per) for one in rubric.checks if one.code is None] == [(5, "item"), (15, "item")]


def test_a_rubric_in_markdown_scores_as_its_tables_say(tmp_path: Path) -> None:
    evaluator = RubricEvaluator(read(tmp_path, CHINESE, "courtesy.md"))
    case = as_run(run_of(answer='{"answer": "你好，快点。马上。"}', user="请问几点发车？").run)
    cold = [{"check": "v4", "quote": quote} for quote in ("快点", "马上")]
    verdict = answered(evaluator, case, {"check": "v2", "quote": "快点"}, *cold)
    assert (verdict.score, verdict.passed, set(codes(verdict))) == (0.6, False, {"C-2", "v4"})
    assert ruled(evaluator, case).status is Status.NEEDS_JUDGE


@pytest.mark.parametrize(
    ("old", "new", "line", "told"),
    [
        ("| C-1 | The user is insulted | critical |", "| C-1 | The user is insulted | awful |", 25, "severity"),
        ("| C-1 | The", "| C 1! | The", 25, "code"),
        ("- `notes`: what was noted", "- `answer`: what was noted", 8, "more than once"),
    ],
)
def test_a_fault_in_markdown_is_told_by_its_line(tmp_path: Path, old: str, new: str, line: int, told: str) -> None:
    with pytest.raises(DefinitionError) as raised:
        read(tmp_path, ENGLISH.replace(old, new), "courtesy.md")
    assert told in str(raised.value)
    if line > 1:
        assert f"line {line}" in str(raised.value)


HEAD = "| code | violation | severity |\n|---|---|---|\n"


@pytest.mark.parametrize(
    "table",
    [
        HEAD + "| C-1 | a \\| b | critical |\n",
        "code | violation | severity\n--- | :-: | ---\nC-1 | a \\| b | critical\n",
        "| **Code** | Violation | *Severity* |\n|:--|:-:|--:|\n| `C-1` | a \\| b | **Critical** | more |\n",
        "| 编号 | 违规行为 | 严重级别 |\r\n|---|---|---|\r\n| C-1 | a \\| b | 致命 |\r\n",
    ],
    ids=["plain", "no bars at the edges", "with marks and more cells", "Chinese, lines of Windows"],
)
def test_tables_are_read_in_the_forms_that_people_write(tmp_path: Path, table: str) -> None:
    [check] = read(tmp_path, f"# T\n\n{table}", "t.md").checks
    assert (check.code, check.text.said_in("en"), check.severity) == ("C-1", "a | b", "critical")


def test_points_may_be_a_range_or_a_bonus(tmp_path: Path) -> None:
    points = (
        "| deduction | points |\n|---|---|\n| Slow | -20~-40 |\n| Rude | -10 |\n| Tests | +5~+10 |\n| Docs | +3 |\n"
    )
    rubric = read(tmp_path, f"# T\n\n{points}", "t.md")
    assert [one.deduct for one in rubric.checks] == [Extent(least=20, most=40), 10]
    assert [(one.text.said_in("en"), one.add) for one in rubric.bonus] == [
        ("Tests", Extent(least=5, most=10)),
        ("Docs", 3),
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"{HEAD}| C-1 | x | critical |\n\nThreshold: 0.7\n", "line 5, threshold: is in points of 100; write 70"),
        (f"{HEAD}| C-1 | x | critical |\n\nthreshold 700\n", "line 5, threshold: has to be at most 100"),
        (f"{HEAD}| C-1 |\n", "line 3, checks[0].text: is empty"),
        ("|" * 100_000, "no table or list of checks was recognised in it; give it a table with the columns"),
        ("# T\n\n| what | how bad |\n|---|---|\n| a | b |\n", "no table or list of checks was recognised"),
        (f"```\n{HEAD}| C-1 | x | critical |\n```\n", "no table or list of checks was recognised"),
    ],
)
def test_what_a_document_lacks_is_told(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(DefinitionError, match=re.escape(told)):
        read(tmp_path, text, "t.md")


def test_a_document_without_any_check_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match="checks"):
        read(tmp_path, "# Thoughts\n\nBe nice.\n", "thoughts.md")


def examples(language: str) -> list[Any]:
    page = (Path(__file__).parents[3] / "docs" / "evaluators" / "rubrics.md").read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)


def test_the_examples_of_the_documentation_are_rubrics(tmp_path: Path) -> None:
    [_, written] = examples("yaml")
    refunds = read(tmp_path, written, "refund_policy.yaml")
    assert {check.name for check in refunds.checks} == {"R-01", "R-02", "unexplained_amount"}
    [document] = examples("markdown")
    assert [(one.name, one.deduct) for one in read(tmp_path, document, "courtesy.md").checks] == [
        ("C-1", None), ("C-2", 10), ("v3", 5),
    ]  # fmt: skip
