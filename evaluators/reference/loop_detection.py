"""Loop detection as DeepEval publishes it: a weighted mean of three signs of a loop.

Source: DeepEval 4.3.1, `AgentLoopDetection`.  Kept as published, known fault included: no sign alone gets below 0.5, so
six equal calls are 0.6.  `step_efficiency` is the evaluator that tells loops from polling.  In: a trace in the peer's
form with a case, or else a run, whose model turns and calls are the steps.  In a run nobody sees what was called from
within what, so cycles are not looked for there.
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from evaluators.cases import JsonValue, Run, RunCase
from evaluators.evaluator import Screening
from evaluators.reference.calls import MAX_CALLS, MAX_DEPTH, is_deep, made_calls
from evaluators.reference.loop_signals import MODEL, NO_INPUT, TOOL, Step, cycle, repetition, stagnation, steps_of
from evaluators.reference.metric import CallMetric, Measured, ReferenceSettings, lacking_calls, missing, screening
from evaluators.verdict import Method, Status

_WEIGHTS = {"tool_repetition": 0.40, "reasoning_stagnation": 0.35, "call_graph_cycles": 0.25}
_MAX_DEPTH = 200


class LoopDetectionSettings(ReferenceSettings):
    """Which signs are looked for."""

    repetition_threshold: int = Field(default=3, ge=1, description="So many equal calls are 0.5, twice as many are 0.")
    check_tool_repetition: bool = Field(default=True, description="Count equal calls.")
    check_reasoning_stagnation: bool = Field(default=True, description="Compare neighbouring outputs of models.")
    check_call_graph_cycles: bool = Field(default=True, description="Look for steps within themselves.")
    strict_mode: bool = Field(default=False, description="Score 0 unless it is 1.")


class LoopDetection(CallMetric):
    """Mean of the signs that are looked for: repetition 0.40, stagnation 0.35, cycles 0.25."""

    name = "loop_detection"
    method = Method.RULE

    def __init__(self, settings: LoopDetectionSettings | None = None) -> None:
        super().__init__(settings or LoopDetectionSettings())
        self._looking = settings or LoopDetectionSettings()

    def screen(self, case: RunCase) -> Screening:
        """The published score."""
        given = "trace" in case.options
        root: Step | None
        if given:
            root = _step(case.options["trace"], 0)
            if root is None:
                return missing("The case has no trace.")
        else:
            lacking = lacking_calls(case)
            if lacking is not None:
                return lacking
            root = _of_run(case.run)
            if not root.children:
                return missing("Nothing of what the run did was captured.")
        steps = list(steps_of(root))
        if len(steps) > MAX_CALLS:
            return Screening(status=Status.TOO_LARGE, reason=f"{len(steps)} steps are too many to compare.")
        if any(is_deep(step.input) for step in steps):
            return Screening(status=Status.TOO_LARGE, reason=f"Inputs are nested more than {MAX_DEPTH} levels deep.")
        signs = self._signs(root, steps, with_cycles=given)
        weights = sum(_WEIGHTS[sign] for sign in signs)
        score = sum(_WEIGHTS[sign] * value for sign, value in signs.items()) / weights if signs else 1.0
        found = ", ".join(sign.replace("_", " ") for sign, value in signs.items() if value < 1)
        details: dict[str, JsonValue] = dict(signs)
        measured = Measured(
            score=0.0 if self._looking.strict_mode and score < 1 else score,
            reason=f"Signs of a loop: {found}." if found else "No sign of a loop.",
            details=details,
        )
        return screening(measured, case)

    def _signs(self, root: Step, steps: list[Step], *, with_cycles: bool) -> dict[str, float]:
        looking = self._looking
        signs: dict[str, float] = {}
        if looking.check_tool_repetition:
            signs["tool_repetition"] = repetition(steps, looking.repetition_threshold)
        if looking.check_reasoning_stagnation:
            signs["reasoning_stagnation"] = stagnation(steps)
        if looking.check_call_graph_cycles and with_cycles:
            signs["call_graph_cycles"] = cycle(root)
        return signs


def _of_run(run: Run) -> Step:
    turns = tuple(Step(MODEL, turn.agent or "", output=turn.text) for turn in run.turns if turn.text)
    calls = tuple(
        Step(TOOL, call.name, input=None if call.arguments is None else dict(call.arguments))
        for call in made_calls(run)
    )
    return Step("agent", "", children=(*turns, *calls))


def _step(value: JsonValue, depth: int) -> Step | None:
    """A step of a trace in the peer's form, nested spans; what is nested deeper than any agent does is left out."""
    if not isinstance(value, Mapping) or depth > _MAX_DEPTH:
        return None
    children = value.get("children")
    below = [_step(child, depth + 1) for child in children] if isinstance(children, list) else []
    return Step(
        kind=str(value.get("type", "unknown")),
        name=str(value.get("name", "unnamed")),
        input=value.get("input", NO_INPUT),
        output=value.get("output", ""),
        children=tuple(step for step in below if step is not None),
    )
