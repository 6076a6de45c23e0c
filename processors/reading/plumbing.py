"""Calls that are plumbing of a framework and no use of a tool: hand-offs and output tools."""

from __future__ import annotations

import re

_OUTPUT = re.compile(r"^(final_answer|final_result(_.+)?|finish)$", re.IGNORECASE)


def is_handoff(name: str) -> bool:
    """Whether a call of this name only hands over to another agent or gives the answer."""
    return bool(re.match(r"transfer_(back_)?to_|hand_?offs?(_|$)", _plain(name))) or is_output(name)


def is_output(name: str) -> bool:
    """Whether a call of this name gives the run's answer in its arguments."""
    return _OUTPUT.match(name) is not None


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
