"""A survey of traces for people: what each evaluator can judge, what is missing and how to get it.

Text from spans is shown as text: no markup in it is obeyed, and no control character reaches the terminal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import Group as Lines
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from collector.commands.transcript_view import printable
from evaluators.registry import EVALUATORS
from processors.survey import Group, Lack, Readiness, Scope, Strangers, Survey

NOTHING_DUE = "–"
MOST_STRANGERS = 8
TABLE_WIDTH = 110
"""In fewer columns, names of instrumentations would be broken in many pieces."""
_LEGEND = "n/m: m traces have something for the evaluator to judge, and n of them have all that it needs"


def survey_view(survey: Survey, width: int) -> RenderableType:
    """The whole view, for a terminal of so many columns."""
    return Lines(*_parts(survey, width))


def _parts(survey: Survey, width: int) -> Iterator[RenderableType]:
    groups = sorted(survey.groups.values(), key=lambda group: -group.traces)
    pieces = f", of which {survey.continuing:,} go on from another one" if survey.continuing else ""
    yield Text(f"{_count(survey.traces, 'trace')}{pieces}", "bold")
    if groups:
        yield _table(groups) if width >= TABLE_WIDTH else _list(groups)
        yield Text(_LEGEND, "dim")
    if survey.not_understood:
        yield Text()
        yield from _not_understood(survey)
    for group in groups:
        lacks = [lack for lack in group.missing.values() if lack.needed_by]
        if lacks:
            yield Text()
            yield Text.assemble("missing in what ", (_name(group.scopes), "bold"), " recorded")
            yield from _lacks(lacks)
    if survey.strangers:
        yield Text()
        yield from _strangers(survey.strangers.values())


def _table(groups: list[Group]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("instrumentation", overflow="fold")
    table.add_column("read as", overflow="fold")
    table.add_column("traces", justify="right", no_wrap=True)
    for name in EVALUATORS:
        table.add_column(name.replace("_", "\n"), justify="right", no_wrap=True)
    for group in groups:
        counts = (_ready(group.evaluators[name]) for name in EVALUATORS)
        dialects = Text("\n".join(group.dialects), "dim")
        table.add_row(Text(_name(group.scopes, "\n")), dialects, f"{group.traces:,}", *counts)
    return table


def _list(groups: list[Group]) -> RenderableType:
    """The same for a narrow terminal."""
    lines: list[RenderableType] = []
    for group in groups:
        lines.append(Text.assemble(_name(group.scopes), (f" read as {', '.join(group.dialects)}", "dim")))
        counts = Text(_count(group.traces, "trace"))
        for name in EVALUATORS:
            counts.append_text(Text.assemble(", ", f"{name} ", _ready(group.evaluators[name])))
        lines.append(Padding(counts, (0, 0, 0, 4)))
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
        yield Padding(place, (0, 0, 0, 2))


def _lacks(lacks: list[Lack]) -> Iterator[RenderableType]:
    by_switch: dict[str, list[Lack]] = {}
    for lack in sorted(lacks, key=lambda lack: -lack.traces):
        by_switch.setdefault(lack.missing.switch, []).append(lack)
    for switch, found in by_switch.items():
        table = Table.grid(padding=(0, 2, 0, 0))
        for lack in found:
            one = lack.missing
            needed_by = "all" if len(lack.needed_by) == len(EVALUATORS) else ", ".join(lack.needed_by)
            where = Text.assemble("would be in ", (one.attribute, "cyan"), (f"; needed by {needed_by}", "dim"))
            table.add_row(Text(one.fact, "bold"), _count(lack.traces, "trace"), Text(f"e.g. {lack.example}", "dim"))
            table.add_row("", "", where)
        yield Padding(table, (0, 0, 0, 2))
        yield Padding(Text(f"to capture it: {switch}", "yellow"), (0, 0, 0, 2))


def _strangers(found: Iterable[Strangers]) -> Iterator[RenderableType]:
    ordered = sorted(found, key=lambda strangers: -strangers.spans)
    yield Text("spans of no convention that is known", "bold")
    for one in ordered[:MOST_STRANGERS]:
        names = ", ".join(printable(name, 40) for name in one.names)
        told = ", read by the plain meaning of their keys" if one.read else ""
        place = f"{_count(one.spans, 'span')} in {_count(one.traces, 'trace')}{told} "
        yield Padding(Text.assemble(f"{printable(str(one.scope))}: {place}", (f"({names})", "dim")), (0, 0, 0, 2))
    if len(ordered) > MOST_STRANGERS:
        yield Padding(Text(f"and of {len(ordered) - MOST_STRANGERS} more instrumentations", "dim"), (0, 0, 0, 2))


def _name(scopes: tuple[Scope, ...], separator: str = " + ") -> str:
    return separator.join(printable(str(scope)) for scope in scopes)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
