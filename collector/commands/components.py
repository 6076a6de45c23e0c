"""`spanjudge components`: which component types there are and what each can be told."""

from __future__ import annotations

import typer

from collector.components import component_registry
from collector.config import Kind
from collector.config.reference import rows
from evaluators.python_class import PythonSettings, offered


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("components")(components)


def components() -> None:
    """List all component types with their settings, each with its type and its default."""
    registry = component_registry()
    for kind in Kind:
        typer.echo(f"{kind.value}:")
        for component in registry.types(kind):
            names = ", ".join((component.name, *component.aliases))
            typer.echo(f"  {names}: {component.summary}")
            for row in rows(component.settings):
                default = " (required)" if row.required else f" [{row.default}]" if row.default else ""
                typer.echo(f"    {row.key}: {row.type.replace('`', '')}{default}")
            if component.settings is PythonSettings:
                for one in offered():
                    typer.echo(f"    python/{one.name}: {one.path}, brought along by {one.package}")
