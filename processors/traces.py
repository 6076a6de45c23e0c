"""Trace level: the runs of a trace as cases.

In: a `Transcript`.  Out: cases placed on each run's span.
"""

from __future__ import annotations

from collections.abc import Iterator

from evaluators.cases import Run, RunCase
from evaluators.verdict import Level
from processors.reading.absent import open_calls
from processors.spans import Placed
from processors.transcript import Transcript


def place_runs(transcript: Transcript, evaluator: str) -> Iterator[Placed]:
    """One case per run, for a trace that is complete. One that may go on in another trace is never settled.

    A span of an agent that encloses nothing and says nothing, as the making of an agent leaves one, is no run.
    """
    for run in transcript.runs:
        if run.ref is not None and (run.turns or run.loose_calls or run.user_inputs or run.final_answer):
            settled = not (transcript.headless and _is_left_open(run))
            yield Placed(
                evaluator=evaluator, level=Level.TRACE, span_id=run.ref, case=RunCase(run=run), settled=settled
            )


def _is_left_open(run: Run) -> bool:
    """Whether the last that is known of a run are calls, and nobody knows what came of them."""
    return run.answered is None and not run.aborted and bool(run.turns) and bool(open_calls(run.turns[-1]))
