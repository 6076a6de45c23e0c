"""The options with which commands are told their configuration, and what they do when it can't be used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from collector.commands.reporting import report
from collector.components import load_config
from collector.config import Config, ConfigError
from collector.judging.class_check import check_classes

INVALID_CONFIG = 2
"""The exit code for a configuration that can't be used."""

ConfigOption = Annotated[
    list[str] | None,
    typer.Option(
        "--config", help="Configuration; repeatable, later ones win. Without it the shipped one.", metavar="F"
    ),
]
SetOption = Annotated[
    list[str] | None, typer.Option("--set", help="One setting, over all files; repeatable.", metavar="KEY=VALUE")
]


def load_or_exit(config: Sequence[str] | None, sets: Sequence[str] | None) -> Config:
    """The configuration. Otherwise the problems on standard error, and the exit code for it."""
    try:
        return load_and_check(config, sets)
    except ConfigError as error:
        report(error.notes, [str(problem) for problem in error.problems])
        raise typer.Exit(INVALID_CONFIG) from None


def load_and_check(config: Sequence[str] | None, sets: Sequence[str] | None) -> Config:
    """The configuration, with evaluators' classes tried. Raises ConfigError."""
    loaded = load_config(config or [], sets or [])
    check_classes(loaded)
    return loaded
