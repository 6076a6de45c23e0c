"""`spanjudge dead-letters`: what destinations couldn't take, shown and sent again.

Neither shows content: a letter is its time, its destination, its size, its traces and the reason.  What a destination
answered may quote content, and is shown only when asked for.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from collector.commands.config_options import INVALID_CONFIG, ConfigOption, SetOption, load_or_exit
from collector.commands.reporting import json_line, report, show
from collector.config import Component, Config
from collector.exporters.letters import ChangedFileError, DamagedLine, Letter, read_letters, sweep
from collector.exporters.resending import Resending, Resent
from collector.exporters.settings import QueuedExporterSettings
from collector.exporters.span_view import clean
from collector.factories import make_sender
from evaluators.cases import JsonValue

MAX_TRACES = 2
MAX_CHARS = 400

LettersArgument = Annotated[Path, typer.Argument(metavar="FILE", help="The dead-letter file.")]

app = typer.Typer(no_args_is_help=True, help="Look at what destinations couldn't take, and send it again.")


def register(root: typer.Typer) -> None:
    """Add the commands."""
    root.add_typer(app, name="dead-letters")


@app.command("show")
def show_letters(
    file: LettersArgument,
    as_json: Annotated[bool, typer.Option("--json", help="JSON lines on standard output.")] = False,
    answers: Annotated[
        bool, typer.Option("--answers", help="Show also what destinations said; it may quote content of spans.")
    ] = False,
) -> None:
    """List the letters: when, where to, what and why. Content of spans isn't shown."""
    found, problems = 0, list[str]()
    try:
        for one in read_letters(file):
            if isinstance(one, DamagedLine):
                problems.append(_damage(file, one))
                continue
            found += 1
            if as_json:
                typer.echo(json_line(_summary(one, answers)), nl=False)
            elif not one.sent:
                show(_view(one, answers))
    except OSError as error:
        problems.append(f"{file}: can't be read: {error.strerror}")
    report([] if found or problems else [f"{file} holds no letters"], problems)
    if problems:
        raise typer.Exit(1)


@app.command("send")
def send_letters(
    file: LettersArgument,
    config: ConfigOption = None,
    sets: SetOption = None,
    exporter: Annotated[
        str | None,
        typer.Option(
            help="Send all of them through this exporter of the configuration; by default each through the one it "
            "was meant for.",
            metavar="ID",
        ),
    ] = None,
    patience: Annotated[
        float, typer.Option(help="How many seconds one letter is tried.", metavar="SECONDS", min=0.1)
    ] = 30.0,
) -> None:
    """Send the letters again, and take those that were taken out of the file.

    A sidecar that runs may go on writing to the file.  Letters that can't be sent stay in it; what a destination
    refuses once more is written to it anew.
    """
    loaded = load_or_exit(config, sets)
    try:
        with _alone(file):
            result, problems = asyncio.run(_send_all(file, loaded, exporter, patience))
            with contextlib.suppress(FileNotFoundError):
                sweep(file)
    except (OSError, ChangedFileError) as error:
        what = str(error) if isinstance(error, ChangedFileError) else f"{error.filename or file}: {error.strerror}"
        report([], [f"{what}; letters that were sent are marked, all others are still there"])
        raise typer.Exit(1) from None
    except _UnusableExporterError as error:
        report([], [str(error)])
        raise typer.Exit(INVALID_CONFIG) from None
    typer.echo(
        f"{result.letters} letters sent: {result.taken} items taken, {result.rejected} rejected by the destination, "
        f"{result.refused} refused once more (kept as new letters); {len(result.left)} letters left"
    )
    report([], [*problems, *(f"{file}, line {line}: {why}" for line, why in result.left.items())])
    if problems or result.left or result.refused:
        raise typer.Exit(1)


class _UnusableExporterError(Exception):
    """There is no exporter that could send them."""


async def _send_all(file: Path, config: Config, exporter: str | None, patience_s: float) -> tuple[Resent, list[str]]:
    problems, result = list[str](), Resent()
    resendings: dict[str, Resending] = {}
    async with contextlib.AsyncExitStack() as opened:
        for letter in read_letters(file):
            if isinstance(letter, DamagedLine):
                problems.append(_damage(file, letter))
                continue
            if letter.sent:
                continue
            component = _exporter(config, exporter or letter.destination)
            if component.id not in resendings:
                sender = make_sender(component)
                await sender.start()
                opened.push_async_callback(sender.stop)
                settings = component.settings_as(QueuedExporterSettings)
                resendings[component.id] = Resending(file, component.id, sender, settings, patience_s, result)
            resending = resendings[component.id]
            if resending.goes_on():
                await resending.send(letter)
            else:
                result.left[letter.line] = f"not tried, as those before it couldn't be sent to {component.id}"
    return result, problems


def _exporter(config: Config, name: str) -> Component:
    component = config.exporters.get(name)
    if component is None:
        known = ", ".join(config.exporters) or "none"
        raise _UnusableExporterError(f"there is no exporter {name} in the configuration; give --exporter ({known})")
    if not isinstance(component.settings, QueuedExporterSettings):
        raise _UnusableExporterError(f"{name} sends to no backend; give --exporter with the id of one that does")
    return component


@contextlib.contextmanager
def _alone(file: Path) -> Iterator[None]:
    """Nobody else sends the same letters meanwhile. Raises OSError."""
    if not file.exists():
        raise FileNotFoundError(2, "there is no such file", str(file))
    lock = file.with_name(f"{file.name}.sending")
    descriptor = os.open(lock, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise OSError(error.errno, "somebody else is sending these letters", str(file)) from None
        yield
        lock.unlink(missing_ok=True)
    finally:
        os.close(descriptor)


def _damage(file: Path, damaged: DamagedLine) -> str:
    return f"{file}, line {damaged.line}: no letter, and left as it is: {damaged.why}"


def _summary(letter: Letter, answers: bool) -> dict[str, JsonValue]:
    told: dict[str, JsonValue] = {
        "line": letter.line,
        "sent": letter.sent,
        "time": letter.time,
        "destination": letter.destination,
        "signal": letter.signal.value,
        "items": letter.items,
        "size_bytes": len(letter.request),
        "trace_ids": list(letter.trace_ids()),
        "reason": letter.reason,
    }
    return {**told, "answer": letter.answer} if answers else told


def _view(letter: Letter, answers: bool) -> Text:
    trace_ids = letter.trace_ids()
    more = f" and {len(trace_ids) - MAX_TRACES} more" if len(trace_ids) > MAX_TRACES else ""
    traces = f"  trace {' '.join(trace_ids[:MAX_TRACES])}{more}" if trace_ids else ""
    what = f"{letter.signal}, {letter.items} items, {len(letter.request)} bytes"
    lines = [f"{letter.line}: {letter.time}  {letter.destination}  {what}{traces}", letter.reason]
    if answers and letter.answer:
        lines.append(f"it said: {letter.answer}")
    return Text("\n    ".join(clean(line, MAX_CHARS) for line in lines))
