"""What a verdict by a rubric tells: issues, the reckoning, states of steps, and the report in the rubric's own fields.

In: everything that is known of a case.  Out: issues and JSON values.  Quotes are redacted here, whoever brought them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evaluators.cases import JsonValue
from evaluators.issues import Severity
from evaluators.rubric.answer import RubricAnswer
from evaluators.rubric.findings import Applicable, Finding, Judged
from evaluators.rubric.material import Material
from evaluators.rubric.model import Report, ReportFilter, Rubric
from evaluators.rubric.scoring import Charge, Tally, severity_of
from evaluators.rubric.wording import language_of
from evaluators.rules.secrets import redact, shown
from evaluators.verdict import Issue

_LONGEST_QUOTE = 300
_MOST_NAMED = 6
_WORST = ("skipped", "out_of_order", "poor")


@dataclass(frozen=True, slots=True)
class Case:
    """A case as far as it is known: by rules alone, or with what a judge said.

    `is_scored`: what is known is enough for points.
    """

    rubric: Rubric
    material: Material
    applies: Applicable
    findings: Sequence[Finding]
    tally: Tally
    judged: Judged | None = None
    answer: RubricAnswer | None = None
    is_scored: bool = True


def issues_of(rubric: Rubric, result: Tally, suspicions: Iterable[Finding]) -> tuple[Issue, ...]:
    """The findings as issues, dearest first, each followed by the codes that it implies; then the suspicions."""
    charged = sorted(result.charges, key=lambda one: -one.points)
    told = [issue for one in charged for issue in _issues(rubric, one.finding)]
    told += [issue for one in suspicions for issue in _issues(rubric, one)]
    return tuple(told)


def _issues(rubric: Rubric, finding: Finding) -> list[Issue]:
    return [
        Issue(
            code=code,
            detail=redact(finding.detail),
            severity=severity_of(rubric, finding),
            ref=finding.ref,
            conclusive=finding.certain,
        )
        for code in (finding.check.name, *finding.check.implies)
    ]


def reckoning_of(result: Tally) -> str:
    """The points and what they were lost by, in a sentence; codes that cost nothing are named without points."""
    lost: dict[str, float] = {}
    for one in sorted(result.charges, key=lambda one: -one.points):
        lost[one.finding.check.name] = lost.get(one.finding.check.name, 0.0) + one.points
    told = ", ".join(f"{name} −{points:g}" if points else name for name, points in list(lost.items())[:_MOST_NAMED])
    more = f" and {len(lost) - _MOST_NAMED} more" if len(lost) > _MOST_NAMED else ""
    return f"{result.points} of 100 points" + (f": {told}{more}." if told else ".")


def told_of(case: Case) -> dict[str, JsonValue]:
    """The reckoning."""
    told: dict[str, JsonValue] = {"deductions": [_charge(case.rubric, one) for one in case.tally.charges]}
    if case.rubric.steps:
        told["steps"] = dict(step_states(case))
    if not case.is_scored:
        return told
    told["points"] = case.tally.points
    if case.tally.capped_at is not None:
        told["capped_at"] = case.tally.capped_at
    if case.rubric.dimensions:
        told["dimensions"] = {name: round(points, 2) for name, points in case.tally.dimensions.items()}
        told["weights"] = {name: round(weight, 4) for name, weight in case.tally.weights.items()}
    told |= {
        name: value
        for name, value in (
            ("grade", case.tally.grade),
            ("outcome", case.tally.outcome),
            ("priority", case.tally.priority),
        )
        if value is not None
    }
    if case.judged is not None:
        told["earned"] = [
            {"id": bonus.id, "points": bonus.points(extent), "why": redact(why)}
            for bonus, extent, why in case.judged.earned
        ]
        told["dropped"] = {
            "made_up_quotes": case.judged.made_up,
            "not_applicable": case.judged.unfit,
            "repeated": case.judged.repeated,
        }
    return told


def _charge(rubric: Rubric, one: Charge) -> JsonValue:
    finding = one.finding
    told: dict[str, JsonValue] = {
        "check": finding.check.id,
        "code": finding.check.name,
        "severity": str(severity_of(rubric, finding)),
        "points": one.points,
        "by": "rule" if finding.by_rule else "judge",
        "detail": redact(finding.detail),
        "ref": finding.ref,
        "quote": shown(finding.passage.words, _LONGEST_QUOTE) if finding.passage is not None else None,
    }
    also: dict[str, JsonValue] = {
        "step": finding.check.step,
        "element": finding.element,
        "dimension": finding.check.dimension,
        "item": redact(finding.item) or None,
        "extent": finding.extent,
    }
    told |= {name: value for name, value in also.items() if value is not None}
    return told | dict(finding.chosen) | dict(finding.check.facts)


def step_states(case: Case) -> dict[str, str]:
    """done, poor, skipped, out_of_order or not_due, by step; the worst that was found of it.

    As long as no judge looked, `open` for a step of which rules show nothing.
    """
    states: dict[str, str] = {}
    unless_found = "open" if case.judged is None and case.applies.asked else "done"
    for step in case.rubric.steps:
        found = {one.check.state for one in case.findings if one.certain and one.check.step == step.id}
        worst = next((state for state in _WORST if state in found), None)
        states[step.id] = "not_due" if step.id in case.applies.not_due else (worst or unless_found)
    return states


def report_of(case: Case, name: str, *, passed: bool) -> dict[str, JsonValue]:
    """The rubric's own fields."""
    return {field: _reported(case, wanted, name, passed=passed) for field, wanted in case.rubric.output.items()}


def _reported(case: Case, wanted: Report, name: str, *, passed: bool) -> JsonValue:
    if wanted.text is not None:
        return wanted.text
    if wanted.steps is not None:
        states = step_states(case)
        return [
            step.title.said_in(language_in(case.material))
            for step in case.rubric.steps
            if states[step.id] in wanted.steps
        ]
    if wanted.issues is not None:
        fitting = [one for one in case.findings if one.certain and _fits(case.rubric, one, wanted.issues)]
        return list(dict.fromkeys(f"{one.check.name}: {redact(one.detail)}" for one in fitting))
    answer = case.answer
    values: dict[str, JsonValue] = {
        "name": name,
        "points": case.tally.points,
        "passed": passed,
        "summary": answer.summary if answer is not None else "",
        "suggestions": list(answer.suggestions) if answer is not None else [],
        "grade": case.tally.grade,
        "outcome": case.tally.outcome,
        "dimensions": dict(case.tally.dimensions),
    }
    return values[wanted.value or "name"]


def _fits(rubric: Rubric, finding: Finding, wanted: ReportFilter) -> bool:
    check = finding.check
    return (
        (wanted.group is None or check.group == wanted.group)
        and (wanted.state is None or (check.step is not None and check.state == wanted.state))
        and (wanted.severity is None or severity_of(rubric, finding) is Severity(wanted.severity))
    )


def language_in(material: Material) -> str:
    """The language of the rubric in which a case is judged: that of what the user said, if anything is known of it."""
    return language_of(material.user_text or material.text("answer_text"), material.rubric.languages)
