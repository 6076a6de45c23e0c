"""The options with which commands on cases are told evaluators and a judge."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Annotated

import typer
from pydantic import SecretStr, ValidationError

from collector.commands.config_options import load_or_exit
from collector.commands.reporting import report
from collector.judging.cases import with_judge
from collector.judging.setup import Plan, plan_of
from evaluators.judge.settings import JudgeSettings

DEFAULT_MODEL = "gpt-4.1-mini"

CasesConfigOption = Annotated[
    list[str] | None,
    typer.Option("--config", help="Configuration to take evaluators and judges from; repeatable.", metavar="F"),
]
JudgeOption = Annotated[
    str | None,
    typer.Option(
        "--judge",
        help="OpenAI-compatible endpoint that decides what rules leave open. Its key: OPENAI_API_KEY.",
        metavar="URL",
    ),
]
JudgeModelOption = Annotated[str, typer.Option("--judge-model", help="Model to ask there.", metavar="NAME")]


def plan_or_exit(config: Sequence[str] | None, judge_url: str | None, judge_model: str) -> Plan:
    """What to judge with, as the options say. Otherwise what is wrong on standard error, and the exit code for it."""
    plan = plan_of(load_or_exit(config, None)) if config else Plan(evaluators={})
    return plan if judge_url is None else with_judge(plan, _judge_or_exit(judge_url, judge_model))


def _judge_or_exit(url: str, model: str) -> JudgeSettings:
    key = SecretStr(os.environ.get("OPENAI_API_KEY", ""))
    try:
        return JudgeSettings(model=model, base_url=url, api_key=key)
    except ValidationError as error:
        wrong = {"base_url": "--judge", "model": "--judge-model", "api_key": "OPENAI_API_KEY"}
        found = error.errors(include_input=False)
        report((), [f"{wrong[str(one['loc'][0])]}: {one['msg'].removeprefix('Value error, ')}" for one in found])
        raise typer.Exit(2) from error
