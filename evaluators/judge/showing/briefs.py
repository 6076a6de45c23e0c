"""Turns in a line each, and stretches of turns in one line, for runs that are too long to be told in full.

In: briefs of turns.  Out: our own words: which tools were called, under which aliases, what came of it, how much there
would be to read.  Nothing of the run's texts is in it, so that a judge knows what it wasn't shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from evaluators.judge.showing.pieces import Brief

_MOST_NAMED = 12


def told_in_a_line(brief: Brief) -> str:
    """One turn: ``turn 7 [e12], in short: result of c8, 2300 characters; says 90 characters; calls c9 find_hotel``."""
    parts = [
        f"result of {one.call}, " + ("the call failed" if one.failed else f"{one.chars} characters")
        for one in brief.returned
    ]
    if brief.said_chars:
        parts.append(f"says {brief.said_chars} characters")
    if brief.calls:
        parts.append("calls " + ", ".join(f"{alias} {name}" for alias, name in brief.calls))
    return f"{brief.name}{brief.place}, in short: {'; '.join(parts) or 'nothing recorded'}"


def told_together(briefs: Sequence[Brief]) -> str:
    """Consecutive turns: their calls counted by tool, the failed ones by name."""
    if len(briefs) == 1:
        return told_in_a_line(briefs[0])
    calls = [call for brief in briefs for call in brief.calls]
    returned = [one for brief in briefs for one in brief.returned]
    failed = [one.call for one in returned if one.failed]
    counted = Counter(name for _, name in calls)
    parts = []
    if calls:
        which = f"{calls[0][0]} to {calls[-1][0]}" if len(calls) > 1 else calls[0][0]
        parts.append(f"calls {which}: " + _some([f"{name} {times} times" for name, times in counted.most_common()]))
    if failed:
        parts.append(f"failed: {_some(failed)}")
    elif returned:
        parts.append("none failed")
    chars = sum(one.chars for one in returned) + sum(brief.said_chars for brief in briefs)
    parts.append(f"{chars} characters of results and words")
    return f"{briefs[0].name} to {briefs[-1].name}, in short: {'; '.join(parts)}"


def _some(items: Sequence[str]) -> str:
    more = len(items) - _MOST_NAMED
    return ", ".join(items[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
