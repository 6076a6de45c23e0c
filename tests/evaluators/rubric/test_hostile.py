"""Rubrics take whatever an agent puts out: what can't be read is missing, and nothing is raised."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evaluators.cases import Message, Role, Run, RunCase, ToolCall, Turn
from evaluators.output_quality import OutputQuality
from evaluators.rubric import RubricEvaluator
from evaluators.verdict import Status
from evaluators.workflow_compliance import WorkflowCompliance
from tests.evaluators.rubric.travel import ALL_TOOLS, DRAFT, answered, as_run, drafted, ruled, run_that

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
