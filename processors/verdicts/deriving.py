"""Verdicts that are derived from others': which of a trace's verdicts belong to the run that is judged.

In: placed cases and the marks of what was said about them, now or while the trace grew.  Out: per run the verdicts that
others can be derived from.  Nothing is judged here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from evaluators.cases import SourceVerdict
from evaluators.verdict import Level, Status
from processors.cases.spans import Placed
from processors.verdicts.marks import Marks


class Said:
    """Where something is said about each run of a trace and its steps.

    Args:
        placed: all cases of the trace.
        whole: whether the trace holds all steps of its runs. Of those of a run that is spread over several traces only
            a few are here; they say nothing of the whole, and only verdicts on the run count.
    """

    def __init__(self, placed: Iterable[Placed], *, whole: bool) -> None:
        self._keys: dict[str, dict[tuple[str, str], None]] = {}
        for one in placed:
            if one.case.run.ref is not None and (whole or one.level is Level.TRACE):
                self._keys.setdefault(one.case.run.ref, {})[one.span_id, one.evaluator] = None

    def keys(self, run: str | None, evaluators: Collection[str] | Mapping[str, object]) -> list[tuple[str, str]]:
        """Span and evaluator of what these evaluators say, or will say, about a run."""
        return [key for key in self._keys.get(run or "", ()) if key[1] in evaluators]


def sources(keys: Iterable[tuple[str, str]], marks: Marks) -> tuple[SourceVerdict, ...]:
    """What was said at these places, as far as anything was."""
    found = ((span_id, evaluator, marks.get((span_id, evaluator))) for span_id, evaluator in keys)
    return tuple(
        SourceVerdict(
            evaluator=evaluator,
            status=Status(said.status),
            score=said.score,
            passed=said.passed,
            confidence=said.confidence,
            ref=span_id,
            revision=said.revision,
            uncalibrated=said.uncalibrated,
        )
        for span_id, evaluator, said in found
        if said is not None
    )
