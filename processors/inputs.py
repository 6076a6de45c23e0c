"""Whether evaluators find in a trace what they need, by asking them: rules only, no judge, nothing scored.

In: a `Transcript`.  Out: for each evaluator that needs nothing but a trace, whether it has all inputs for
everything it would judge.
"""

from __future__ import annotations

from collections.abc import Mapping

from evaluators.cases import Case, ResponseCase, RunCase
from evaluators.evaluation import judge_by_rules
from evaluators.registry import EVALUATORS
from evaluators.rules.run_index import forget
from evaluators.verdict import Status
from processors.cases.spans import PLACERS
from processors.cases.traces import place_runs
from processors.reading import absent
from processors.reading.readiness import REQUIRED
from processors.transcript import Transcript

# those whose inputs a trace can have; what else there is needs a reference, a policy or other verdicts
_EVALUATORS = {name: EVALUATORS[name].create() for name in REQUIRED}


def inputs_found(transcript: Transcript) -> Mapping[str, bool | None]:
    """Per evaluator True when no input is missing, False when one is, None when there is nothing for it to judge.

    Where it wasn't captured what a model answered, nobody knows whether it called tools: their evaluators lack that.
    """
    blind = any(absent.TOOL_CALLS in run.missing for run in transcript.runs)
    found: dict[str, bool | None] = {}
    for name, evaluator in _EVALUATORS.items():
        placer = PLACERS.get(evaluator.judges)
        placed = place_runs(transcript, name) if placer is None else placer(transcript, name, True)
        settled = [one.case for one in placed if one.settled and not (transcript.headless and _goes_on(one.case))]
        statuses = {judge_by_rules(evaluator, case).status for case in settled} - {Status.NOT_APPLICABLE}
        if statuses:
            found[name] = Status.MISSING_INPUT not in statuses
        else:
            found[name] = False if blind and placer is not None else None
    for run in transcript.runs:
        forget(run)
    return found


def _goes_on(case: Case) -> bool:
    """Whether a piece of a run ends with calls, so that what became of them is judged in the trace that goes on."""
    asked = case.run.turns[-1].calls if case.run.turns else ()
    if isinstance(case, ResponseCase):
        return case.turn is None and any(call in asked for call in case.calls)
    return isinstance(case, RunCase) and bool(asked) and case.run.answered is None and not case.run.aborted
