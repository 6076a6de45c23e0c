"""What a probe found, as tables: faults by kind, and how steady judges are."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from processors.probing import Probed

_LEGEND = (
    "each fault was put into a run of which the evaluator had passed that very step; "
    "flipped: the judge said the opposite when asked the same again"
)


def probe_view(probed: Probed) -> Iterator[RenderableType]:
    """The view."""
    if not probed.faults:
        yield Text("no fault could be put into these traces: nothing in them was judged to be good")
        yield from _judged(probed)
        return
    table = Table(box=None, pad_edge=False)
    for name in ("fault", "for"):
        table.add_column(name)
    for name in ("injected", "found", "by rule", "by judge", "missed", "no verdict"):
        table.add_column(name, justify="right", no_wrap=True)
    for fault, found in probed.faults.items():
        caught = found.by_rule + found.by_judge
        share = f"{caught} ({caught / found.injected:.0%})"
        counts = map(str, (found.by_rule, found.by_judge, found.missed, found.unscored))
        table.add_row(str(fault), found.evaluator, str(found.injected), share, *counts)
    yield table
    yield Text()
    yield from _judged(probed)
    for evaluator, steady in probed.steadiness.items():
        told = f"{evaluator}: asked again {steady.repeated} times, flipped {steady.flipped}"
        yield Text(told + (f", without a verdict {steady.unscored}" if steady.unscored else ""))
    yield Text(_LEGEND, "dim")


def _judged(probed: Probed) -> Iterator[RenderableType]:
    for evaluator, judged in probed.judged.items():
        yield Text(f"{evaluator}: {probed.good[evaluator]} of {judged} judged steps are good as they are")
