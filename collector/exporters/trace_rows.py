"""The spans of a trace in the order of a tree, each with its place in it and the scores that count for it.

In go `SpanView`s in any order, out come `Row`s: depth first, children by start time.  Parents that never came, circles
of parents and absurd depths are all put in order; every span is a row once, unless it only carries a late verdict.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from collector.exporters.span_view import Score, SpanView

MAX_DEPTH = 12
MAX_ROWS = 60
"""A trace with more spans than this is shown as its judged spans and what is above them."""


@dataclass(frozen=True, slots=True)
class Row:
    """A span with its place in the tree: for each level above it whether that level goes on below."""

    span: SpanView
    scores: tuple[Score, ...]
    levels: tuple[bool, ...]
    has_children: bool
    orphan: bool


def rows_of(spans: Sequence[SpanView]) -> Iterator[Row]:
    """The spans depth first, children by start time; spans in a circle of parents or without their parent are roots."""
    by_id = {span.span_id: span for span in spans}
    folded, scores = _fold_evaluations(by_id)
    visible = sorted(
        (span for span in by_id.values() if span.span_id not in folded),
        key=lambda span: (span.start_ns, span.end_ns * -1, span.span_id),
    )
    children: dict[str, list[SpanView]] = {}
    roots = []
    for span in visible:
        if span.parent_id in by_id and span.parent_id != span.span_id:
            children.setdefault(span.parent_id, []).append(span)
        else:
            roots.append(span)
    seen: set[str] = set()
    several = len(roots) > 1
    for root in (*roots, *visible):
        if root.span_id in seen:
            continue
        stack: list[tuple[SpanView, tuple[bool, ...]]] = [(root, ())]
        while stack:
            span, levels = stack.pop()
            if span.span_id in seen:
                continue
            seen.add(span.span_id)
            below = [child for child in children.get(span.span_id, ()) if child.span_id not in seen]
            orphan = not levels and bool(span.parent_id) and not span.remote_parent and several
            yield Row(span, scores[span.span_id], levels, bool(below), orphan)
            inner = levels if len(levels) < MAX_DEPTH else levels[:-1]
            stack.extend((child, (*inner, child is not below[-1])) for child in reversed(below))


def _fold_evaluations(by_id: dict[str, SpanView]) -> tuple[set[str], dict[str, tuple[Score, ...]]]:
    """Scores per span, those of evaluation spans given to the span they are about.

    A verdict on an evaluation span is younger than one on the span itself and takes its place.
    """
    scores = {span.span_id: {score.evaluator: score for score in span.scores} for span in by_id.values()}
    superseded = {score.supersedes for span in by_id.values() for score in span.scores if score.supersedes}
    folded = set()
    for span in sorted(by_id.values(), key=lambda span: span.span_id):
        about = by_id.get(span.parent_id)
        if span.kind == "evaluator" and span.scores and about is not None and about.kind != "evaluator":
            folded.add(span.span_id)
            if span.span_id not in superseded:
                scores[about.span_id] |= scores[span.span_id]
    return folded, {span_id: tuple(of_span.values()) for span_id, of_span in scores.items()}


def prominent(rows: Sequence[Row]) -> list[Row]:
    """The judged rows and the rows above them, at most `MAX_ROWS`; levels are kept as they are."""
    by_id = {row.span.span_id: row for row in rows}
    keep: set[str] = set()
    ordered = sorted(rows, key=lambda row: not any(score.failed for score in row.scores))
    for row in ordered:
        span_id = row.span.span_id
        while row.scores and span_id in by_id and span_id not in keep and len(keep) < MAX_ROWS:
            keep.add(span_id)
            span_id = by_id[span_id].span.parent_id
    return _relevelled([row for row in rows if row.span.span_id in keep])


def _relevelled(rows: Sequence[Row]) -> list[Row]:
    """The rows with their guides drawn anew for the rows that are left."""
    goes_on: set[int] = set()
    relevelled: list[Row] = []
    previous_depth = 0
    for row in reversed(rows):
        depth = len(row.levels)
        levels = tuple(level in goes_on for level in range(1, depth + 1))
        goes_on = {level for level in goes_on if level <= depth} | {depth}
        relevelled.append(replace(row, levels=levels, has_children=previous_depth > depth))
        previous_depth = depth
    return relevelled[::-1]
