"""`spanjudge explain`: what became of a trace, asked of a running sidecar."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import typer

from collector.commands.control_options import SocketOption
from collector.commands.explain_view import views_of
from collector.commands.reporting import json_line, report, show
from collector.control.client import UnansweredError, ask, best

USAGE = 2
_BAD_REQUEST = 400


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("explain")(explain)


def explain(
    trace_id: Annotated[
        str, typer.Argument(help="Trace id, in any case, with dashes or not; its first digits do, at least 8.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
    socket: SocketOption = None,
) -> None:
    """Tell what became of a trace: what is held and why, what was judged, what wasn't and why not, where it went."""
    try:
        answers = ask("GET", f"/traces/{quote(trace_id, safe='')}", socket)
    except UnansweredError as error:
        report((), [str(error)])
        raise typer.Exit(1) from None
    answer = best(answers)
    if answer.status != 200:
        sockets = _asked([one.socket for one in answers])
        report(answer.body.get("reasons", []), [answer.body["error"] + sockets])
        raise typer.Exit(USAGE if answer.status == _BAD_REQUEST else 1)
    if as_json:
        typer.echo(json_line(answer.body), nl=False)
    else:
        show(*views_of(answer.body))


def _asked(sockets: list[Path]) -> str:
    return f" (asked {len(sockets)} sidecars)" if len(sockets) > 1 else ""
