"""A JSON document → the requests in it, whatever it is wrapped in.

Exports come as one object, as a list, or inside an answer of an API (`data`, `traces`, `result` …).  Each object is
read in its own form; what is in none of them is told with its place.
"""

from __future__ import annotations

from collections.abc import Iterator

from collector.json_scalars import kind_of
from collector.receivers.formats.registry import form_of
from collector.receivers.formats.shape import Fields, Findings, Request, WrongPieceError, used_up

_WRAPPERS = (
    "data",
    "traces",
    "trace",
    "spans",
    "result",
    "results",
    "items",
    "records",
    "runs",
    "observations",
    "rows",
)
_MAX_WRAPPERS = 4
_LOOKED_AT = 10


def read_document(document: object, findings: Findings) -> Iterator[Request] | None:
    """The requests in a document; None when nothing in it is of a form that is read.

    Lists in it are emptied while they are read, so that a huge document isn't kept beside its requests.
    """
    found = _unwrapped(document, "", 0)
    return None if found is None else _read(found[0], found[1], findings)


def _read(content: object, place: str, findings: Findings) -> Iterator[Request]:
    if isinstance(content, dict):
        yield from _read_one(content, place, findings)
    elif isinstance(content, list):
        for index, item in used_up(content):
            yield from _read_one(item, f"{place}[{index}]", findings)


def _read_one(item: object, place: str, findings: Findings) -> Iterator[Request]:
    form = form_of(item) if isinstance(item, dict) else None
    if form is None or not isinstance(item, dict):
        findings.flaw(place, f"neither a span nor a trace: {described(item)}")
        return
    try:
        yield from form.read(item, place, findings)
    except WrongPieceError as error:
        findings.flaw(place, str(error))


def _unwrapped(content: object, place: str, depth: int) -> tuple[object, str] | None:
    """The object or list that is of a known form, and where it stands."""
    if isinstance(content, list):
        if any(isinstance(item, dict) and form_of(item) is not None for item in content[:_LOOKED_AT]):
            return content, place
        if len(content) == 1 and depth < _MAX_WRAPPERS:
            return _unwrapped(content[0], f"{place}[0]", depth + 1)
        return None
    if not isinstance(content, dict):
        return None
    if form_of(content) is not None:
        return content, place
    if depth < _MAX_WRAPPERS:
        for key in _WRAPPERS:
            inner = content.get(key)
            found = _unwrapped(inner, f"{place}.{key}", depth + 1) if inner else None
            if found is not None:
                return found
    return None


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
_KEY_CHARS = 40


def _keys(item: Fields) -> str:
    shown = ", ".join(key[:_KEY_CHARS] for key in list(item)[:_SHOWN_KEYS])
    more = len(item) - _SHOWN_KEYS
    return f"the keys {shown} and {more} more" if more > 0 else f"the keys {shown}"


def _list_inside(item: Fields, depth: int) -> str:
    if depth >= _DESCRIBED:
        return ""
    key = next((key for key, value in item.items() if isinstance(value, list) and value), None)
    return f"; {key[:_KEY_CHARS]} is {described(item[key], depth + 1)}" if key is not None else ""
