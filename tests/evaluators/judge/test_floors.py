"""Inside the judge's client imports go one way: each room knows only those named before it; others know its face."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

JUDGE = Path("evaluators", "judge")
TOP = {"client", "estimating"}
FLOORS = ("showing", "answering", "endpoint", "limits", "cache", "asking")
FILES = sorted(JUDGE.rglob("*.py"))
OTHERS = sorted(
    {path for room in ("collector", "processors", "evaluators") for path in Path(room).rglob("*.py")} - {*FILES}
)
SHARED_INSIDES = {("limits", "gate")}
"""The gates of all judges of a process."""


def floor_of(name: str) -> int:
    """Which floor the module or room of this name directly below `evaluators.judge` is on."""
    if name in FLOORS:
        return FLOORS.index(name) + 1
    return len(FLOORS) + 1 if name in TOP else 0


def taken_by(path: Path) -> set[tuple[str, ...]]:
    """The modules of the client that a file imports from, by their places below `evaluators.judge`."""
    return {
        tuple(node.module.split(".")[2:])
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("evaluators.judge.")
    }


@pytest.mark.parametrize("path", FILES, ids=str)
def test_nothing_is_taken_from_above(path: Path) -> None:
    own = floor_of(path.relative_to(JUDGE).parts[0].removesuffix(".py"))
    assert max((floor_of(names[0]) for names in taken_by(path)), default=0) <= own


def test_every_room_has_a_floor() -> None:
    assert {path.parent.name for path in FILES} == {*FLOORS, JUDGE.name}


def test_others_import_only_its_face() -> None:
    taken = {names for path in OTHERS for names in taken_by(path) if len(names) > 1}
    assert taken == SHARED_INSIDES
