"""A judge's limits beside the live sidecar: they outlive the judging process, and its metrics and log say what held."""

import json
import os
import signal
from pathlib import Path

from tests.e2e.test_judge_live import OPEN, scene, send_another
from tests.e2e.test_run import until
from tests.evaluators.judge_server import JudgeServer, agrees, status


async def test_a_budget_outlives_the_judging_process_and_is_told_when_it_is_used_up(tmp_path: Path) -> None:
    budget = f"budget: {{per_day: {{calls: 2}}, file: '{tmp_path / 'budgets.db'}'}}"
    async with JudgeServer() as judge, scene(tmp_path, judge.base_url, further=budget) as live:
        assert await live.counted(5) == {"ok": 5}
        children = f"/proc/{live.sidecar.process.pid}/task/{live.sidecar.process.pid}/children"
        [worker] = map(int, Path(children).read_text().split())
        os.kill(worker, signal.SIGKILL)
        await until(lambda: "starting a new one" in live.sidecar.stderr)
        await send_another(live)
        assert await live.counted(10) == {"ok": 7, "over_budget": 3}
        assert len(judge.received) == 2
        await until(lambda: "judge/j: questions without an answer: budget::per_day::calls (2)" in live.sidecar.stderr)
        assert await live.sums("judge_questions_total", "outcome") == {"answered": 3, "over_budget": 3}
        assert await live.sums("judge_budget_tokens_total", "estimated") == {"false": 2204}


async def test_what_the_judging_process_logs_has_the_form_that_the_service_logs_in(tmp_path: Path) -> None:
    no_file = f"budget: {{per_day: {{calls: 9}}, file: '{tmp_path}'}}"
    async with JudgeServer() as judge, scene(tmp_path, judge.base_url, further=no_file, log="json") as live:
        assert await live.counted(5) == {"ok": 5}
        entries = [json.loads(line) for line in live.sidecar.stderr.splitlines()]
    [told] = [one for one in entries if one["logger"].startswith("evaluators.")]
    assert told["level"] == "warn" and str(tmp_path) in told["msg"]


async def test_an_endpoint_that_refuses_everything_is_left_alone_which_metrics_and_log_say(tmp_path: Path) -> None:
    breaker = "breaker: {failures: 2, pause: 10m}"
    async with JudgeServer(status(401)) as judge, scene(tmp_path, judge.base_url, further=breaker) as live:
        assert await live.counted(5) == {"ok": 2, "judge_error": 3}
        await send_another(live)
        assert await live.counted(10) == {"ok": 4, "judge_error": 6}
        assert len(judge.received) == 2
        await until(lambda: "not asked, as 2 requests in a row failed" in live.sidecar.stderr)
        assert await live.sums("judge_questions_total", "outcome") == {"failed": 3, "breaker_open": 3}
        assert await live.sums("judge_breaker_open", "judge") == {"judge/j": 1}
        assert await live.sums("judge_queue_size", "judge") == {"judge/j": 0}
        assert await live.sums("judge_concurrency_limit", "judge") == {"judge/j": 4}


async def test_a_model_that_is_too_weak_to_be_checked_scores_which_spans_metrics_and_log_say(tmp_path: Path) -> None:
    async with JudgeServer(agrees) as judge, scene(tmp_path, judge.base_url) as live:
        assert await live.counted(5) == {"ok": 5}
        await send_another(live)
        assert await live.counted(10) == {"ok": 10}
        assert sum(request.is_example for request in judge.received) == 1
        assert sum(request.is_controlled for request in judge.received[-2:]) == 0
        told = live.told(live.sent, "explanation")
        assert {name for name, text in told.items() if "too weak for control statements" in str(text)} == OPEN
        assert live.sidecar.stderr.count("judge/j: fake-1 gets control statements wrong") == 1
        assert await live.sums("judge_questions_total", "outcome") == {"unchecked": 6}
