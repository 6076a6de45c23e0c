"""The prompt texts of the evaluators: package data beside each evaluator, read once."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def load_criteria(package: str) -> str:
    """The text of `criteria.md` in `package`.

    Raises:
        FileNotFoundError: the package was installed without its data.
    """
    return files(package).joinpath("criteria.md").read_text(encoding="utf-8").strip()
