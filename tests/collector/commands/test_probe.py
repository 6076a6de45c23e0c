"""`probe` as an operator sees it, on the packaged demo traces with a real HTTP server as judge."""

from __future__ import annotations

import asyncio
from pathlib import Path

from typer.testing import CliRunner

from collector.cli import app
from tests.evaluators.judge_server import JudgeServer

ROOT = Path(__file__).parents[3]
DEMO = ROOT / "collector" / "demo_data"


def run(*arguments: str) -> tuple[int, str, str]:
    told = ["probe", str(DEMO), "--config", str(ROOT / "otel-config.yaml"), *arguments]
    result = CliRunner().invoke(app, told, env={"COLUMNS": "140"})
    return result.exit_code, result.stdout, result.stderr


def test_rules_alone_find_what_they_can_and_say_so() -> None:
    code, out, err = run()
    assert code == 0 and "no judge is configured" in err
    [dropped] = [line.split() for line in out.splitlines() if line.startswith("dropped argument")]
    assert dropped[2] == "tool_invocation" and "100%" in " ".join(dropped)
    assert "tool_selection: 0 of" in out, "rules never pass a choice, so that no choice is known to be good"


async def test_a_judge_that_calls_everything_good_misses_what_rules_do_not_find(tmp_path: Path) -> None:
    async with JudgeServer() as server:
        config = tmp_path / "judged.yaml"
        config.write_text(
            f"extensions:\n  judge/j: {{model: m, base_url: '{server.base_url}', cache: {{}}}}\n"
            "processors:\n  tool_selection: {judge: judge/j}\n  tool_response_handling: {judge: judge/j}\n"
            "service:\n  extensions: [judge/j]\n"
        )
        code, out, err = await asyncio.to_thread(run, "--config", str(config), "--repeats", "2")
    assert (code, err) == (0, "")
    [sibling] = [line.split() for line in out.splitlines() if line.startswith("sibling tool")]
    injected, missed = int(sibling[3]), int(sibling[-2])
    assert injected == missed > 0
    assert "tool_selection: asked again" in out and "flipped 0" in out


def test_fewer_traces_can_be_taken() -> None:
    _, some, _ = run("--limit", "2")
    _, every, _ = run()
    assert some != every
