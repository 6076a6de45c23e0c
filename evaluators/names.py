"""Which names an evaluator may have: those that can stand in an attribute key of every backend."""

from __future__ import annotations

import keyword
import re

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_RESERVED = frozenset({"reference", "run", "trace", "session", "metadata"})


def require_name(evaluator: str) -> None:
    """Raises ValueError, `what; remedy`, when a name can't stand in an attribute key of every backend."""
    if not _NAME.fullmatch(evaluator) or evaluator in _RESERVED or keyword.iskeyword(evaluator):
        raise ValueError(
            f"{evaluator!r} is no name for an evaluator; use lower-case letters, digits and underscores, starting with "
            f"a letter, none of Python's keywords and none of {', '.join(sorted(_RESERVED))}"
        )
