"""`spanjudge journal`: what is kept in a journal and for whom; `spanjudge journal forget`: give some of it up.

In: a directory, named or from the configuration.  Out: a table; or a journal that holds less.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from collector.commands.config_options import ConfigOption, SetOption, load_or_exit
from collector.commands.reporting import report, show
from collector.journal.forgetting import forget
from collector.journal.inspection import Inspection, inspect
from collector.journal.settings import JournalSettings
from collector.start_error import StartError

DirectoryOption = Annotated[
    Path | None,
    typer.Option(
        "--directory", help="The journal's directory; without it the configuration's.", metavar="D", show_default=False
    ),
]
_MIB = 1 << 20


def register(app: typer.Typer) -> None:
    """Add the commands."""
    commands = typer.Typer(help="See what the journal holds, or give some of it up.")
    commands.callback(invoke_without_command=True)(status)
    commands.command("forget")(forget_destination)
    app.add_typer(commands, name="journal")


def status(
    context: typer.Context,
    directory: DirectoryOption = None,
    config: ConfigOption = None,
    sets: SetOption = None,
) -> None:
    """See what the journal holds and for whom, whether or not a sidecar is using it."""
    if context.invoked_subcommand is not None:
        return
    try:
        inspection = inspect(_directory(directory, config, sets))
    except StartError as error:
        report((), [str(error)])
        raise typer.Exit(1) from None
    typer.echo(f"journal     {inspection.path}")
    typer.echo(f"used by     {'nobody' if inspection.used_by is None else inspection.used_by}")
    typer.echo(f"segments    {inspection.segments} ({_size(inspection.size_bytes)})")
    pieces, size_bytes = inspection.quarantined
    typer.echo(f"damaged     {inspection.damaged} places; {pieces} pieces in quarantine ({_size(size_bytes)})")
    if inspection.owed:
        show(_owed(inspection))
    else:
        typer.echo("owed        nothing")


def forget_destination(
    destination: Annotated[str, typer.Argument(help="The exporter's id, such as otlp/old.", metavar="ID")],
    directory: DirectoryOption = None,
    config: ConfigOption = None,
    sets: SetOption = None,
) -> None:
    """Give up what is kept for a destination that will never take it. The sidecar has to be stopped."""
    path = _directory(directory, config, sets)
    try:
        owed = forget(path, destination)
    except StartError as error:
        report((), [str(error)])
        raise typer.Exit(1) from None
    if owed is None:
        report((), [f"{path}: nothing is kept for {destination}; spanjudge journal shows for whom something is"])
        raise typer.Exit(1)
    typer.echo(f"{destination}: {owed.items} items ({_size(owed.size_bytes)}) are given up")


def _directory(directory: Path | None, config: list[str] | None, sets: list[str] | None) -> Path:
    if directory is not None:
        return directory
    component = load_or_exit(config, sets).extension("journal")
    settings = component.settings_as(JournalSettings) if component else JournalSettings()
    if settings.durability == "memory":
        report((), ["this configuration keeps nothing on disk (extensions::journal::durability is memory)"])
        raise typer.Exit(1)
    return Path(settings.directory)


def _owed(inspection: Inspection) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("owed to")
    for title in ("items", "size", "oldest from"):
        table.add_column(title, justify="right")
    for name, owed in inspection.owed.items():
        oldest = "" if owed.oldest_wall_ns is None else _time(owed.oldest_wall_ns)
        table.add_row(name, str(owed.items), _size(owed.size_bytes), oldest)
    return table


def _size(size_bytes: int) -> str:
    return f"{size_bytes / _MIB:.1f} MiB" if size_bytes >= _MIB else f"{size_bytes} bytes"


def _time(wall_ns: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(wall_ns / 1e9))
