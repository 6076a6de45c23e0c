"""`spanjudge validate`: can this configuration be used, and if not, everything that has to be changed."""

from __future__ import annotations

import typer

from collector.commands.config_options import ConfigOption, SetOption, load_or_exit
from collector.commands.reporting import report
from collector.judging.setup import plan_of


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("validate")(validate)


def validate(config: ConfigOption = None, sets: SetOption = None) -> None:
    """Check a configuration without starting anything: 0 when it can be used, 2 with every problem when not."""
    checked = load_or_exit(config, sets)
    report((*plan_of(checked).notes, *checked.notes), (), most_notes=None)
    for pipeline in checked.pipelines.values():
        ways = (pipeline.receivers, pipeline.processors, pipeline.exporters)
        typer.echo(f"{pipeline.id}: " + " -> ".join(", ".join(names) for names in ways if names))
    typer.echo("valid")
