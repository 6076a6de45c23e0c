"""Trace level: the runs of a trace as cases.

In: a `Transcript`, and what should have come of its runs where that is known.  Out: cases placed on each run's span.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evaluators.cases import Reference, Run, RunCase
from evaluators.verdict import Level
from processors.cases.spans import Placed
from processors.cases.sub_runs import sub_runs
from processors.reading.absent import open_calls
from processors.transcript import Transcript


def place_runs(
    transcript: Transcript,
    evaluator: str,
    references: Mapping[str, Reference] | None = None,
    *,
    per_agent: bool = False,
) -> Iterator[Placed]:
    """One case per run, for a trace that is complete. One that may go on in another trace is never settled.

    A span of an agent that encloses nothing and says nothing, as the making of an agent leaves one, is no run.

    Args:
        transcript: the trace.
        evaluator: who is to judge.
        references: by the run's span, what should have come of it.
        per_agent: what agents did that other agents had asked are cases too, on the spans of these agents.
    """
    for run in transcript.runs:
        if run.ref is not None and (run.turns or run.loose_calls or run.user_inputs or run.final_answer):
            settled = not (transcript.headless and _is_left_open(run))
            case = RunCase(run=run, reference=(references or {}).get(run.ref))
            yield Placed(evaluator=evaluator, level=Level.TRACE, span_id=run.ref, case=case, settled=settled)
        for inner in sub_runs(run) if per_agent else ():
            if inner.ref is not None:
                case = RunCase(run=inner)
                yield Placed(evaluator=evaluator, level=Level.TRACE, span_id=inner.ref, case=case, settled=True)


def _is_left_open(run: Run) -> bool:
    """Whether the last that is known of a run are calls, and nobody knows what came of them."""
    return run.answered is None and not run.aborted and bool(run.turns) and bool(open_calls(run.turns[-1]))
