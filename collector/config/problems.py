"""What is wrong with a configuration: every problem with its place, what it is and what to do.

Problems are collected, not raised one by one, so that an operator sees all of them at once.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Path: TypeAlias = tuple[str | int, ...]
"""Where something is in the configuration: keys, and positions in lists."""


def format_path(path: Path) -> str:
    """The Collector's notation: `exporters::otlp/jaeger::tls`, list positions in brackets."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f"::{step}" if text else step
    return text


def place_of(places: Mapping[Path, str], path: Path) -> str:
    """Where the path was written, or else the nearest thing around it; empty when nothing is known."""
    while path:
        if path in places:
            return places[path]
        path = path[:-1]
    return ""


def value_at(document: object, path: Iterable[str | int]) -> object:
    """What stands at a path of a document of maps and lists; None where nothing does."""
    for step in path:
        if isinstance(document, dict):
            document = document.get(step)
        elif isinstance(document, list) and isinstance(step, int) and step < len(document):
            document = document[step]
        else:
            return None
    return document


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that has to be changed.

    `path` is the key path (empty: the file as a whole), `place` the file and line where known.
    """

    path: Path
    what: str
    remedy: str
    place: str = ""

    def __str__(self) -> str:
        where = format_path(self.path)
        if self.place:
            where = f"{where} ({self.place})" if where else self.place
        return f"{where}: {self.what}; {self.remedy}" if where else f"{self.what}; {self.remedy}"


class ConfigError(Exception):
    """The configuration can't be used. Its text lists every problem, one a line.

    `notes` are what was noticed on the way and may be the cause, such as a variable that isn't set.
    """

    def __init__(self, problems: Sequence[Problem], notes: Sequence[str] = ()) -> None:
        self.problems = tuple(problems)
        self.notes = tuple(notes)
        super().__init__("\n".join(str(problem) for problem in self.problems))


def suggestion(unknown: str, known: Iterable[str], *, otherwise: str) -> str:
    """A remedy that names the nearest known key, or else says `otherwise`."""
    nearest = difflib.get_close_matches(unknown, sorted(known), n=1, cutoff=0.6)
    return f"did you mean {nearest[0]}?" if nearest else otherwise


def listed(names: Iterable[str]) -> str:
    """Names for a message, sorted; "none" if there are none."""
    return ", ".join(sorted(names)) or "none"
