"""The commands."""

from __future__ import annotations

import typer

app = typer.Typer(no_args_is_help=True, add_completion=False, help=__doc__)


@app.callback()
def _root() -> None:
    pass


def main() -> None:
    """The `spanjudge` command."""
    app()
