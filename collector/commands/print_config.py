"""`spanjudge print-config`: the configuration in effect."""

from __future__ import annotations

import typer

from collector.commands.config_options import ConfigOption, SetOption, load_or_exit
from collector.commands.reporting import report
from collector.config.render import render_config


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("print-config")(print_config)


def print_config(config: ConfigOption = None, sets: SetOption = None) -> None:
    """Show the configuration as it is in effect: merged, expanded, with every default; secrets are hidden."""
    loaded = load_or_exit(config, sets)
    report(loaded.notes, (), most_notes=None)
    typer.echo(render_config(loaded), nl=False)
