"""The commands."""

from __future__ import annotations

import typer

from collector.commands import replay, run, transcript

app = typer.Typer(no_args_is_help=True, add_completion=False, help=__doc__)


@app.callback()
def _root() -> None:
    pass


replay.register(app)
transcript.register(app)
run.register(app)


def main() -> None:
    """The `spanjudge` command."""
    app()
