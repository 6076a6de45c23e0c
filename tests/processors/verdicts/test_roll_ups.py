"""What the verdicts on a run's steps amount to."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from evaluators.cases import CallsCase, DecisionCase, Run, Turn
from evaluators.registry import EVALUATORS
from evaluators.step_settings import StepSettings
from evaluators.verdict import Level, Status
from processors.cases.spans import Placed
from processors.verdicts.marks import Mark
from processors.verdicts.roll_ups import RollUp, StepOutcome, roll_up, roll_ups_of_runs
from tests.evaluators.runs import call


def outcome(score: float | None, *, evaluator: str = "tool_invocation") -> StepOutcome:
    return StepOutcome(evaluator=evaluator, score=score, passed=None if score is None else score == 1.0)


def test_scores_are_summed_up_per_evaluator() -> None:
    outcomes = [outcome(1.0), outcome(0.5), outcome(None), outcome(1.0, evaluator="tool_selection")]
    assert roll_up(outcomes) == [
        RollUp(evaluator="tool_invocation", judged=2, unscored=1, mean=0.75, lowest=0.5, all_passed=False),
        RollUp(evaluator="tool_selection", judged=1, unscored=0, mean=1.0, lowest=1.0, all_passed=True),
    ]


def test_where_nothing_was_judged_nothing_has_passed() -> None:
    assert roll_up([outcome(None), outcome(None)]) == [RollUp(evaluator="tool_invocation", judged=0, unscored=2)]


def test_no_step_no_roll_up() -> None:
    assert roll_up([]) == []


def test_a_measure_without_a_threshold_has_a_mean_and_passes_nothing() -> None:
    (rolled,) = roll_up([StepOutcome(evaluator="m", score=0.5, passed=None)])
    assert (rolled.mean, rolled.all_passed) == (0.5, None)


RUN = Run(ref="run")


def step(tool: str, score: float | None, *, span: str | None = None) -> tuple[Placed, Mark]:
    made = call(tool, {})
    case = CallsCase(run=RUN, calls=(made,))
    status = Status.OK if score is not None else Status.NEEDS_JUDGE
    passed = None if score is None else score == 1.0
    said = Mark(0, "r", "i", "o", True, status, score, passed)
    return Placed(evaluator="tool_invocation", level=Level.SPAN, span_id=span or tool, case=case, settled=True), said


def rolled(settings: StepSettings, *steps: tuple[Placed, Mark]) -> RollUp:
    marks = {(placed.span_id, placed.evaluator): said for placed, said in steps}
    ((found,),) = roll_ups_of_runs([placed for placed, _ in steps], marks, {"tool_invocation": settings}).values()
    return found


PAY_BAD, SEARCH_OK, LOG_OK = step("pay_invoice", 0.0), step("search_docs", 1.0), step("log_event", 1.0)


def test_without_weights_every_step_counts_the_same() -> None:
    assert rolled(StepSettings(), PAY_BAD, SEARCH_OK, LOG_OK).mean == pytest.approx(2 / 3)


def test_business_weighs_more_than_look_ups_and_these_more_than_observing() -> None:
    weights = StepSettings(tool_weights={"pay_*": 3, "log_*": 0.5})
    assert rolled(weights, PAY_BAD, SEARCH_OK, LOG_OK).mean == pytest.approx(1.5 / 4.5)


def test_the_first_pattern_that_fits_gives_the_weight() -> None:
    weights = StepSettings(tool_weights={"pay_invoice": 1, "*": 2})
    assert rolled(weights, PAY_BAD, SEARCH_OK).mean == pytest.approx(2 / 3)


def test_weights_leave_the_lowest_score_and_the_counts_alone() -> None:
    found = rolled(StepSettings(tool_weights={"pay_*": 9}), PAY_BAD, SEARCH_OK)
    assert (found.lowest, found.judged, found.unscored, found.all_passed) == (0.0, 2, 0, False)


@pytest.mark.parametrize(
    ("steps", "passed"),
    [
        ([SEARCH_OK], None),
        ([PAY_BAD, SEARCH_OK], False),
        ([step("pay_invoice", 1.0), step("search_docs", 0.0)], True),
        ([step("pay_invoice", None)], None),
        ([step("pay_invoice", 1.0), step("pay_invoice", None, span="second")], None),
        ([step("pay_invoice", 0.0), step("pay_invoice", None, span="second")], False),
    ],
    ids=[
        "no critical step",
        "failed",
        "passed beside a failure",
        "not judged",
        "not all judged",
        "failed all the same",
    ],
)
def test_critical_steps_have_passed_only_if_all_were_judged_and_passed(
    steps: list[tuple[Placed, Mark]], passed: bool | None
) -> None:
    assert rolled(StepSettings(critical_tools=("pay_*",)), *steps).critical_passed is passed


def test_a_decision_is_critical_if_any_of_its_calls_is_and_counts_as_the_weightiest() -> None:
    turn = Turn(index=0, calls=(call("log_event"), call("pay_invoice", id="c2")), ref="t")
    placed = Placed(
        evaluator="tool_selection",
        level=Level.SPAN,
        span_id="t",
        case=DecisionCase(run=RUN, turn=turn),
        settled=True,
    )
    silent = Placed(
        evaluator="tool_selection",
        level=Level.SPAN,
        span_id="u",
        case=DecisionCase(run=RUN, turn=Turn(index=1, ref="u")),
        settled=True,
    )
    marks = {
        ("t", "tool_selection"): Mark(0, "r", "i", "o", True, Status.OK, 1.0, True),
        ("u", "tool_selection"): Mark(0, "r", "i", "o", True, Status.OK, 0.0, False),
    }
    settings = {"tool_selection": StepSettings(critical_tools=("pay_*",), tool_weights={"pay_*": 3})}
    ((found,),) = roll_ups_of_runs([placed, silent], marks, settings).values()
    assert (found.mean, found.critical_passed, found.all_passed) == (0.75, True, False)


@pytest.mark.parametrize("weight", [0, -1, float("inf"), float("nan")])
def test_a_weight_has_to_be_a_finite_number_above_nought(weight: float) -> None:
    with pytest.raises(ValidationError):
        StepSettings(tool_weights={"pay_*": weight})


@pytest.mark.parametrize("name", ["tool_selection", "tool_invocation", "tool_response_handling"])
def test_what_only_changes_the_roll_up_changes_no_revision(name: str) -> None:
    entry = EVALUATORS[name]
    told = entry.settings.model_validate({"critical_tools": ["pay_*"], "tool_weights": {"pay_*": 3}})
    assert entry.create(told).revision() == entry.create().revision()
