"""kill -9 at any moment: nothing that was promised is lost, and what comes twice was in flight."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
KILLS = 20


@pytest.mark.parametrize("durability", ["process", "disk"])
def test_a_process_that_is_killed_again_and_again_loses_nothing(tmp_path: Path, durability: str) -> None:
    command = [sys.executable, "-m", "tests.collector.journal.killed_process", str(tmp_path), durability, str(KILLS)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    assert found["promises"] > KILLS
    # What is done is noted a moment later; most of it was noted.
    assert found["repeats"] < found["promises"] / 2
