"""How names, JSON and text of a run are written so that they fit into a request and can't be mistaken for our words."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from evaluators.cases import JsonValue

_LONGEST_NAME = 64
_FRAMES = re.compile(
    r"(?<=Traceback \(most recent call last\):\n)(?:[ \t]+[^\n]*\n)+|(?:\n[ \t]+at [^\n]*:\d+\)?(?=\n|$))+"
)
_PLAIN_NAME = re.compile(rf"[\w.:/-]{{1,{_LONGEST_NAME}}}")


def plain_name(name: str) -> str:
    """A name chosen by the judged side, made harmless: names stand outside the fence."""
    if _PLAIN_NAME.fullmatch(name):
        return name
    return '"' + re.sub(r"[^\w.:/ -]+", "?", name)[:_LONGEST_NAME] + '"'


def compact_json(value: Mapping[str, JsonValue]) -> str:
    """JSON without blanks; what can't be written as JSON is said to be so."""
    try:
        return json.dumps(dict(value), ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        return "(can't be shown)"


def clean(text: str) -> str:
    """The text without lone surrogates, which no request can carry."""
    return text.encode("utf-8", "replace").decode("utf-8")


def without_frames(text: str) -> str:
    """The text of an error without the places in programs that Python and JavaScript list in it."""
    return _FRAMES.sub("", text)
