"""The commands of `spanjudge`, put together."""

from __future__ import annotations

import typer

from collector.commands import components, demo, evaluate, print_config, replay, run, transcript, validate

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
    help="Judges what LLM agents did and writes the scores on to their OpenTelemetry spans.",
)


@app.callback()
def _root() -> None:
    pass


for command in (run, demo, replay, transcript, evaluate, validate, components, print_config):
    command.register(app)


def main() -> None:
    """The `spanjudge` command."""
    app()


if __name__ == "__main__":
    main()
