"""What a scenario is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from tests.chaos.stage import Scale, Stage

Run = Callable[[Path, Scale, int], Awaitable[Stage]]
"""Given an empty folder, how much to do, and a seed."""


class CannotRunError(Exception):
    """The machine lacks something that the scenario needs; says what."""


@dataclass(frozen=True)
class Scenario:
    """`promise` in words; `in_tests`: whether it is in the short form, too."""

    name: str
    promise: str
    run: Run
    in_tests: bool = True
