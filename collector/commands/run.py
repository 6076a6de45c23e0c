"""`spanjudge run`: the live sidecar."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import typer
import uvloop

from collector.commands.config_options import ConfigOption, SetOption, load_and_check, load_or_exit
from collector.commands.reporting import report
from collector.config import Config
from collector.logs import set_up_logging
from collector.service import Service
from collector.start_error import StartError


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("run")(run)


def run(config: ConfigOption = None, sets: SetOption = None) -> None:
    """Take OTLP, judge it, and send it on with its scores, until SIGTERM or Ctrl-C. SIGHUP reloads."""
    loaded = load_or_exit(config, sets)
    set_up_logging(loaded.telemetry.logs)
    try:
        uvloop.run(_serve(loaded, partial(load_and_check, config, sets)))
    except StartError as error:
        report((), [str(error)])
        raise typer.Exit(1) from error


async def _serve(config: Config, reread: Callable[[], Config]) -> None:
    await Service(config, reread).run()
