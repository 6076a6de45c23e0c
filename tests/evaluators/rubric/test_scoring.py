"""What findings cost: the arithmetic of rubrics, as tables."""

from __future__ import annotations

from typing import Any

import pytest

from evaluators.rubric.findings import Finding
from evaluators.rubric.model import Rubric
from evaluators.rubric.quotes import Passage
from evaluators.rubric.scoring import charge, severity_of, tally

CHECKS: list[dict[str, Any]] = [
    {"id": "invented", "code": "V-01", "deduct": 40, "severity": "critical", "group": "facts"},
    {"id": "hedged", "code": "V-06", "deduct": 30, "severity": "critical", "group": "facts"},
    {"id": "unmarked", "code": "V-27", "deduct": 25, "severity": "critical", "group": "facts"},
    {
        "id": "lacking",
        "deduct": 15,
        "severity": "major",
        "elements": [{"id": "a", "title": "A"}, {"id": "b", "title": "B"}],
    },
    {"id": "untitled", "deduct": 20, "severity": "major", "per": "once", "charged_as": "form"},
    {"id": "fenced", "deduct": 20, "severity": "major", "per": "once", "charged_as": "form"},
    {"id": "noted", "code": "V-28", "severity": "minor"},
    {"id": "step_skipped", "deduct": 30, "severity": "major", "per": "step", "step": "one", "state": "skipped"},
    {"id": "step_poor", "deduct": 20, "severity": "major", "per": "step", "step": "one"},
    {"id": "other_poor", "deduct": 20, "severity": "major", "per": "step", "step": "two"},
    {"id": "ranged", "deduct": {"least": 20, "most": 40}, "severity": "major"},
]


def rubric(**more: Any) -> Rubric:
    checks = [{"text": one["id"], **one} for one in more.pop("checks", CHECKS)]
    steps = [{"id": "one", "title": "One"}, {"id": "two", "title": "Two"}]
    return Rubric.model_validate(
        {"name": "r", "title": "R", "question": "?", "steps": steps, "checks": checks, "grades": [], **more}
    )


RUBRIC = rubric()


def found(check: str, start: int | None = None, end: int | None = None, of: Rubric = RUBRIC, **more: Any) -> Finding:
    passage = None
    if start is not None:
        passage = Passage("answer", start, start + 5 if end is None else end, "words", None)
    return Finding(check=of.by_id[check], detail=check, passage=passage, **more)


@pytest.mark.parametrize(
    ("findings", "points", "costs"),
    [
        pytest.param([], 100, [], id="nothing found"),
        pytest.param([found("unmarked", 0)], 75, [25], id="one datum"),
        pytest.param([found("unmarked", 0), found("unmarked", 50)], 50, [25, 25], id="two data"),
        pytest.param(
            [found("unmarked", 0), found("hedged", 2), found("invented", 1)],
            60,
            [0, 0, 40],
            id="one datum, dearest first",
        ),
        pytest.param([found("noted", 0)], 100, [0], id="a code without a price"),
        pytest.param(
            [found("lacking", 0, element="a"), found("lacking", 0, element="b")], 70, [15, 15], id="two elements"
        ),
        pytest.param(
            [found("lacking", 0, element="a"), found("lacking", 0, element="a")], 85, [15, 0], id="one element twice"
        ),
        pytest.param(
            [found("lacking", 0, element="a"), found("unmarked", 0)], 60, [15, 25], id="other groups, one place"
        ),
        pytest.param([found("untitled", 0), found("untitled", 90)], 80, [20, 0], id="what counts once"),
        pytest.param([found("untitled"), found("fenced")], 80, [20, 0], id="what is charged together"),
        pytest.param([found("step_poor"), found("step_skipped")], 70, [0, 30], id="one step, its dearest"),
        pytest.param([found("step_poor"), found("other_poor")], 60, [20, 20], id="two steps"),
        pytest.param([found("ranged", 0, extent="low")], 80, [20], id="low"),
        pytest.param([found("ranged", 0, extent="high")], 60, [40], id="high"),
        pytest.param([found("ranged", 0)], 70, [30], id="nothing said of the extent"),
        pytest.param([found("invented", at * 10) for at in range(4)], 0, [40] * 4, id="never below 0"),
        pytest.param(
            [found("unmarked", 0, 100), found("invented", 10), found("invented", 50)],
            20,
            [0, 40, 40],
            id="a quote of several",
        ),
    ],
)
def test_a_datum_a_step_and_what_counts_once_are_charged_once(
    findings: list[Finding], points: int, costs: list[float]
) -> None:
    result = tally(RUBRIC, findings)
    assert (result.points, [one.points for one in result.charges]) == (points, costs)


def test_what_is_charged_does_not_depend_on_the_order_of_findings() -> None:
    findings = [
        found("unmarked", 0),
        found("hedged", 2),
        found("invented", 1),
        found("step_poor"),
        found("step_skipped"),
    ]
    one = {charged.finding.check.id: charged.points for charged in charge(findings)}
    other = {charged.finding.check.id: charged.points for charged in charge(reversed(findings))}
    assert one == other


def test_a_cap_counts_after_bonuses_and_the_lowest_one_does() -> None:
    capped = rubric(
        caps=[{"of": {"codes": ["V-27"]}, "at": 30}, {"of": {"severity": ["critical"]}, "at": 50}],
        bonus=[{"id": "good", "text": "good", "add": 10}],
    )
    assert tally(capped, [found("unmarked", 0, of=capped)], earned=10).points == 30
    assert tally(capped, [found("hedged", 0, of=capped)], earned=10).points == 50
    assert tally(capped, [], earned=10).points == 100


QUALITY = rubric(
    checks=[
        {"id": "leak", "severity": "critical", "deduct": 80, "dimension": "security", "tags": ["redline"]},
        {"id": "slow", "severity": "major", "deduct": 30, "dimension": "performance"},
        {"id": "wrong", "severity": "major", "deduct": 25, "dimension": "correctness"},
        {"id": "lost", "severity": "critical", "deduct": 200, "dimension": "correctness", "tags": ["fatal"]},
    ],
    dimensions=[
        {"id": "correctness", "title": "C", "weight": 50},
        {"id": "security", "title": "S", "weight": 30, "applies": {"asked": {"kind": "code"}}},
        {"id": "performance", "title": "P", "weight": 20, "applies": {"asked": {"kind": "code"}}},
    ],
    questions={
        "kind": {"text": "?", "one_of": ["code", "text"]},
        "about": {"text": "?", "one_of": ["safety", "other"]},
    },
    classify={"cause": {"text": "?", "one_of": ["careless", "lacking_skill"]}},
    reweight=[{"when": {"asked": {"about": "safety"}}, "dimension": "security", "weight": 80}],
    caps=[{"of": {"tags": ["fatal"]}, "at": 0}, {"of": {"tags": ["redline"]}, "at": 30}],
    grades=[
        {"at_least": 50, "grade": "C", "outcome": "REWORK"},
        {"at_least": 85, "grade": "A", "outcome": "PASS"},
        {"at_least": 0, "grade": "F", "outcome": "RETRAIN", "priority": "P0"},
    ],
    overrides=[{"of": {"chosen": {"cause": "lacking_skill"}}, "outcome": "RETRAIN"}],
)


def graded(*names: str, kind: str = "code", about: str = "other", **more: Any) -> tuple[int, str | None, str | None]:
    answers = {"kind": kind, "about": about}
    result = tally(
        QUALITY,
        [found(name, at * 10, of=QUALITY, **more) for at, name in enumerate(names)],
        holds=lambda one: all(answers[name] == answer for name, answer in (one.asked or {}).items()),
    )
    return result.points, result.grade, result.outcome


@pytest.mark.parametrize(
    ("names", "answers", "expected"),
    [
        pytest.param((), {}, (100, "A", "PASS"), id="all well"),
        pytest.param(("wrong",), {}, (88, "A", "PASS"), id="100 - 25 at half weight, half up"),
        pytest.param(("wrong", "slow"), {}, (82, "C", "REWORK"), id="two dimensions, half up, then graded"),
        pytest.param(("wrong",), {"kind": "text"}, (75, "C", "REWORK"), id="weights of what applies alone"),
        pytest.param(("slow",), {"kind": "text"}, (100, "A", "PASS"), id="what doesn't apply costs nothing"),
        pytest.param(("wrong",), {"about": "safety"}, (92, "A", "PASS"), id="50 of 150 after reweighting"),
        pytest.param(("leak",), {}, (30, "F", "RETRAIN"), id="capped"),
        pytest.param(("lost",), {}, (0, "F", "RETRAIN"), id="a dimension never falls below 0, the cap goes to 0"),
        pytest.param(("wrong",), {"chosen": {"cause": "lacking_skill"}}, (88, "A", "RETRAIN"), id="overridden"),
    ],
)
def test_dimensions_are_averaged_by_weight_then_capped_rounded_and_graded(
    names: tuple[str, ...], answers: dict[str, Any], expected: tuple[int, str, str]
) -> None:
    assert graded(*names, **answers) == expected


def test_vetoes_and_overridden_findings_are_critical_whatever_their_price() -> None:
    vetoing = rubric(veto=["V-28"])
    assert severity_of(vetoing, found("noted", 0, of=vetoing)) == "critical"
    assert severity_of(RUBRIC, found("noted", 0)) == "minor"
    assert severity_of(QUALITY, found("wrong", 0, of=QUALITY, chosen={"cause": "lacking_skill"})) == "critical"
    assert severity_of(QUALITY, found("wrong", 0, of=QUALITY, chosen={"cause": "careless"})) == "major"
