"""The three packages import each other in one direction, and the data plane knows nothing of agents."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOMS = ("collector", "processors", "evaluators")
ALLOWED = {"collector": set(ROOMS), "processors": {"processors", "evaluators"}, "evaluators": {"evaluators"}}
# In the collector only what puts the parts together, the commands, and what judges by a configuration:
JOINING = {Path("collector", name) for name in ("service.py", "components.py", "cross_checks.py")}
# How the judging process is seen from outside:
APART = {Path("collector", "judging", name) for name in ("process.py", "channel.py", "jobs.py")}
SHARED = {"evaluators.duration", "evaluators.judge.sqlite_file", "evaluators.yaml_text"}
FILES = [path for room in ROOMS for path in sorted(Path(room).rglob("*.py"))]


def imported(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return {name for name in found if name.split(".")[0] in ROOMS}


@pytest.mark.parametrize("path", FILES, ids=str)
def test_imports_go_one_way(path: Path) -> None:
    room = path.parts[0]
    assert {name.split(".")[0] for name in imported(path)} <= ALLOWED[room]
    joins = path in JOINING or "commands" in path.parts or ("judging" in path.parts and path not in APART)
    if room == "collector" and not joins:
        assert {name for name in imported(path) if not name.startswith("collector")} <= SHARED
