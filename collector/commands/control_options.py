"""The option with which commands are told which running sidecar to ask."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

SocketOption = Annotated[
    Path | None,
    typer.Option(
        "--socket",
        help="The sidecar's control socket. Without it, all that run as this user are asked.",
        metavar="PATH",
    ),
]
