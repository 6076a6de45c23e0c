"""`spanjudge reload`: has a running sidecar read its configuration again, and tells what came of it."""

from __future__ import annotations

import typer

from collector.commands.config_options import INVALID_CONFIG
from collector.commands.control_options import SocketOption
from collector.commands.reporting import report
from collector.control.client import UnansweredError, ask

_REFUSED = 422


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("reload")(reload)


def reload(socket: SocketOption = None) -> None:
    """Have a running sidecar read its configuration again. One that can't be used is refused, and the old one stays."""
    try:
        running = ask("GET", "/", socket)
        if len(running) > 1:
            sockets = ", ".join(str(one.socket) for one in running)
            raise UnansweredError(f"{len(running)} sidecars are running; say which one with --socket: {sockets}")
        [answer] = ask("POST", "/reload", running[0].socket)
    except UnansweredError as error:
        report((), [str(error)])
        raise typer.Exit(1) from None
    body = answer.body
    if answer.status != 200:
        report((), body["errors"])
        raise typer.Exit(INVALID_CONFIG if answer.status == _REFUSED else 1)
    report(body["left"], (), most_notes=None)
    for change in body["changed"] or ["nothing has changed"]:
        typer.echo(change)
