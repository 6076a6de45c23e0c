"""Spans as Phoenix exports them: its REST API's objects, and rows of its dataframes written as JSON.

In rows the columns have dotted names (`context.span_id`, `attributes.llm.input_messages`), and an empty cell is null.
A dataframe is written by rows (records, table, lines), by columns, by index, or split into names and cells.  Phoenix
keeps neither resource, instrumentation scope nor links.
"""

from __future__ import annotations

from collections.abc import Iterator

from collector.receivers.formats.ids import Ids
from collector.receivers.formats.plain_span import PlainSpan, requests_of
from collector.receivers.formats.shape import Fields, Findings, Form, Request, WrongPieceError, named
from collector.receivers.formats.span_object import read_span

_ATTRIBUTES = "attributes."
_CONTEXT = "context."
_SPAN_ID = "context.span_id"
_TRACE_ID = "context.trace_id"


def _recognises(item: Fields) -> bool:
    return _is_row(item) or _is_by_columns(item) or _is_by_index(item) or _is_split(item)


def _is_row(item: Fields) -> bool:
    """A row, also one whose span id became the index; columns look alike but for what they hold."""
    return isinstance(item.get(_TRACE_ID), str)


def _is_by_columns(item: Fields) -> bool:
    return isinstance(item.get(_TRACE_ID), dict)


def _is_by_index(item: Fields) -> bool:
    first = next(iter(item.values()), None)
    return isinstance(first, dict) and _is_row(first)


def _is_split(item: Fields) -> bool:
    columns = item.get("columns")
    return isinstance(columns, list) and isinstance(item.get("data"), list) and _TRACE_ID in columns


def _read(item: Fields, place: str, findings: Findings) -> Iterator[Request]:
    yield from requests_of(_spans(item, place, findings))


def _spans(item: Fields, place: str, findings: Findings) -> Iterator[PlainSpan]:
    ids = Ids(findings)
    for where, index, row in _rows(item):
        try:
            yield read_span(_span(row, index), ids)
        except WrongPieceError as error:
            findings.flaw(f"{place}{where}", str(error))


def _rows(item: Fields) -> Iterator[tuple[str, object, Fields]]:
    """Place, index and cells of every row."""
    if _is_row(item):
        yield "", None, item
    elif _is_by_columns(item):
        columns = {name: cells for name, cells in item.items() if isinstance(cells, dict)}
        for index in columns[_TRACE_ID]:
            yield f", row {named(index)}", index, {name: cells.get(index) for name, cells in columns.items()}
    elif _is_split(item):
        yield from _split_rows(item)
    else:
        for index, row in item.items():
            yield f", row {named(index)}", index, row if isinstance(row, dict) else {}


def _split_rows(item: Fields) -> Iterator[tuple[str, object, Fields]]:
    columns, rows, indexes = item["columns"], item["data"], item.get("index")
    assert isinstance(columns, list) and isinstance(rows, list)
    for number, cells in enumerate(rows):
        index = indexes[number] if isinstance(indexes, list) and number < len(indexes) else None
        if isinstance(cells, list) and len(cells) == len(columns):
            yield f".data[{number}]", index, dict(zip(map(str, columns), cells, strict=True))
        else:
            yield f".data[{number}]", index, {}


def _span(row: Fields, index: object) -> Fields:
    """A row as the object that the REST API gives."""
    span: Fields = {"context": {}, "attributes": {}}
    context, attributes = span["context"], span["attributes"]
    assert isinstance(context, dict) and isinstance(attributes, dict)
    for name, cell in row.items():
        if cell is None:
            continue
        if name.startswith(_ATTRIBUTES):
            attributes[name.removeprefix(_ATTRIBUTES)] = cell
        elif name.startswith(_CONTEXT):
            context[name.removeprefix(_CONTEXT)] = cell
        elif name != "index":
            span[name] = cell
    if not row.get(_SPAN_ID):
        # Whoever makes the span's id the index may drop its column.
        context["span_id"] = index if isinstance(index, str) else row.get("index")
    return span


PHOENIX_FRAMES = Form("Phoenix", _recognises, _read)
