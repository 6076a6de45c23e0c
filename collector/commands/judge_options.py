"""The options with which commands on cases are told a judge."""

from __future__ import annotations

import os
from typing import Annotated

import typer
from pydantic import SecretStr, ValidationError

from collector.commands.reporting import report
from evaluators.judge.settings import JudgeSettings

DEFAULT_MODEL = "gpt-4.1-mini"

JudgeOption = Annotated[
    str | None,
    typer.Option(
        "--judge",
        help="OpenAI-compatible endpoint that decides what rules leave open. Its key: OPENAI_API_KEY.",
        metavar="URL",
    ),
]
JudgeModelOption = Annotated[str, typer.Option("--judge-model", help="Model to ask there.", metavar="NAME")]


def judge_settings_or_exit(url: str, model: str) -> JudgeSettings:
    """The judge that the options name. Otherwise what is wrong with them on standard error, and exit status 2."""
    key = SecretStr(os.environ.get("OPENAI_API_KEY", ""))
    try:
        return JudgeSettings(model=model, base_url=url, api_key=key)
    except ValidationError as error:
        wrong = {"base_url": "--judge", "model": "--judge-model", "api_key": "OPENAI_API_KEY"}
        found = error.errors(include_input=False)
        report((), [f"{wrong[str(one['loc'][0])]}: {one['msg'].removeprefix('Value error, ')}" for one in found])
        raise typer.Exit(2) from error
