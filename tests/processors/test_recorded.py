"""Every recorded run is read as it happened, and judged accordingly.

tests/recorder/README.md tells how the recordings came about.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from collector.commands.replay import judge_traces
from collector.judging.setup import Plan, build
from tests.processors.ordinary import ordinary_settings
from tests.processors.recorded_runs import RECORDED, differences, facts_of, recorded_runs, saved, transcripts_of

EACH_RUN = pytest.mark.parametrize("run", recorded_runs(), ids=lambda run: str(run.relative_to(RECORDED)))
BAD_ARGUMENTS = {"invalid_json", "missing_argument", "unexpected_argument", "wrong_type", "not_in_enum"}

REJECTED = {"bad_format", "wrong_value"}
"""What a tool's or framework's own word against the same arguments is called."""


@EACH_RUN
def test_what_is_recorded_is_read_and_nothing_else(run: Path) -> None:
    telemetry = saved(run)

    assert telemetry.failures == []
    assert differences(facts_of(run), transcripts_of(telemetry)) == []


@EACH_RUN
async def test_rules_find_the_faults_that_can_be_seen_and_no_others(run: Path) -> None:
    facts = facts_of(run)
    judge, _ = build(Plan(evaluators=ordinary_settings()))

    scores = [each async for each in judge_traces(judge, saved(run).traces)]

    assert [each.failure for each in scores if each.failure] == []
    verdicts = [placed.verdict for each in scores for placed in each.verdicts]
    issues = [(verdict.passed is False and issue.conclusive, issue) for verdict in verdicts for issue in verdict.issues]
    failed = {issue.code.value for decided, issue in issues if decided}
    named = {issue.code.value for _, issue in issues}
    if "unknown_tool" in facts["faults"] and {"tools", "tool_calls"}.isdisjoint(facts["not_recorded"]):
        assert "unknown_tool" in named
    if "bad_arguments" in facts["faults"] and {"schemas", "arguments"}.isdisjoint(facts["not_recorded"]):
        assert named & BAD_ARGUMENTS
    assert failed <= _at_fault(facts)


def _at_fault(facts: dict[str, Any]) -> set[str]:
    """What a verdict may fail for: what was planted, and that a run ended without an answer."""
    allowed = {"unknown_tool"} & set(facts["faults"])
    if "bad_arguments" in facts["faults"]:
        allowed |= BAD_ARGUMENTS | REJECTED
    if facts["final_answer"] is None:
        allowed.add("run_aborted")
    return allowed
