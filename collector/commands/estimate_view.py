"""What judging would cost, as a table: what evaluators would ask of judges, and each judge's requests and money."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from evaluators.judge.estimating import Estimate
from evaluators.judge.settings import JudgeSettings

_LEGEND = "tokens are estimated from characters, those of answers are the most that they can take"


def estimate_view(estimates: Mapping[str, Estimate], judges: Mapping[str, JudgeSettings]) -> Iterator[RenderableType]:
    """The view.

    Args:
        estimates: by judge.
        judges: their settings by id.
    """
    table = Table(box=None, pad_edge=False)
    for name in ("evaluator", "judge"):
        table.add_column(name)
    for name in ("questions", "tokens read", "written ≤", "money ≤"):
        table.add_column(name, justify="right", no_wrap=True)
    for judge, estimate in estimates.items():
        settings = judges[judge]
        for evaluator, questions in estimate.questions.items():
            read, written = estimate.read[evaluator], estimate.written[evaluator]
            table.add_row(
                evaluator, judge, f"{questions:,}", f"{read:,}", f"{written:,}", _money(read, written, settings)
            )
    if table.row_count:
        yield table
    else:
        yield Text("no judge would be asked anything" + ("" if judges else ", as none is configured"))
    for judge, estimate in estimates.items():
        settings = judges[judge]
        read, written = estimate.read.total(), estimate.written.total()
        told = f"{judge} ({settings.model}): {_count(estimate.requests, 'request')}, {read:,} tokens read"
        told += f", at most {written:,} written"
        if settings.prices is not None:
            told += f", at most {_money(read, written, settings)} in the currency of its prices"
        if estimate.known:
            told += f"; {_count(estimate.known, 'question')} more the cache would answer"
        if estimate.too_large:
            told += f"; {_count(estimate.too_large, 'question')} too large to be asked"
        yield Text(told)
    if table.row_count:
        yield Text(_LEGEND, "dim")


def _money(read: int, written: int, settings: JudgeSettings) -> str:
    if settings.prices is None:
        return "–"
    return f"{(read * settings.prices.input + written * settings.prices.output) / 1e6:,.4f}"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
