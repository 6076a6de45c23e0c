"""The argument with which commands are told where saved traces are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

SavedTracesArgument = Annotated[
    list[Path],
    typer.Argument(
        help="Files with saved traces (.pb, .json, .jsonl, also .gz), or folders.", metavar="PATH", show_default=False
    ),
]
