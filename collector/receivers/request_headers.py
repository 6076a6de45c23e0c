"""The headers of a request as one mapping."""

from __future__ import annotations

from collections.abc import Iterable


def as_mapping(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Header names, in lower case already, to values; one that is repeated has all its values, with commas between.

    So that nobody can hide a second value of a header behind the first.
    """
    found: dict[str, str] = {}
    for name, value in pairs:
        found[name] = f"{found[name]}, {value}" if name in found else value
    return found
