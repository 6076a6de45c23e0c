"""The commands of `spanjudge`, put together."""

from __future__ import annotations

import errno
import os
import sys

import typer

from collector.commands import (
    calibrate,
    components,
    dead_letters,
    demo,
    evaluate,
    explain,
    journal,
    local_judge,
    print_config,
    probe,
    reload,
    replay,
    run,
    transcript,
    validate,
)

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
    help="Judges what LLM agents did and writes the scores on to their OpenTelemetry spans.",
)


@app.callback()
def _root() -> None:
    pass


for command in (
    run,
    explain,
    reload,
    demo,
    replay,
    transcript,
    evaluate,
    calibrate,
    probe,
    dead_letters,
    journal,
    local_judge,
    validate,
    components,
    print_config,
):
    command.register(app)


def main() -> None:
    """Run the command that the arguments name, and end the process with its exit code."""
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except OSError as error:
        # What commands read and write by name they answer for themselves; what is left is where they print.
        if error.errno != errno.EPIPE:
            typer.echo(f"error: standard output: can't be written: {error.strerror}", err=True)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


if __name__ == "__main__":
    main()
