"""The package as a library: what its pages promise."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

import evaluators
from evaluators import CallsCase, Run, Status, Tool, ToolCall, ToolInvocation, Turn, judge_by_rules
from tests.evaluators.judge_server import JudgeServer

PAGE = Path(__file__).parents[2] / "docs" / "evaluators" / "library.md"
MODEL = '"model": "gpt-4.1-mini"'


def test_the_example_of_the_first_page_gives_the_verdict_it_promises() -> None:
    call = ToolCall(id="c1", name="get_weather", arguments={"town": "Lima"})
    tool = Tool(name="get_weather", parameters={"type": "object", "properties": {"city": {"type": "string"}}})
    turn = Turn(index=0, calls=(call,), tools=(tool,))
    run = Run(turns=(turn,), user_inputs=("How warm is it in Lima?",))
    verdict = judge_by_rules(ToolInvocation(), CallsCase(run=run, calls=(call,), turn=turn))
    assert (verdict.status, verdict.label) == (Status.OK, "incorrect")
    assert "`town` is not an argument that the schema knows" in verdict.explanation
    assert 'arguments={"town": "Lima"}' in (evaluators.__doc__ or "")


async def test_the_page_runs_from_top_to_bottom(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    async with JudgeServer() as server:
        # The one thing that differs from the page is where the model is.
        source = "".join(blocks).replace(MODEL, f'{MODEL}, "base_url": "{server.base_url}"')
        await asyncio.to_thread(exec, compile(source, str(PAGE), "exec"), names)
    assert len(server.received) == 1
    weather, match, completion, manners, trajectory = capsys.readouterr().out.splitlines()
    assert weather.startswith("incorrect `town` is not an argument")
    assert match.startswith("0.0 ")
    assert completion.startswith("ok ")
    assert manners == "0.9"
    assert trajectory.startswith("ok ")


def test_everything_that_is_exported_is_there_and_every_evaluator_can_be_made_without_settings() -> None:
    assert all(hasattr(evaluators, name) for name in evaluators.__all__)
    assert {made.name for entry in evaluators.EVALUATORS.values() for made in [entry.evaluator_type()]} == set(
        evaluators.EVALUATORS
    )
