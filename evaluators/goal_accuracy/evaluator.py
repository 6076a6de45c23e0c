"""The goal accuracy evaluator: aborted runs by rule, conditions by a judge, yes or no by arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluators.cases import CaseKind, JsonValue, Role, Run, RunCase
from evaluators.criteria import load_criteria
from evaluators.evaluator import Evaluator, Screening
from evaluators.goal_accuracy.answer import Finding, GoalAnswer, ReferenceAnswer, reference_answer
from evaluators.goal_accuracy.expectations import MOST, Expectation, expectations, how_many
from evaluators.goal_accuracy.settings import GoalAccuracySettings
from evaluators.issues import IssueCode
from evaluators.judge.question import JudgeAnswer, Question
from evaluators.rules.evidence import plain
from evaluators.run_ends import without_outcome
from evaluators.verdict import Issue, Level, Method, Status, Verdict, issue

_BY_JUDGE, _LESS_WHEN_CUT, _LESS_WHEN_UNQUOTED = 0.8, 0.2, 0.2


@dataclass(frozen=True, slots=True)
class _Compared:
    """A condition, what was found of it, and whether it is the user's own (or the reference's) beyond doubt."""

    wanted: str
    finding: Finding
    code: IssueCode
    vouched: bool
    told: dict[str, JsonValue]


class GoalAccuracy(Evaluator[RunCase]):
    """Ragas' agent goal accuracy: 1 if the record shows every condition of the goal to be met, else 0."""

    name = "goal_accuracy"
    judges = CaseKind.RUN
    level = Level.TRACE
    good_label = "pass"
    bad_label = "fail"
    code_version = "1"
    facts = ("user_input", "final_answer")

    def __init__(self, settings: GoalAccuracySettings | None = None) -> None:
        super().__init__(settings or GoalAccuracySettings())
        self._task = (settings or GoalAccuracySettings()).task

    def criteria(self) -> str:
        """The prompt text."""
        return load_criteria(__package__ or "")

    def screen(self, case: RunCase) -> Screening:
        """Fail a run that is known to have ended without an answer; everything else needs a judge."""
        broken_off = without_outcome(case.run, task_known=bool(self._given_task(case)))
        if broken_off is None and how_many(case.reference) > MOST:
            reason = f"The reference expects {how_many(case.reference)} things; up to {MOST} can be asked about."
            return Screening(status=Status.TOO_LARGE, reason=reason)
        return broken_off or Screening(status=Status.NEEDS_JUDGE, reason="Whether the goal was reached needs a judge.")

    def question(self, case: RunCase, screening: Screening) -> Question:
        """Is every expectation of the reference met, or every condition that the user named?"""
        expected = expectations(case.reference, case.run)
        parts = ["The whole run."]
        task = self._given_task(case)
        if task:
            parts.append(f"The task, as given from outside the run: {task}")
        parts += [f"{one.name}, expected from outside the run: {one.text}" for one in expected]
        return Question(
            evaluator=self.name,
            criteria=self.criteria(),
            subject="\n".join(parts),
            answer_type=reference_answer(tuple(one.name for one in expected)) if expected else GoalAnswer,
            findings=tuple(f"{one.name}: {one.seen}" for one in expected if one.seen is not None),
        )

    def conclude(self, case: RunCase, screening: Screening, answer: JudgeAnswer) -> Verdict:
        """0 as soon as something wasn't met; no score if that can't be known; else 1."""
        content = answer.content
        if isinstance(content, ReferenceAnswer):
            compared = [_expected(one, content.finding(one.name)) for one in expectations(case.reference, case.run)]
        elif isinstance(content, GoalAnswer):
            said = _user_words(case.run, self._given_task(case))
            compared = [_wished(one.quote, one, said) for one in content.conditions]
        else:
            raise TypeError(f"{self.name}: the answer is a {type(content).__name__}")
        details: dict[str, JsonValue] = {
            "compared_with": "reference" if isinstance(content, ReferenceAnswer) else "user",
            "reference": None if case.reference is None else case.reference.source,
            "conditions": [one.told for one in compared],
        }
        found = Screening(
            status=Status.OK,
            issues=tuple(_issue(one, case.run) for one in compared if one.finding.met == "no"),
            evidence=tuple(
                dict.fromkeys((*(ref for one in compared for ref in one.finding.evidence), *answer.evidence))
            ),
            details=details,
        )
        if not found.issues and any(one.finding.met == "unknown" for one in compared):
            said = f"Whether all of the goal was reached could not be verified: {content.explanation}"
            return self.unscored(found, Status.MISSING_INPUT, said)
        confidence = _BY_JUDGE
        if answer.input_cut or case.run.truncated:
            confidence -= _LESS_WHEN_CUT
        if not all(one.vouched for one in compared):
            confidence -= _LESS_WHEN_UNQUOTED
        score = 0.0 if found.issues else 1.0
        return self.scored(found, score, confidence, method=Method.JUDGE, explanation=_explained(content, compared))

    def _given_task(self, case: RunCase) -> str | None:
        """The task from the reference or the configuration; None when it is what the user says in the run."""
        if case.reference is not None and case.reference.task:
            return case.reference.task
        given = case.options.get("task")
        return given if isinstance(given, str) and given.strip() else self._task


def _expected(expected: Expectation, finding: Finding) -> _Compared:
    told: dict[str, JsonValue] = {"kind": expected.kind, "expected": expected.text, "by_code": expected.found}
    return _Compared(expected.text, finding, expected.code, True, {**told, **_told(finding)})


def _wished(quote: str, finding: Finding, said: str) -> _Compared:
    words = " ".join(plain(quote).split())
    quoted = bool(words) and words in said
    told: dict[str, JsonValue] = {"kind": "user's words", "expected": quote, "quoted": quoted}
    return _Compared(quote, finding, IssueCode.MISSING_REQUIREMENT, quoted, {**told, **_told(finding)})


def _told(finding: Finding) -> dict[str, JsonValue]:
    return {"shown": finding.shown, "met": finding.met, "evidence": list(finding.evidence)}


def _issue(compared: _Compared, run: Run) -> Issue:
    ref = next(iter(compared.finding.evidence), run.ref)
    return issue(compared.code, f"Not reached: {compared.wanted[:200]} ({compared.finding.shown})", ref=ref)


def _explained(content: GoalAnswer | ReferenceAnswer, compared: Sequence[_Compared]) -> str:
    met = sum(one.finding.met == "yes" for one in compared)
    against = (
        "expectations of the reference" if isinstance(content, ReferenceAnswer) else "conditions that the user named"
    )
    return f"{met} of {len(compared)} {against} met. {content.explanation}"


def _user_words(run: Run, task: str | None) -> str:
    """All that the user said, the way quotes are looked for in it."""
    context = run.turns[-1].context if run.turns else None
    heard = [message.text for message in context or () if message.role is Role.USER and message.text]
    return " ".join(plain("\n".join((task or "", *(run.user_inputs or ()), *heard))).split())
