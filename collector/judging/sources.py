"""What a configuration leaves evaluators without that derive their verdicts from others'.

In go the evaluators that are configured, out come sentences for the operator.  It is no error: a verdict that isn't
there leaves a part out, or the derived one without a score, and says so.
"""

from __future__ import annotations

from collections.abc import Collection

from evaluators.registry import EVALUATORS


def without_sources(evaluators: Collection[str]) -> list[str]:
    """One note for each evaluator that needs others which aren't configured: what is lost, and what to add where."""
    notes = []
    for name in evaluators:
        needs = EVALUATORS[name].evaluator_type.needs if name in EVALUATORS else {}
        lost: dict[str, list[str]] = {}
        for needed, what in needs.items():
            if needed not in evaluators:
                lost.setdefault(what, []).append(needed)
        if lost:
            missing = ", ".join(one for names in lost.values() for one in names)
            told = "; ".join(f"{what} ({', '.join(names)})" for what, names in lost.items())
            notes.append(
                f"processors.{name} has no verdicts of {missing}: {told}; add them to processors and pipelines"
            )
    return notes
