"""A survey of traces for people: what each evaluator can judge, what is missing and how to get it.

Text from spans is shown as text: no markup in it is obeyed, and no control character reaches the terminal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.console import Group as Lines
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from collector.commands.transcript_view import printable
from processors.reading.readiness import REQUIRED
from processors.survey import Group, Lack, Readiness, Scope, Strangers, Survey

NOTHING_DUE = "–"
MOST_STRANGERS = 8
_UNLIMITED = 10_000
_LEGEND = "n/m: m traces have something for the evaluator to judge, and n of them have all that it needs"


@dataclass(frozen=True, slots=True)
class SurveyView:
    """The whole view; it looks different where columns are few."""

    survey: Survey

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        groups = sorted(self.survey.groups.values(), key=lambda group: -group.traces)
        table = _table(groups)
        needed = Measurement.get(console, options.update(max_width=_UNLIMITED), table).maximum
        yield from _parts(self.survey, groups, table if needed <= options.max_width else _list(groups))


def _parts(survey: Survey, groups: list[Group], counts: RenderableType) -> Iterator[RenderableType]:
    goes_on = "goes on" if survey.continuing == 1 else "go on"
    pieces = f", of which {survey.continuing:,} {goes_on} from another one" if survey.continuing else ""
    yield Text(f"{_count(survey.traces, 'trace')}{pieces}", "bold")
    if groups:
        yield counts
        yield Text(_LEGEND, "dim")
    if survey.not_understood:
        yield Text()
        yield from _not_understood(survey)
    for group in groups:
        lacks = [lack for lack in group.missing.values() if lack.needed_by]
        if lacks:
            yield Text()
            yield Text.assemble("not captured by ", (_name(group.scopes), "bold"))
            yield from _lacks(lacks)
    if survey.strangers:
        yield Text()
        yield from _strangers(survey.strangers.values())


def _table(groups: list[Group]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("instrumentation", overflow="fold")
    table.add_column("read as", overflow="fold")
    table.add_column("traces", justify="right", no_wrap=True)
    for name in REQUIRED:
        table.add_column(name.replace("_", "\n"), justify="right", no_wrap=True)
    for group in groups:
        counts = (_ready(group.evaluators[name]) for name in REQUIRED)
        dialects = Text("\n".join(group.dialects), "dim")
        table.add_row(Text(_name(group.scopes, "\n")), dialects, f"{group.traces:,}", *counts)
    return table


def _list(groups: list[Group]) -> RenderableType:
    """The same where the table would be too wide."""
    lines: list[RenderableType] = []
    for group in groups:
        lines.append(Text.assemble(_name(group.scopes), (f" read as {', '.join(group.dialects)}", "dim")))
        counts = Text(_count(group.traces, "trace"))
        for name in REQUIRED:
            counts.append_text(Text.assemble(", ", f"{name} ", _ready(group.evaluators[name])))
        lines.append(_indented(counts))
    return Lines(*lines)


def _ready(one: Readiness) -> Text:
    if not one.due:
        return Text(NOTHING_DUE, "dim")
    return Text(f"{one.ready}/{one.due}", "green" if one.ready == one.due else "yellow" if one.ready else "red")


def _not_understood(survey: Survey) -> Iterator[RenderableType]:
    yield Text(f"in {_count(survey.not_understood, 'trace')} no model call, tool or agent was recognised", "yellow")
    for riddle in sorted(survey.riddles.values(), key=lambda riddle: -riddle.traces):
        known_by = f" of {printable(str(riddle.scope))}, e.g. {riddle.example}"
        place = Text.assemble(f"{_count(riddle.traces, 'trace')}: ", printable(riddle.name, 60), (known_by, "dim"))
        yield _indented(place)


def _lacks(lacks: list[Lack]) -> Iterator[RenderableType]:
    by_switch: dict[str, list[Lack]] = {}
    for lack in sorted(lacks, key=lambda lack: -lack.traces):
        by_switch.setdefault(lack.missing.switch, []).append(lack)
    for switch, found in by_switch.items():
        table = Table.grid(padding=(0, 2, 0, 0))
        example = ""
        for lack in found:
            one = lack.missing
            needed_by = "all" if len(lack.needed_by) == len(REQUIRED) else ", ".join(lack.needed_by)
            where = Text.assemble("would be in ", (one.attribute, "cyan"), (f"; needed by {needed_by}", "dim"))
            if lack.example != example:
                example = lack.example
                where.append(f"; e.g. in {example}", "dim")
            table.add_row(Text(one.fact, "bold"), _count(lack.traces, "trace"), where)
        yield _indented(table)
        yield _indented(Text(f"to capture {'it' if len(found) == 1 else 'them'}: {switch}", "yellow"))


def _strangers(found: Iterable[Strangers]) -> Iterator[RenderableType]:
    ordered = sorted(found, key=lambda strangers: -strangers.spans)
    yield Text("spans of no convention that is known", "bold")
    for one in ordered[:MOST_STRANGERS]:
        names = ", ".join(printable(name, 40) for name in one.names)
        told = ", read by the plain meaning of their keys" if one.read else ""
        place = f"{_count(one.spans, 'span')} in {_count(one.traces, 'trace')}{told} "
        yield _indented(Text.assemble(f"{printable(str(one.scope))}: {place}", (f"({names})", "dim")))
    if len(ordered) > MOST_STRANGERS:
        yield _indented(Text(f"and of {len(ordered) - MOST_STRANGERS} more instrumentations", "dim"))


def _indented(what: RenderableType) -> RenderableType:
    return Padding(what, (0, 0, 0, 2), expand=False)


def _name(scopes: tuple[Scope, ...], separator: str = " + ") -> str:
    return separator.join(printable(str(scope)) for scope in scopes)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
