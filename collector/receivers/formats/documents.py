"""A JSON document → the requests in it, whatever it is wrapped in.

Exports come as one object, as a list, or inside an answer of an API (`data`, `traces`, `result` …).  Each object is
read in its own form; what is in none of them is told with its place.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from collector.json_scalars import kind_of
from collector.receivers.formats.registry import form_of
from collector.receivers.formats.shape import Fields, Findings, Request, WrongPieceError, inside, named, used_up
from collector.receivers.formats.span_trees import SPAN_TREES, are_one_trace

_MAX_DEPTH = 5
_LOOKED_AT = 10
_MOST_KEYS = 50
_MOST_LOOKS = 2000  # so that a huge document of another kind is put aside soon


def read_document(document: object, findings: Findings) -> Iterator[Request] | None:
    """The requests in a document; None when nothing in it is of a form that is read.

    Lists in it are emptied while they are read, so that a huge document isn't kept beside its requests.
    """
    return _read(document, "", 0, findings) if _holds_traces(document, 0, count(1)) else None


def _holds_traces(content: object, depth: int, looks: Iterator[int]) -> bool:
    if depth > _MAX_DEPTH or not isinstance(content, list | dict) or next(looks) > _MOST_LOOKS:
        return False
    if isinstance(content, list):
        return any(_holds_traces(item, depth + 1, looks) for item in content[:_LOOKED_AT])
    return form_of(content) is not None or _wrapped(content, depth, looks) is not None


def _wrapped(content: Fields, depth: int, looks: Iterator[int]) -> str | None:
    """The first key under which there are traces."""
    return next((key for key in list(content)[:_MOST_KEYS] if _holds_traces(content[key], depth + 1, looks)), None)


def _read(content: object, place: str, depth: int, findings: Findings) -> Iterator[Request]:
    if isinstance(content, list) and are_one_trace(content) and _is_in_no_other_form(content):
        content = {"spans": content}
    if isinstance(content, list) and depth <= _MAX_DEPTH:
        for index, item in used_up(content):
            yield from _read(item, f"{place}[{index}]", depth + 1, findings)
        return
    form = form_of(content) if isinstance(content, dict) else None
    key = _wrapped(content, depth, count(1)) if form is None and isinstance(content, dict) else None
    if isinstance(content, dict) and form is not None:
        try:
            yield from form.read(content, place, findings)
        except WrongPieceError as error:
            findings.flaw(place, str(error))
    elif isinstance(content, dict) and key is not None:
        yield from _read(content[key], inside(place, f".{named(key)}"), depth + 1, findings)
    else:
        findings.flaw(place, f"neither a span nor a trace: {described(content)}")


def _is_in_no_other_form(items: list[object]) -> bool:
    forms = (form_of(item) for item in items[:_LOOKED_AT] if isinstance(item, dict))
    return all(form is None or form is SPAN_TREES for form in forms)


def described(value: object, depth: int = 0) -> str:
    """What a value is and which keys it has, without any content."""
    if isinstance(value, list):
        first = f", the first {described(value[0], depth + 1)}" if value and depth < _DESCRIBED else ""
        return f"an array of {len(value)}{first}" if value else "an empty array"
    if not isinstance(value, dict):
        return kind_of(value)
    if not value:
        return "an empty object"
    return f"an object with {_keys(value)}{_list_inside(value, depth)}"


_DESCRIBED = 2
_SHOWN_KEYS = 8


def _keys(item: Fields) -> str:
    shown = ", ".join(named(key) for key in list(item)[:_SHOWN_KEYS])
    more = len(item) - _SHOWN_KEYS
    return f"the keys {shown} and {more} more" if more > 0 else f"the keys {shown}"


def _list_inside(item: Fields, depth: int) -> str:
    if depth >= _DESCRIBED:
        return ""
    key = next((key for key, value in item.items() if isinstance(value, list) and value), None)
    return f"; {named(key)} is {described(item[key], depth + 1)}" if key is not None else ""
