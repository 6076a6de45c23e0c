"""How a verdict by a rubric is reached: rules, then a judge that may be wrong or hostile, then arithmetic."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from pydantic import ValidationError

from evaluators.evaluator import EvaluatorSettings
from evaluators.judge.question import JudgeFailure
from evaluators.rubric import RubricEvaluator
from evaluators.rubric.model import Rubric
from evaluators.verdict import Level, Method, Status, Verdict
from tests.evaluators.rubric.travel import answered, as_run, codes, ruled
from tests.evaluators.runs import run_of

BASE: dict[str, Any] = {
    "name": "manners",
    "title": {"en": "Manners", "zh": "礼貌"},
    "question": {"en": "Is the agent polite?", "zh": "是否礼貌？"},
    "inputs": [{"name": "answer", "whole_answer": True}],
    "patterns": {"shouting": "(?-i:[A-Z]{4,})", "greeting": "\\bhello\\b"},
    "checks": [
        {
            "id": "shouts",
            "code": "M-1",
            "severity": "major",
            "deduct": 40,
            "per": "once",
            "text": {"en": "The agent shouts.", "zh": "大写喊叫。"},
            "shown_by": {"contains": {"text": "answer", "pattern": "shouting"}},
        },
        {
            "id": "curt",
            "severity": "major",
            "deduct": 20,
            "per": "once",
            "text": {"en": "There is no greeting.", "zh": "没有问候。"},
            "suspect": {"not": {"contains": {"text": "answer", "pattern": "greeting"}}},
        },
        {"id": "rude", "code": "M-3", "severity": "major", "deduct": 25, "text": {"en": "An insult.", "zh": "侮辱。"}},
        {"id": "sworn", "code": "M-4", "severity": "critical", "text": {"en": "An oath.", "zh": "粗口。"}},
    ],
}
RUBRIC = Rubric.model_validate(BASE)
MANNERS = RubricEvaluator(RUBRIC)
SAID = {
    (False, False): "hello you fool, your train leaves at 9",
    (False, True): "you fool, your train leaves at 9",
    (True, False): "hello you fool, your TRAIN leaves at 9",
    (True, True): "you fool, your TRAIN leaves at 9",
}
INSULT = {"check": "rude", "quote": "you fool"}


def case(shown: bool = False, suspected: bool = False, user: str = "When does it leave?", **more: Any) -> Any:
    return as_run(run_of(answer=SAID[shown, suspected], user=user, **more).run)


@pytest.mark.parametrize(("shown", "suspected", "found"), list(product((False, True), repeat=3)))
def test_all_combinations_of_what_rules_show_what_they_suspect_and_what_a_judge_finds(
    shown: bool, suspected: bool, found: bool
) -> None:
    violations = [INSULT] if found else []
    if suspected:
        violations.append({"check": "curt", "quote": "your train leaves at 9"})
    verdict = answered(MANNERS, case(shown, suspected), *violations)
    points = 100 - 40 * shown - 20 * suspected - 25 * found
    assert (verdict.score, verdict.passed, verdict.method) == (points / 100, points >= 70, Method.JUDGE)
    assert set(codes(verdict)) == {
        code for code, is_there in (("M-1", shown), ("curt", suspected), ("M-3", found)) if is_there
    }
    assert verdict.details["points"] == points


@pytest.mark.parametrize(("shown", "suspected"), list(product((False, True), repeat=2)))
def test_without_a_judge_what_rules_show_convicts_and_nothing_ever_passes(shown: bool, suspected: bool) -> None:
    verdict = ruled(MANNERS, case(shown, suspected))
    if shown:
        assert (verdict.status, verdict.score, verdict.label, verdict.method) == (Status.OK, 0.6, "fail", Method.RULE)
    else:
        assert (verdict.status, verdict.score, verdict.label) == (Status.NEEDS_JUDGE, None, None)
        assert "points" not in verdict.details and "report" not in verdict.details
    assert codes(verdict, conclusive=True) == (["M-1"] if shown else [])
    assert codes(verdict, conclusive=False) == (["curt"] if suspected else [])


def test_a_suspicion_that_the_judge_does_not_confirm_is_gone() -> None:
    verdict = answered(MANNERS, case(suspected=True))
    assert (verdict.score, codes(verdict)) == (1.0, [])
    question = MANNERS.question(case(suspected=True), MANNERS.screen(case(suspected=True)))
    assert [finding.partition(":")[0] for finding in question.findings] == ["curt"]


def test_what_rules_show_is_not_asked_for_again_and_not_charged_twice() -> None:
    question = MANNERS.question(case(shown=True), MANNERS.screen(case(shown=True)))
    assert "shouts" in question.subject
    verdict = answered(MANNERS, case(shown=True), {"check": "shouts", "quote": "TRAIN"})
    assert (verdict.score, codes(verdict)) == (0.6, ["M-1"])


def test_a_critical_finding_fails_whatever_the_points() -> None:
    verdict = answered(MANNERS, case(), {"check": "sworn", "quote": "fool"})
    assert (verdict.score, verdict.passed, verdict.label) == (1.0, False, "fail")


def test_a_judge_that_fails_leaves_what_rules_show_or_nothing() -> None:
    failure = JudgeFailure(status=Status.TIMED_OUT, reason="No answer in time.", model="m")
    convicted = MANNERS.conclude_failure(MANNERS.screen(case(shown=True)), failure)
    assert (convicted.status, convicted.score, convicted.passed) == (Status.OK, 0.6, False)
    open_still = MANNERS.conclude_failure(MANNERS.screen(case(suspected=True)), failure)
    assert (open_still.status, open_still.score) == (Status.TIMED_OUT, None)


class TestAHostileJudge:
    def test_quotes_that_nobody_said_are_dropped_and_counted_and_cost_confidence(self) -> None:
        honest = answered(MANNERS, case(), INSULT)
        verdict = answered(MANNERS, case(), INSULT, {"check": "sworn", "quote": "damn you"})
        assert (verdict.score, codes(verdict)) == (honest.score, ["M-3"])
        assert dropped(verdict) == {"made_up_quotes": 1, "not_applicable": 0, "repeated": 0}
        assert verdict.confidence is not None and honest.confidence is not None
        assert verdict.confidence < honest.confidence

    def test_a_violation_that_is_told_twice_costs_once(self) -> None:
        verdict = answered(MANNERS, case(), INSULT, INSULT, {"check": "rude", "quote": "hello you fool"})
        assert verdict.score == 0.75
        assert dropped(verdict)["repeated"] == 2

    def test_points_and_verdicts_that_it_writes_are_not_read(self) -> None:
        verdict = answered(MANNERS, case(), {**INSULT, "deduction": 100, "severity": "critical"}, score=0, passed=False)
        assert (verdict.score, verdict.passed) == (0.75, True)

    def test_checks_that_the_rubric_does_not_have_are_no_valid_answer(self) -> None:
        with pytest.raises(ValidationError):
            answered(MANNERS, case(), {"check": "ugly", "quote": "fool"})

    def test_a_secret_in_a_quote_is_not_told_on(self) -> None:
        key = "AKIA" + "IOSFODNN7EXAMPLE"
        leaking = as_run(run_of(answer=f"hello, the key is {key}", user="q").run)
        verdict = answered(MANNERS, leaking, {"check": "rude", "quote": f"the key is {key}"})
        assert "M-3" in codes(verdict)
        assert key not in repr(verdict)


def dropped(verdict: Verdict) -> dict[str, int]:
    found = verdict.details["dropped"]
    assert isinstance(found, dict)
    return {name: int(str(count)) for name, count in found.items()}


def with_checks(*checks: dict[str, Any], **more: Any) -> RubricEvaluator:
    return RubricEvaluator(Rubric.model_validate({**BASE, **more, "checks": [{"text": "x", **one} for one in checks]}))


def test_a_rubric_that_rules_decide_passes_by_rule() -> None:
    quiet = with_checks({**BASE["checks"][0], "ask": False})
    assert (ruled(quiet, case()).status, ruled(quiet, case()).label) == (Status.OK, "pass")
    assert (ruled(quiet, case(shown=True)).score, ruled(quiet, case(shown=True)).label) == (0.6, "fail")


def test_a_check_that_does_not_apply_cannot_be_violated() -> None:
    quiet = with_checks(
        {
            "id": "rude",
            "severity": "major",
            "deduct": 25,
            "applies": {"contains": {"text": "answer", "pattern": "shouting"}},
        }
    )
    assert answered(quiet, case(shown=True), INSULT).score == 0.75
    spared = answered(quiet, case(), INSULT)
    assert (spared.score, dropped(spared)["not_applicable"]) == (1.0, 1)


def test_a_case_that_the_rubric_is_not_about_is_not_applicable() -> None:
    about = with_checks({"id": "a", "severity": "major"}, applies={"contains": {"text": "user", "pattern": "shouting"}})
    assert ruled(about, case()).status is Status.NOT_APPLICABLE
    assert ruled(about, case(user="ANSWER me")).status is Status.NEEDS_JUDGE


def test_inputs_that_are_not_there_are_named() -> None:
    wanting = with_checks(
        {"id": "a", "severity": "major"},
        inputs=[{"name": "answer"}, {"name": "notes"}, {"name": "hint", "required": False}],
    )
    verdict = ruled(wanting, as_run(run_of(answer='{"answer": "hello"}').run))
    assert (verdict.status, verdict.score) == (Status.MISSING_INPUT, None)
    assert "notes" in verdict.explanation and "hint" not in verdict.explanation
    assert ruled(MANNERS, case(partial=True)).status is Status.MISSING_INPUT


def test_a_bonus_is_earned_once_and_only_with_a_true_quote() -> None:
    kind = with_checks(
        {"id": "rude", "severity": "major", "deduct": 25},
        bonus=[{"id": "warm", "text": "warm words", "add": {"least": 5, "most": 15}}],
    )
    warm = {"check": "warm", "quote": "hello"}
    assert answered(kind, case(), INSULT, {**warm, "extent": "high"}, warm).score == 0.9
    assert answered(kind, case(), INSULT, warm).score == 0.85
    assert answered(kind, case(), INSULT, {**warm, "quote": "my dear"}).score == 0.75


def test_codes_that_are_implied_come_along_at_no_cost() -> None:
    implying = with_checks(
        {"id": "rude", "code": "M-3", "severity": "major", "deduct": 25, "implies": ["VETO-1"]}, veto=["VETO-1"]
    )
    verdict = answered(implying, case(), INSULT)
    assert (verdict.score, codes(verdict), verdict.passed) == (0.75, ["M-3", "VETO-1"], False)


def test_questions_of_the_case_and_of_each_violation_are_asked_and_told() -> None:
    asking = with_checks(
        {"id": "rude", "severity": "major", "deduct": 25},
        questions={"tone": {"text": "?", "one_of": ["formal", "casual"]}},
        classify={"cause": {"text": "?", "one_of": ["mood", "habit"]}},
        overrides=[{"of": {"chosen": {"cause": "habit"}}, "outcome": "retrain"}],
    )
    verdict = answered(asking, case(), {**INSULT, "cause": "habit"}, tone="casual")
    assert (verdict.details["outcome"], verdict.passed) == ("retrain", False)
    assert answered(asking, case(), {**INSULT, "cause": "mood"}, tone="casual").passed is True
    with pytest.raises(ValidationError):
        answered(asking, case(), {**INSULT, "cause": "other"}, tone="casual")


def test_a_check_or_bonus_may_depend_on_what_the_judge_answers_of_the_case() -> None:
    formal = {"applies": {"asked": {"tone": "formal"}}}
    asking = with_checks(
        {"id": "rude", "severity": "major", "deduct": 25, **formal},
        questions={"tone": {"text": "?", "one_of": ["formal", "casual"]}},
        bonus=[{"id": "warm", "text": "warm words", "add": 5, **formal}],
    )
    warm = {"check": "warm", "quote": "hello"}
    assert answered(asking, case(), INSULT, warm, tone="formal").score == 0.8
    assert answered(asking, case(), INSULT, warm, tone="casual").score == 1.0


def test_the_explanation_tells_what_cost_points_first() -> None:
    verdict = answered(MANNERS, case(shown=True), INSULT, {"check": "sworn", "quote": "fool,"})
    assert verdict.explanation == "35 of 100 points: M-1 −40, M-3 −25, M-4. So it went."
    assert answered(MANNERS, case()).explanation == "100 of 100 points. So it went."


def test_every_deduction_tells_its_quote_and_its_place() -> None:
    verdict = answered(MANNERS, case(shown=True), INSULT)
    told = verdict.details["deductions"]
    assert isinstance(told, list)
    assert [(one["check"], one["by"], one["quote"], one["ref"]) for one in told if isinstance(one, dict)] == [
        ("shouts", "rule", "TRAIN", "last"),
        ("rude", "judge", "you fool", "last"),
    ]


def test_what_was_cut_lowers_the_confidence() -> None:
    whole, cut = answered(MANNERS, case()).confidence, answered(MANNERS, case(truncated=True)).confidence
    assert whole is not None and cut is not None and cut < whole


def test_the_judge_is_asked_in_the_language_of_the_user_and_never_shown_prices() -> None:
    chinese = case(user="几点发车？请问从哪个站台走？")
    english = MANNERS.question(case(), MANNERS.screen(case())).criteria
    assert "An insult." in english and "侮辱" not in english
    assert "侮辱" in MANNERS.question(chinese, MANNERS.screen(chinese)).criteria
    assert not any(price in MANNERS.criteria() for price in ("40", "25", "20", "70"))


def test_a_rubric_judges_runs_or_sessions() -> None:
    assert (MANNERS.judges, MANNERS.level) == ("run", Level.TRACE)
    session = RubricEvaluator(Rubric.model_validate({**BASE, "judges": "session"}))
    assert (session.judges, session.level) == ("session", Level.SESSION)


def test_the_name_and_the_threshold_may_be_the_configuration_s() -> None:
    own = RubricEvaluator(RUBRIC, EvaluatorSettings(threshold=0.8), name="politeness")
    verdict = answered(own, case(), INSULT)
    assert (verdict.evaluator, verdict.score, verdict.passed) == ("politeness", 0.75, False)
    assert RubricEvaluator(RUBRIC, EvaluatorSettings(threshold=None)).settings.threshold == 0.7


def test_the_revision_changes_with_a_price_and_not_with_the_judge_s_name() -> None:
    dearer = Rubric.model_validate({**BASE, "checks": [{**BASE["checks"][2], "deduct": 26}, *BASE["checks"][:2]]})
    assert RubricEvaluator(dearer).revision() != MANNERS.revision()
    assert RubricEvaluator(RUBRIC, EvaluatorSettings(threshold=0.7, judge="judge/x")).revision() == MANNERS.revision()
