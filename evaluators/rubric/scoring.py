"""From findings to points: arithmetic that no judge has a say in.

In: a rubric and what was found.  Out: a `Tally`: what each finding costs, and the points, 0 to 100 and whole, half a
point up.

Without dimensions: start − deductions + bonus.  With dimensions: each loses what is deducted in it, down to 0, and the
points are their mean, weighted, over those that apply, + bonus.  Then caps; never under 0 or over 100.

One datum, one step and one thing that counts once are charged once, with the largest of their deductions; what else was
found there costs nothing and is listed all the same.  Two findings are about one datum if their passages overlap, their
checks have the same group (without one: are both per item), and the same element is lacking.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from evaluators.issues import Severity
from evaluators.rubric.conditions import Condition
from evaluators.rubric.findings import Finding
from evaluators.rubric.model import Grade, Rubric, Selector

MOST_POINTS = 100.0


@dataclass(frozen=True, slots=True)
class Charge:
    """A finding and what it costs: 0 where what it is about was charged already, or has no price."""

    finding: Finding
    points: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """The reckoning. `capped_at` is the lowest cap that counts, `dimensions` the points of those that apply."""

    points: int
    charges: tuple[Charge, ...]
    deducted: float
    earned: float = 0.0
    capped_at: float | None = None
    dimensions: Mapping[str, float]
    weights: Mapping[str, float]
    grade: str | None = None
    outcome: str | None = None
    priority: str | None = None


def tally(
    rubric: Rubric,
    findings: Sequence[Finding],
    *,
    earned: float = 0.0,
    holds: Callable[[Condition], bool | None] = lambda _: None,
) -> Tally:
    """The points for these findings.

    Args:
        rubric: whose prices, caps and weights count.
        findings: those that count, suspicions left out.
        earned: points of bonuses.
        holds: whether a condition of a dimension or a weight holds; what isn't known leaves things as they are.
    """
    charges = charge(findings)
    weights = _weights(rubric, holds)
    dimensions = {
        name: max(0.0, MOST_POINTS - sum(one.points for one in charges if one.finding.check.dimension == name))
        for name in weights
    }
    deducted = sum(one.points for one in charges)
    mean = sum(weights[name] * points for name, points in dimensions.items())
    raw = min(MOST_POINTS, max(0.0, mean if dimensions else rubric.start - deducted) + earned)
    caps = [cap.at for cap in rubric.caps if any(selects(cap.of, one) for one in findings)]
    points = math.floor(min([raw, *caps]) + 0.5 + 1e-9)
    grade = next((one for one in _descending(rubric) if points >= one.at_least), None)
    overridden = next((one.outcome for one in rubric.overrides if any(selects(one.of, f) for f in findings)), None)
    return Tally(
        points=points,
        charges=charges,
        deducted=deducted,
        earned=earned,
        capped_at=min(caps, default=None),
        dimensions=dimensions,
        weights=weights,
        grade=grade.grade if grade is not None else None,
        outcome=overridden or (grade.outcome if grade is not None else None),
        priority=grade.priority if grade is not None else None,
    )


def charge(findings: Iterable[Finding]) -> tuple[Charge, ...]:
    """What each finding costs, in the order of the findings."""
    listed = list(findings)
    # dearest first; of equally dear ones that which says most exactly where
    by_price = sorted(range(len(listed)), key=lambda at: (-_price(listed[at]), _length(listed[at]), at))
    charged: dict[int, float] = {}
    counted: list[Finding] = []
    for at in by_price:
        finding = listed[at]
        if _price(finding) == 0 or any(_is_same(finding, other) for other in counted):
            charged[at] = 0.0
            continue
        charged[at] = _price(finding)
        counted.append(finding)
    return tuple(Charge(finding, charged[at]) for at, finding in enumerate(listed))


def selects(selector: Selector, finding: Finding) -> bool:
    """Whether a finding is one of those that are meant."""
    check = finding.check
    return (
        check.name in selector.codes
        or not set(check.implies).isdisjoint(selector.codes)
        or not set(check.tags).isdisjoint(selector.tags)
        or check.severity in selector.severity
        or any(finding.chosen.get(name) == answer for name, answer in selector.chosen.items())
    )


def severity_of(rubric: Rubric, finding: Finding) -> Severity:
    """How bad a finding is: critical too if its code is a veto of the rubric or leads to an outcome of its own."""
    vetoed = not {finding.check.name, *finding.check.implies}.isdisjoint(rubric.veto)
    overridden = any(selects(one.of, finding) for one in rubric.overrides)
    return Severity.CRITICAL if vetoed or overridden else finding.check.severity


def _price(finding: Finding) -> float:
    return finding.check.points(finding.extent)


def _length(finding: Finding) -> int:
    return finding.passage.end - finding.passage.start if finding.passage is not None else 0


def _is_same(one: Finding, other: Finding) -> bool:
    """Whether both are about the same thing, so that it is charged once."""
    first, second = one.check, other.check
    if first.per == "step" and second.per == "step":
        return first.step == second.step
    if first.id == second.id and first.per == "once":
        return True
    if first.charged_as is not None and first.charged_as == second.charged_as:
        return True
    return (
        one.passage is not None
        and other.passage is not None
        and first.group == second.group
        # what counts once is about the whole, unless its group says that it is about data as well
        and (first.group is not None or first.per == second.per == "item")
        and one.element == other.element
        and one.passage.overlaps(other.passage)
    )


def _weights(rubric: Rubric, holds: Callable[[Condition], bool | None]) -> Mapping[str, float]:
    """The weights of the dimensions that apply; they add up to 1."""
    weights = {
        one.id: one.weight for one in rubric.dimensions if one.applies is None or holds(one.applies) is not False
    }
    for change in rubric.reweight:
        if change.dimension in weights and holds(change.when):
            weights[change.dimension] = change.weight
    whole = sum(weights.values())
    return {name: weight / whole for name, weight in weights.items()}


def _descending(rubric: Rubric) -> list[Grade]:
    return sorted(rubric.grades, key=lambda one: -one.at_least)
