"""What was found against a rubric: violations with a place each, from rules and from a judge.

In: the rubric, the material and a judge's answer.  Out: `Finding`s.  One without a quote that stands somewhere in the
material is dropped and counted, and so is one of a check that doesn't apply or that was told before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from evaluators.rubric.answer import RubricAnswer
from evaluators.rubric.checking import check as holds
from evaluators.rubric.material import Material
from evaluators.rubric.model import Bonus, Check, Rubric
from evaluators.rubric.quotes import Passage, find_quote
from evaluators.rubric.texts import compact, plain

_LONGEST_QUOTE = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A violation of a check.

    `certain`: a rule shows it, or a judge found it; otherwise it is a suspicion.  `passage` is None only for what a
    rule shows by absence.  `item` is what it was said of, in the judge's words; `element` what is lacking there;
    `extent` and `chosen` what else a judge said of it.
    """

    check: Check
    detail: str
    passage: Passage | None = None
    item: str = ""
    element: str | None = None
    extent: str | None = None
    chosen: Mapping[str, str] = field(default_factory=dict)
    certain: bool = True
    by_rule: bool = False
    ref: str | None = None


@dataclass(frozen=True, slots=True)
class Applicable:
    """The checks of a rubric that can be violated in a case, and the steps that were not due."""

    checks: tuple[Check, ...]
    not_due: frozenset[str]

    @property
    def asked(self) -> tuple[Check, ...]:
        """Those that a judge is asked for."""
        return tuple(one for one in self.checks if one.ask)


def applicable(rubric: Rubric, material: Material, chosen: Mapping[str, str] | None = None) -> Applicable:
    """What applies to the case, as far as it is known; `chosen` are the judge's answers to the rubric's questions."""
    not_due = frozenset(
        step.id for step in rubric.steps if step.due is not None and holds(step.due, material, chosen).truth is False
    )
    checks = tuple(
        one
        for one in rubric.checks
        if one.step not in not_due and (one.applies is None or holds(one.applies, material, chosen).truth is not False)
    )
    return Applicable(checks, not_due)


def by_rules(checks: Iterable[Check], material: Material, language: str) -> list[Finding]:
    """What rules show, and what they suspect: also what they would show if more had been captured."""
    found: list[Finding] = []
    for check in checks:
        shown = holds(check.shown_by, material) if check.shown_by is not None else None
        if shown is not None and shown.truth:
            found += _of_rule(check, shown.passages, material, language, certain=True)
            continue
        suspect = holds(check.suspect, material) if check.suspect is not None else None
        if suspect is not None and suspect.truth:
            found += _of_rule(check, suspect.passages, material, language, certain=False)
        elif shown is not None and shown.truth is None and check.ask:
            found += _of_rule(check, shown.passages, material, language, certain=False)
    return found


def _of_rule(
    check: Check, passages: Sequence[Passage], material: Material, language: str, *, certain: bool
) -> list[Finding]:
    text = check.text.said_in(language)
    places: Sequence[Passage | None] = (passages if check.per == "item" else passages[:1]) or (None,)
    return [
        Finding(
            check=check,
            detail=_with_quote(text, place.words if place is not None else ""),
            passage=place,
            certain=certain,
            by_rule=True,
            ref=place.ref if place is not None else _where(material),
        )
        for place in places
    ]


def _where(material: Material) -> str | None:
    return (material.answer.ref if material.answer is not None else None) or material.ref


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of a judge's findings. `made_up` had no true quote, `unfit` were of checks that don't apply."""

    findings: tuple[Finding, ...]
    earned: tuple[tuple[Bonus, str | None, str], ...]
    made_up: int
    unfit: int
    repeated: int


def by_judge(
    rubric: Rubric, applies: Applicable, material: Material, answer: RubricAnswer, shown: Sequence[Finding] = ()
) -> Judged:
    """The violations that a judge found and can show; those that rules have `shown` at the same place are no news."""
    known = {one.id: one for one in applies.asked}
    chosen = answer.answers(rubric.questions)
    bonuses = {
        one.id: one
        for one in rubric.bonus
        if one.applies is None or holds(one.applies, material, chosen).truth is not False
    }
    found: list[Finding] = []
    earned: dict[str, tuple[Bonus, str | None, str]] = {}
    made_up = unfit = repeated = 0
    for said in answer.violations:
        place = find_quote(material, said.quote, said.item)
        check, bonus = known.get(said.check), bonuses.get(said.check)
        if place is None:
            made_up += 1
        elif bonus is not None:
            earned.setdefault(bonus.id, (bonus, said.size, said.why))
        elif check is None or (check.elements and said.lacking not in {one.id for one in check.elements}):
            unfit += 1
        elif any(_is_told(one, check, said.lacking, place, said.item) for one in (*shown, *found)):
            repeated += 1
        else:
            found.append(
                Finding(
                    check=check,
                    detail=_with_quote(said.why, place.words),
                    passage=place,
                    item=said.item,
                    element=said.lacking if check.elements else None,
                    extent=said.size,
                    chosen=said.chosen(rubric.classify),
                    ref=place.ref or next(iter(said.evidence), None),
                )
            )
    return Judged(tuple(found), tuple(earned.values()), made_up, unfit, repeated)


def _is_of_same_item(check: Check, one: str, other: str) -> bool:
    """Whether what is lacking is lacking in the same item: where that can be seen is the item, not the words quoted."""
    return bool(check.elements) and compact(plain(one)) == compact(plain(other)) != ""


def _is_told(told: Finding, check: Check, lacking: str | None, place: Passage, item: str) -> bool:
    """Whether a finding says the same of the same place."""
    return (
        told.check.id == check.id
        and told.passage is not None
        and (told.passage.overlaps(place) or _is_of_same_item(check, told.item, item))
        and (told.element is None or told.element == lacking)
    )


def _with_quote(text: str, words: str) -> str:
    shown = " ".join(words.split())
    shown = shown if len(shown) <= _LONGEST_QUOTE else shown[:_LONGEST_QUOTE] + "…"
    return f"{text.rstrip('.。')}: “{shown}”." if shown else text
