"""The rubric evaluator: rules first, a judge for what they leave open, points by arithmetic.

One class for every rubric.  What is shipped and what users bring differ in data alone; a subclass may change what a
report says (`report`) and nothing else about how a verdict is reached.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cached_property

from evaluators.cases import CaseKind, JsonValue, RunCase, SessionCase
from evaluators.evaluator import Evaluator, EvaluatorSettings, Screening
from evaluators.issues import Severity
from evaluators.judge.question import JudgeAnswer, Question
from evaluators.rubric.answer import RubricAnswer, answer_type
from evaluators.rubric.checking import check as holds
from evaluators.rubric.findings import Applicable, Finding, Judged, applicable, by_judge, by_rules
from evaluators.rubric.material import Material, material_of
from evaluators.rubric.model import Kind, Rubric
from evaluators.rubric.reporting import Case, issues_of, language_in, reckoning_of, report_of, told_of
from evaluators.rubric.scoring import severity_of, tally
from evaluators.rubric.settings import RubricSettings
from evaluators.rubric.wording import criteria_of, subject_of
from evaluators.verdict import Level, Method, Status, Verdict

ENGINE_VERSION = "2"
_BY_JUDGE, _BY_RULE, _LESS_WHEN_CUT, _LESS_WHEN_MADE_UP = 0.8, 0.9, 0.2, 0.3
_LOWEST = 0.1

RubricCase = RunCase | SessionCase


class RubricEvaluator(Evaluator[RubricCase]):
    """An evaluator that is a rubric.

    Args:
        rubric: the data.
        settings: threshold (None: the rubric's) and judge.
        name: what verdicts call it; by default the rubric's name.
    """

    good_label = "pass"
    bad_label = "fail"
    rules_decide = True

    def __init__(self, rubric: Rubric, settings: EvaluatorSettings | None = None, name: str | None = None) -> None:
        given = settings or EvaluatorSettings(threshold=None)
        if given.threshold is None:
            given = given.model_copy(update={"threshold": rubric.threshold / 100})
        super().__init__(given)
        self.rubric = rubric
        self.name = name or rubric.name
        session = rubric.judges is Kind.SESSION
        self.judges = CaseKind.SESSION if session else CaseKind.RUN
        self.level = Level.SESSION if session else Level.TRACE
        written = hashlib.sha256(rubric.model_dump_json().encode()).hexdigest()
        self.code_version = f"{ENGINE_VERSION}:{written[:16]}"

    @cached_property
    def _answer_type(self) -> type[RubricAnswer]:
        return answer_type(self.rubric)

    def criteria(self) -> str:
        """The prompt text in all its languages."""
        return "\n\n".join(criteria_of(self.rubric, language) for language in self.rubric.languages)

    def screen(self, case: RubricCase) -> Screening:
        """What rules show: enough to fail, or what a judge has to look into."""
        if case.run.partial:
            return Screening(status=Status.MISSING_INPUT, reason="Part of the trace never arrived.")
        material = self._material(case)
        if self.rubric.applies is not None and holds(self.rubric.applies, material).truth is False:
            return Screening(status=Status.NOT_APPLICABLE, reason="There is nothing here that this rubric is about.")
        missing = self._missing(material)
        if missing:
            return Screening(status=Status.MISSING_INPUT, reason=missing)
        applies = applicable(self.rubric, material)
        found = self._found(applies, material)
        certain = [one for one in found if one.certain]
        result = tally(self.rubric, certain, holds=lambda one: holds(one, material).truth)
        told = issues_of(self.rubric, result, [one for one in found if not one.certain])
        score = result.points / 100
        fails = self._fails(certain, score)
        # without anything to ask or to lose, what rules show is all there is
        decided = not self.rubric.bonus and (score == 0.0 or (not applies.asked and len(certain) == len(found)))
        sure = _BY_RULE if material.uncut else _BY_RULE - _LESS_WHEN_CUT
        return Screening(
            status=Status.OK if decided else Status.NEEDS_JUDGE,
            score=score if decided else None,
            confidence=sure,
            fallback_score=score if fails else None,
            fallback_confidence=sure if fails else None,
            issues=told,
            evidence=_evidence(found),
            reason="What rules can't show needs a judge.",
            details=self.details(Case(self.rubric, material, applies, found, result, is_scored=decided or fails)),
        )

    def question(self, case: RubricCase, screening: Screening) -> Question:
        """All checks that apply, with what rules suspect."""
        material = self._material(case)
        applies = applicable(self.rubric, material)
        found = self._found(applies, material)
        open_checks = {one.id for one in self._open(applies, found).asked}
        settled = [one.id for one in self.rubric.checks if one.ask and one.id not in open_checks]
        return Question(
            evaluator=self.name,
            criteria=criteria_of(self.rubric, language_in(material)),
            subject=subject_of(settled),
            answer_type=self._answer_type,
            findings=tuple(f"{one.check.id}: {one.detail}" for one in found if not one.certain),
        )

    def conclude(self, case: RubricCase, screening: Screening, answer: JudgeAnswer) -> Verdict:
        """Rules' findings and the judge's, as points."""
        content = answer.content
        if not isinstance(content, RubricAnswer):
            raise TypeError(f"{self.name}: the answer is a {type(content).__name__}")
        material = self._material(case)
        answers = content.answers(self.rubric.questions)
        applies = applicable(self.rubric, material, answers)
        certain = [one for one in self._found(applies, material) if one.certain]
        judged = by_judge(self.rubric, self._open(applies, certain), material, content, certain)
        found = [*certain, *judged.findings]
        result = tally(
            self.rubric,
            found,
            earned=sum(bonus.points(extent) for bonus, extent, _ in judged.earned),
            holds=lambda one: holds(one, material, answers).truth,
        )
        screened = Screening(
            status=Status.OK,
            issues=issues_of(self.rubric, result, ()),
            evidence=tuple(dict.fromkeys((*_evidence(found), *answer.evidence))),
            details=self.details(Case(self.rubric, material, applies, found, result, judged, content)),
        )
        confidence = self._confidence(judged, cut=answer.input_cut or not material.uncut)
        return self.scored(
            screened,
            result.points / 100,
            confidence,
            method=Method.JUDGE,
            explanation=f"{reckoning_of(result)} {content.summary}".strip(),
        )

    def details(self, case: Case) -> Mapping[str, JsonValue]:
        """What a verdict tells beyond its score: points, deductions, states of steps, and the rubric's own report."""
        if not case.is_scored:
            return told_of(case)
        return {**told_of(case), "report": report_of(case, self.name, passed=self._passes(case))}

    def texts(self, case: RubricCase) -> Mapping[str, str]:
        """Further texts by name in which quotes may stand and which conditions may search; none by default."""
        return {}

    def further(self, applies: Applicable, material: Material) -> Sequence[Finding]:
        """What checks beyond the rubric's own rules found, such as scanners; none by default."""
        return ()

    def _material(self, case: RubricCase) -> Material:
        return material_of(case, self.rubric, self.texts(case))

    def _found(self, applies: Applicable, material: Material) -> list[Finding]:
        return [*by_rules(applies.checks, material, language_in(material)), *self.further(applies, material)]

    def _passes(self, case: Case) -> bool:
        return not self._fails(case.findings, case.tally.points / 100)

    def _fails(self, findings: Sequence[Finding], score: float) -> bool:
        threshold = self.settings.threshold if self.settings.threshold is not None else 0.0
        certain = [one for one in findings if one.certain]
        return score < threshold or any(severity_of(self.rubric, one) is Severity.CRITICAL for one in certain)

    def _open(self, applies: Applicable, found: Sequence[Finding]) -> Applicable:
        """What a judge is asked for: not what a rule has shown for good."""
        shown = {one.check.id for one in found if one.certain and one.check.per != "item"}
        return Applicable(tuple(one for one in applies.checks if one.id not in shown), applies.not_due)

    def _missing(self, material: Material) -> str:
        """What isn't there of what the rubric reads, in a sentence; empty if nothing."""
        names = [one.name for one in self.rubric.inputs if one.required and one.name not in material.fields]
        if not names:
            return ""
        holds_none = material.answer is not None and material.answer.read[0] is None
        why = " Its last output holds no JSON object." if holds_none else ""
        return f"Not among what the agent put out: {', '.join(names)}.{why}"

    def _confidence(self, judged: Judged, *, cut: bool) -> float:
        said = len(judged.findings) + judged.made_up
        confidence = _BY_JUDGE - (_LESS_WHEN_CUT if cut else 0.0)
        return max(_LOWEST, confidence - (_LESS_WHEN_MADE_UP * judged.made_up / said if said else 0.0))


def _evidence(findings: Sequence[Finding]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.ref for one in findings if one.ref is not None))


def own_rubric(name: str, settings: RubricSettings) -> RubricEvaluator:
    """The evaluator of this name that a user's file defines."""
    told = EvaluatorSettings(threshold=settings.threshold, judge=settings.judge)
    return RubricEvaluator(settings.rubric, told, name)
