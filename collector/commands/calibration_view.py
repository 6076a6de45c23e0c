"""Agreement with people as tables: figures per evaluator, examples of confusion, thresholds that would serve better.

Texts of verdicts are shown as text: no markup in them is obeyed, and no control character reaches the terminal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from collector.exporters.span_view import clean
from evaluators.calibration.agreement import Agreement, Interval
from evaluators.calibration.comparison import ALL, Compared, Differences, Group, differences, groups

_MOST_CHARS = 200
_LEGEND = (
    "judge: graded by a model · bad: share of what people call bad · ±: half of the 95 % interval · "
    "balanced: mean accuracy on good and bad ones · kappa: agreement beyond chance · "
    "caught, missed: bad ones told bad, told good · false: good ones told bad"
)


@dataclass(frozen=True, slots=True)
class CalibrationView:
    """The whole view, with at most so many examples of each kind of difference."""

    compared: Sequence[Compared]
    examples: int

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        found = list(groups(self.compared))
        yield _table(found)
        yield from _not_graded(found)
        yield Text(_LEGEND, "dim")
        for one in differences(self.compared, self.examples):
            yield from _differences(one)


def _table(found: Sequence[Group]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("evaluator")
    for name in ("cases", "graded", "judge", "bad", "agreement", "balanced", "kappa", "caught", "missed", "false"):
        table.add_column(name, justify="right", no_wrap=True)
    for one in found:
        if one.group == ALL:
            table.add_row(one.evaluator, *_figures(one))
        else:
            table.add_row(f"  {clean(one.group, _MOST_CHARS)}", *_figures(one), style="dim")
    return table


def _not_graded(found: Sequence[Group]) -> Iterator[Text]:
    for one in found:
        if one.group == ALL and one.unscored:
            why = ", ".join(f"{count} {status}" for status, count in one.unscored.most_common())
            yield Text(f"{one.evaluator}, not graded: {why}")


def _figures(one: Group) -> list[str]:
    figures = one.agreement
    if figures is None:
        return [str(one.unscored.total()), "0", "0", *["–"] * 7]
    return [
        str(figures.pairs + one.unscored.total()),
        str(figures.pairs),
        str(one.by_judge),
        f"{figures.base_rate:.2f}",
        _interval(figures.agreement),
        _interval(figures.balanced_accuracy),
        _interval(figures.kappa),
        *_counts(figures),
    ]


def _counts(figures: Agreement) -> list[str]:
    return [str(figures.caught), str(figures.missed), str(figures.false_alarms)]


def _interval(figure: Interval | None) -> str:
    return "–" if figure is None else f"{figure.value:.2f} ±{(figure.high - figure.low) / 2:.2f}"


def _differences(found: Differences) -> Iterator[RenderableType]:
    for what, ones in (("missed", found.missed), ("false alarms", found.false_alarms)):
        if ones:
            yield Text()
            yield Text(f"{found.evaluator}, {what}:", "bold")
            for one in ones:
                told = clean(one.verdict.explanation, _MOST_CHARS)
                yield Text(f"  {clean(one.name, _MOST_CHARS)} ({one.verdict.method}): {told}")
    if found.better is not None:
        better = found.better
        yield Text()
        yield Text(
            f"{found.evaluator}: threshold {better.threshold:g} would bring balanced accuracy from {better.now:.2f} "
            f"to {better.then:.2f} on these cases"
        )
