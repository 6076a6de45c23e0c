"""`spanjudge run`: the live sidecar."""

from __future__ import annotations

from typing import Annotated

import typer
import uvloop

from collector.components import load_config
from collector.config import Config, ConfigError
from collector.http_endpoint import AddressInUseError
from collector.logs import set_up_logging
from collector.receivers.startup import ReceiverStartError
from collector.service import Service


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("run")(run)


def run(
    config: Annotated[
        list[str] | None, typer.Option(help="Configuration; repeatable. Without it the shipped one.", metavar="FILE")
    ] = None,
    sets: Annotated[
        list[str] | None, typer.Option("--set", help="One setting; repeatable.", metavar="KEY=VALUE")
    ] = None,
) -> None:
    """Take OTLP, judge it, and send it on with its scores, until SIGTERM or Ctrl-C."""
    try:
        loaded = load_config(config or [], sets or [])
    except ConfigError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from error
    set_up_logging(loaded.telemetry.logs)
    try:
        uvloop.run(_serve(loaded))
    except (ReceiverStartError, AddressInUseError) as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(1) from error


async def _serve(config: Config) -> None:
    await Service(config).run()
