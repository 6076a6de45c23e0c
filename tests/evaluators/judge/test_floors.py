"""Inside the judge's client imports go one way: each room knows only those named before it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

JUDGE = Path("evaluators", "judge")
TOP = {"client", "estimating"}
FLOORS = ("showing", "answering", "endpoint", "limits", "cache", "asking")
FILES = sorted(JUDGE.rglob("*.py"))


def floor_of(name: str) -> int:
    """Which floor the module or room of this name directly below `evaluators.judge` is on."""
    if name in FLOORS:
        return FLOORS.index(name) + 1
    return len(FLOORS) + 1 if name in TOP else 0


@pytest.mark.parametrize("path", FILES, ids=str)
def test_nothing_is_taken_from_above(path: Path) -> None:
    names = {
        node.module.split(".")[2]
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("evaluators.judge.")
    }
    own = floor_of(path.relative_to(JUDGE).parts[0].removesuffix(".py"))
    assert max(map(floor_of, names), default=0) <= own


def test_every_room_has_a_floor() -> None:
    assert {path.parent.name for path in FILES} == {*FLOORS, JUDGE.name}
