"""Rubrics take whatever an agent puts out: what can't be read is missing, and nothing is raised."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import regex

from evaluators.cases import Message, Role, Run, RunCase, ToolCall, Turn
from evaluators.output_quality import OutputQuality
from evaluators.rubric import RubricEvaluator, read_rubric, shipped_rubric
from evaluators.verdict import Status
from evaluators.workflow_compliance import WorkflowCompliance
from tests.evaluators.rubric.travel import ALL_TOOLS, DRAFT, answered, as_run, codes, drafted, ruled, run_that

DEEP = "[" * 900 + "]" * 900
SAID: list[Any] = [
    "",
    "{",
    "{}",
    "{" * 50_000,
    "```json\n{\n```",
    "\ud800 lone",
    json.dumps(DRAFT)[:-20],
    '{"answer": ' + DEEP + ', "route_validation": ' + DEEP + "}",
    drafted(answer=None, route_validation=None),
    drafted(answer={"第一天": ["### 古镇", {"距离": "12 公里"}]}, route_validation="无"),
    drafted(answer=["\ud800"], content_insights=float(10**40)),
    drafted(answer="### " * 5_000 + "\n" * 5_000),
    drafted(answer="### a\n" * 30_000),
    dict.fromkeys(DRAFT),
    {name: [] for name in DRAFT},
    dict.fromkeys(DRAFT, True),
]
ODD_CALLS = (
    ToolCall(id="1", name="", arguments=None),
    ToolCall(id="1", name="amap-agent", arguments="not JSON"),
    ToolCall(id="2", name="[a-", arguments={"task": 10**400, "agent": ""}),
    ToolCall(id="3", name="::::", arguments={"draft": DEEP}),
)


@pytest.mark.parametrize("evaluator", [WorkflowCompliance(), OutputQuality()], ids=lambda one: one.name)
@pytest.mark.parametrize("said", SAID, ids=range(len(SAID)))
def test_nothing_that_is_put_out_breaks_it(evaluator: RubricEvaluator, said: Any) -> None:
    case = as_run(run_that(*ALL_TOOLS, said=said))
    verdict = ruled(evaluator, case)
    assert verdict.status in (Status.OK, Status.MISSING_INPUT, Status.NEEDS_JUDGE, Status.NOT_APPLICABLE)
    assert verdict.passed is not True
    if verdict.status is Status.NEEDS_JUDGE:
        assert answered(evaluator, case, {"check": "guides_as_geography", "quote": "x" * 5_000}).score is not None


LONG = "长" * 250_000


@pytest.mark.parametrize("said", [drafted(thinking_result=LONG), drafted(answer=f"{LONG}\n{DRAFT['answer']}")])
def test_what_is_too_long_to_be_looked_through_shows_nothing(said: dict[str, Any]) -> None:
    workflow = ruled(WorkflowCompliance(), as_run(run_that(*ALL_TOOLS, said=said)))
    assert (workflow.status, codes(workflow, conclusive=True)) == (Status.NEEDS_JUDGE, [])


@pytest.mark.parametrize(
    "quote",
    ["ab…" * 3_000 + "zz", "ab…" * 11 + "zz", "68 公里" * 2_000_000, "…" * 1_000_000, "", "…", "[card:12ab]"],
    ids=range(7),
)
def test_a_quote_costs_little_and_has_to_have_words(quote: str) -> None:
    case = as_run(run_that(*ALL_TOOLS, said=drafted(answer="第一天\n### 古镇\n" + "ab" * 90_000)))
    verdict = answered(OutputQuality(), case, {"check": "unmarked", "quote": quote})
    assert (verdict.score, verdict.details["dropped"]) == (
        1.0, {"made_up_quotes": 1, "not_applicable": 0, "repeated": 0},
    )  # fmt: skip


HEAVY = [
    "1" * 60_000,
    "一" * 60_000,
    "\n" * 60_000,
    "|-|\n" * 15_000,
    "第一" * 30_000,
    "bus " * 15_000,
    "walk " * 12_000,
]


@pytest.mark.parametrize("package", ["workflow_compliance", "output_quality", "qa_judge"])
def test_no_pattern_of_ours_takes_longer_than_its_text_is_long(package: str) -> None:
    rubric = shipped_rubric(f"evaluators.{package}")
    for pattern in (pattern for several in rubric.patterns.values() for pattern in several):
        for text in HEAVY:
            # the time allowed is many times what is needed; what is quadratic needs more
            sum(1 for _ in regex.finditer(pattern, text, regex.IGNORECASE, timeout=3.0))


def test_a_pattern_that_never_ends_leaves_its_condition_unknown(tmp_path: Path) -> None:
    path = tmp_path / "endless.yaml"
    path.write_text(
        "name: endless\ntitle: T\nquestion: Q?\npatterns: {endless: '\\d+(?:a|b)'}\nchecks:\n"
        "  - {id: bad, severity: critical, deduct: 50, text: Bad., "
        "shown_by: {not: {contains: {text: answer_text, pattern: endless}}}}\n",
        encoding="utf-8",
    )
    case = as_run(run_that(said="1" * 150_000))
    verdict = ruled(RubricEvaluator(read_rubric(path)), case)
    assert (verdict.status, codes(verdict, conclusive=False)) == (Status.NEEDS_JUDGE, ["bad"])


@pytest.mark.parametrize("evaluator", [WorkflowCompliance(), OutputQuality()], ids=lambda one: one.name)
@pytest.mark.parametrize(
    "run",
    [
        Run(),
        Run(turns=(Turn(index=0),), user_inputs=("",)),
        Run(turns=(Turn(index=0, calls=ODD_CALLS, context=(Message(role=Role.TOOL),)),), user_inputs=()),
        Run(turns=(Turn(index=0, text=json.dumps(DRAFT), calls=ODD_CALLS, user_turn=7),), loose_calls=ODD_CALLS),
        Run(final_answer=json.dumps(DRAFT), loose_calls=(ToolCall(id="1", name="amap-agent", earlier=True),)),
        Run(turns=(Turn(index=0, agent="a", text="x"), Turn(index=1, agent="b", text=json.dumps(DRAFT)))),
    ],
    ids=range(6),
)
def test_no_run_breaks_it(evaluator: RubricEvaluator, run: Run) -> None:
    assert ruled(evaluator, RunCase(run=run)).passed is not True
