"""A judged trace as a tree for the terminal.

In go the `SpanView`s of one trace, out comes a rich renderable: one line per span in order of start, what passed quiet
and green on that line, what failed in red under it with its code and reason, everything unjudged dim, and a summary
last.  The order depends on the spans alone, never on their order of arrival.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from collector.exporters.span_view import Score, SpanView
from collector.exporters.trace_rows import MAX_ROWS, Row, prominent, rows_of

KIND_STYLES = {"agent": "bold cyan", "llm": "blue", "tool": "magenta", "chain": "cyan", "evaluator": "dim"}
NAME_CELLS = 30
"""Room for the tree and the names, so that the columns of most traces stand under each other."""


class Verbosity(StrEnum):
    """How much of a trace is shown."""

    BASIC = "basic"
    NORMAL = "normal"
    DETAILED = "detailed"


@dataclass(frozen=True, slots=True)
class Glyphs:
    """The signs a terminal can show."""

    good: str
    bad: str
    none: str
    fork: str
    last: str
    line: str

    @classmethod
    def for_options(cls, options: ConsoleOptions) -> Glyphs:
        """Box-drawing signs, or their stand-ins where the output is not in Unicode."""
        if options.ascii_only:
            return cls(good="ok", bad="FAIL", none="-", fork="|- ", last="`- ", line="|  ")
        return cls(good="✓", bad="✗", none="·", fork="├─ ", last="└─ ", line="│  ")


@dataclass(frozen=True, slots=True)
class TraceTree:
    """The spans of one trace, to be printed.

    `omitted` spans are known but not among `spans`; `continued` says that a part of the trace was printed before.
    """

    spans: Sequence[SpanView]
    verbosity: Verbosity = Verbosity.NORMAL
    omitted: int = 0
    continued: bool = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        glyphs = Glyphs.for_options(options)
        rows = list(rows_of(self.spans))
        if self.verbosity is Verbosity.BASIC:
            yield self._summary(rows, glyphs, basic=True)
            return
        shown = prominent(rows) if len(rows) > MAX_ROWS else rows
        guides = [_guide(row, glyphs) for row in shown]
        widest = max((len(guide) + _label_cells(row) for guide, row in zip(guides, shown, strict=True)), default=0)
        column = max(
            min(NAME_CELLS, options.max_width // 3), min(widest, options.max_width - 10, options.max_width * 3 // 5)
        )
        for guide, row in zip(guides, shown, strict=True):
            yield from self._span_lines(console, options, glyphs, guide, row, column)
        if hidden := len(rows) - len(shown) + self.omitted:
            yield Text(f"{glyphs.none} {_count(hidden, 'more span')} without a score", style="dim")
        yield self._summary(rows, glyphs, basic=False)

    def _span_lines(
        self, console: Console, options: ConsoleOptions, glyphs: Glyphs, guide: str, row: Row, column: int
    ) -> Iterator[Text]:
        line = Text().append(guide, style="dim")
        line.append_text(_label(row))
        line.truncate(column, overflow="ellipsis", pad=True)
        line.append(f" {_duration(row.span.duration_s):>7}", style="dim")
        notes = [_mark(score, glyphs) for score in row.scores if not score.failed]
        if row.span.error:
            notes.insert(0, Text("error", style="yellow"))
        if row.orphan:
            notes.append(Text("(its parent is not here)", style="dim"))
        under = Text().append(_guide_below(row, glyphs), style="dim")
        yield from _flow(line, notes, under, options.max_width)
        for score in row.scores:
            if score.failed:
                yield from _hang(_fault(score, glyphs), under, console, options.max_width)
            elif score.status == "missing_input" and score.explanation and self.verbosity is not Verbosity.DETAILED:
                why = Text(f"{glyphs.none} {score.evaluator}: {score.explanation}", style="dim")
                yield from _hang(why, under, console, options.max_width)
            if self.verbosity is Verbosity.DETAILED:
                yield from _hang(_details(score, row.span), under, console, options.max_width)

    def _summary(self, rows: Sequence[Row], glyphs: Glyphs, *, basic: bool) -> Text:
        scores = [score for row in rows for score in row.scores]
        judged = [score for score in scores if not score.unscored]
        failed = [score for score in judged if score.failed]
        first = rows[0].span
        line = Text()
        if failed:
            line.append(f"{glyphs.bad} {len(failed)} of {_count(len(judged), 'check')} failed", style="bold red")
        elif judged:
            passed = f"{_count(len(judged), 'check')} passed"
            line.append(f"{glyphs.good} {passed}", style="green")
        else:
            line.append(f"{glyphs.none} no check came to a score", style="dim")
        if basic:
            line.append(f"  {first.name}")
            if codes := dict.fromkeys(f"{score.evaluator} {code}" for score in failed for code in score.codes[:1]):
                line.append("  " + ", ".join(codes), style="red")
        unscored = len(scores) - len(judged)
        notes = [f"{unscored} unscored"] if unscored else []
        notes += [first.service] if first.service else []
        notes += [f"trace {first.trace_id}"]
        notes += ["continued"] if self.continued else []
        line.append("   " + f" {glyphs.none} ".join(notes), style="dim")
        return line


def _guide(row: Row, glyphs: Glyphs) -> str:
    above = "".join(glyphs.line if goes_on else "   " for goes_on in row.levels[:-1])
    return above + (glyphs.fork if row.levels[-1] else glyphs.last) if row.levels else ""


def _guide_below(row: Row, glyphs: Glyphs) -> str:
    above = "".join(glyphs.line if goes_on else "   " for goes_on in row.levels)
    return above + (glyphs.line if row.has_children else "   ")


def _label(row: Row) -> Text:
    span = row.span
    judged = bool(row.scores)
    top = not row.levels
    label = Text()
    if span.kind:
        label.append(f"{span.kind} ", style=KIND_STYLES[span.kind] if judged or top else "dim")
    label.append(span.name, style="bold" if top else "" if judged else "dim")
    return label


def _label_cells(row: Row) -> int:
    return _label(row).cell_len


def _mark(score: Score, glyphs: Glyphs) -> Text:
    if score.unscored:
        return Text(f"{glyphs.none} {score.evaluator} {score.status or 'unscored'}", style="dim")
    if score.uncalibrated:
        told = f"{glyphs.none} {score.evaluator} {score.label or ''}{_figure(score)} (uncalibrated)"
        return Text(told, style="default")
    if score.passed is None:
        return Text(f"{glyphs.none} {score.evaluator} {score.label or ''}{_figure(score)}".rstrip(), style="default")
    return Text(f"{glyphs.good} {score.evaluator}{_figure(score)}", style="green")


def _fault(score: Score, glyphs: Glyphs) -> Text:
    fault = Text().append(f"{glyphs.bad} {score.evaluator} {score.label or 'failed'}{_figure(score)}", style="bold red")
    if score.codes:
        fault.append(f" {', '.join(score.codes)}", style="bold red")
    if score.explanation:
        fault.append(f": {score.explanation}", style="red")
    return fault


def _details(score: Score, span: SpanView) -> Text:
    facts = [
        ("label", score.label),
        ("score", None if score.score is None else f"{score.score:g}"),
        ("method", score.method),
        ("model", score.model),
        ("confidence", None if score.confidence is None else f"{score.confidence:g}"),
        ("status", score.status),
        ("span", span.span_id),
    ]
    line = f"  {score.evaluator}: " + ", ".join(f"{name} {value}" for name, value in facts if value is not None)
    if score.explanation and not score.failed:
        line += f" ({score.explanation})"
    return Text(line, style="dim")


def _figure(score: Score) -> str:
    return "" if score.score is None or score.score in (0.0, 1.0) else f" {score.score:.2f}"


def _flow(line: Text, notes: Iterable[Text], under: Text, width: int) -> Iterator[Text]:
    """`line` with as many notes after it as fit, the others on lines of their own below it."""
    for note in notes:
        if line.cell_len + 2 + note.cell_len > width:
            yield line
            line = under.copy()
        line.append("  ")
        line.append_text(note)
    yield line


def _hang(text: Text, under: Text, console: Console, width: int) -> Iterator[Text]:
    """`text` in as many lines as it needs, hanging under its span."""
    room = max(20, width - under.cell_len - 2)
    for number, line in enumerate(text.wrap(console, room)):
        line.rstrip()
        yield Text.assemble(under, "" if number == 0 else "  ", line)


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return "?"
    if seconds < 0.001:
        return "<1 ms"
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
