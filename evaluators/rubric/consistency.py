"""Whether the parts of a rubric fit together: what is named somewhere is there, and is there once.

In: a rubric whose parts are each in order.  Out: faults, each with the place of what is wrong and a sentence of the
form `what; remedy`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

from pydantic import BaseModel

from evaluators.issues import Severity
from evaluators.rubric.conditions import Condition

if TYPE_CHECKING:
    from evaluators.rubric.model import Check, Rubric, Selector

Place: TypeAlias = tuple[str | int, ...]
"""Keys, and positions in lists."""

Fault: TypeAlias = tuple[Place, str]

FIELDS_OF_ANSWERS = frozenset({"evidence", "violations", "suggestions", "summary"})
FIELDS_OF_VIOLATIONS = frozenset(
    {"quote", "item", "evidence", "why", "check", "element", "extent", "lacking", "size", "chosen"}
)
"""Names that no question may have, as every answer, or every violation in it, has a field of that name."""


def faults_of(rubric: Rubric) -> Iterator[Fault]:
    """Everything that doesn't fit."""
    yield from _repeated(rubric)
    codes: dict[str, Severity] = {}
    for at, check in enumerate(rubric.checks):
        for key, what in _faults_of_check(check, rubric):
            yield ("checks", at, key), what
        if check.code is not None:
            codes.setdefault(check.code, check.severity)
        elif codes.get(check.id, check.severity) is not check.severity:
            yield ("checks", at, "id"), f"{check.id} is the code of a check of another severity; rename it"
    dimensions = {one.id for one in rubric.dimensions}
    for at, change in enumerate(rubric.reweight):
        if change.dimension not in dimensions:
            yield ("reweight", at, "dimension"), f"dimension {change.dimension} isn't there; correct the name"
    yield from _faults_of_selections(rubric)
    for key, names, taken in (
        ("questions", rubric.questions, FIELDS_OF_ANSWERS),
        ("classify", rubric.classify, FIELDS_OF_VIOLATIONS),
    ):
        for name in names:
            if name in taken or hasattr(BaseModel, name):
                yield (key, name), "has a name that is taken; rename it"
    for place, condition in _conditions(rubric):
        for what in _faults_of_condition(condition, rubric):
            yield place, what


def _repeated(rubric: Rubric) -> Iterator[Fault]:
    """What is there more than once."""
    lists: list[tuple[Place, Sequence[str]]] = [
        (("checks",), [one.id for one in rubric.checks]),
        (("steps",), [one.id for one in rubric.steps]),
        (("inputs",), [one.name for one in rubric.inputs]),
        (("dimensions",), [one.id for one in rubric.dimensions]),
        (("grades",), [f"{one.at_least:g}" for one in rubric.grades]),
        *((("checks", at, "elements"), [one.id for one in check.elements]) for at, check in enumerate(rubric.checks)),
        *((("questions", name, "one_of"), one.one_of) for name, one in rubric.questions.items()),
        *((("classify", name, "one_of"), one.one_of) for name, one in rubric.classify.items()),
    ]
    for place, names in lists:
        for at, name in enumerate(names):
            if name in names[:at]:
                yield (*place, at), f"{name} is there more than once; give each a name of its own"
    ids = {check.id for check in rubric.checks}
    for at, bonus in enumerate(rubric.bonus):
        if bonus.id in ids or bonus.id in [one.id for one in rubric.bonus[:at]]:
            yield ("bonus", at, "id"), f"{bonus.id} is there more than once; give each a name of its own"


def _faults_of_check(check: Check, rubric: Rubric) -> Iterator[tuple[str, str]]:
    """Keys of a check, and what is wrong with them."""
    steps, dimensions = {one.id for one in rubric.steps}, {one.id for one in rubric.dimensions}
    if check.step is not None and check.step not in steps:
        yield "step", f"{check.step} isn't among the steps; add it or correct the name"
    if check.step is None and check.per == "step":
        yield "per", "is step, and the check names none; give it a step"
    if check.step is None and check.state != "poor":
        yield "state", "is of a step, and the check names none; give it a step, or take state out"
    if check.dimension is not None and check.dimension not in dimensions:
        yield "dimension", f"{check.dimension} isn't there; add it or correct the name"
    if rubric.dimensions and check.dimension is None and check.deduct is not None:
        yield "deduct", f"is from no dimension; add dimension, one of {', '.join(sorted(dimensions))}"
    if not check.ask and check.shown_by is None:
        yield "ask", f"{check.id} is neither asked for nor shown by a rule; take ask: false out or add shown_by"
    if not check.ask and check.suspect is not None:
        yield "suspect", "is something that no judge is asked about; take it or ask: false out"


def _faults_of_selections(rubric: Rubric) -> Iterator[Fault]:
    """What selects violations and can't select any."""
    codes = {check.name for check in rubric.checks} | {code for check in rubric.checks for code in check.implies}
    for at, code in enumerate(rubric.veto):
        if code not in codes:
            yield ("veto", at), f"no check has the code {code}; add the check or take the code out"
    for at, cap in enumerate(rubric.caps):
        for key, what in _faults_of_selector(cap.of, rubric, codes):
            yield ("caps", at, "of", key), what
    for at, override in enumerate(rubric.overrides):
        for key, what in _faults_of_selector(override.of, rubric, codes):
            yield ("overrides", at, "of", key), what
    groups = {check.group for check in rubric.checks}
    for name, wanted in rubric.output.items():
        if wanted.issues is not None and wanted.issues.group not in (None, *groups):
            yield ("output", name, "issues", "group"), f"no check has the group {wanted.issues.group}; correct it"


def _faults_of_selector(selector: Selector, rubric: Rubric, codes: set[str]) -> Iterator[tuple[str, str]]:
    tags = {tag for check in rubric.checks for tag in check.tags}
    for code in selector.codes:
        if code not in codes:
            yield "codes", f"no check has the code {code}; correct it"
    for tag in selector.tags:
        if tag not in tags:
            yield "tags", f"no check has the tag {tag}; correct it"
    for name, answer in selector.chosen.items():
        if name not in rubric.classify or answer not in rubric.classify[name].one_of:
            yield "chosen", f"classify has no {name} with the answer {answer}; correct one of the two"


def _conditions(rubric: Rubric) -> Iterator[tuple[Place, Condition]]:
    """All conditions, those that others combine included, each with where the outermost stands."""
    given: list[tuple[Place, Condition | None]] = [(("applies",), rubric.applies)]
    for at, check in enumerate(rubric.checks):
        given += [
            (("checks", at, "applies"), check.applies),
            (("checks", at, "shown_by"), check.shown_by),
            (("checks", at, "suspect"), check.suspect),
        ]
    given += [(("steps", at, "due"), step.due) for at, step in enumerate(rubric.steps)]
    given += [(("bonus", at, "applies"), bonus.applies) for at, bonus in enumerate(rubric.bonus)]
    given += [(("dimensions", at, "applies"), one.applies) for at, one in enumerate(rubric.dimensions)]
    given += [(("reweight", at, "when"), one.when) for at, one in enumerate(rubric.reweight)]
    waiting = [(place, one) for place, one in given if one is not None]
    while waiting:
        place, one = waiting.pop()
        yield place, one
        waiting += [(place, part) for part in one.parts()]


def _faults_of_condition(condition: Condition, rubric: Rubric) -> Iterable[str]:
    inputs = {one.name for one in rubric.inputs}
    for state in (condition.field, condition.first_answer, condition.in_a_row):
        if state is not None and state.name not in inputs:
            yield f"field {state.name} isn't among the inputs; add it or correct the name"
    patterns = set(rubric.patterns)
    for searched in (condition.contains, condition.unrecorded):
        if searched is None:
            continue
        for name in sorted({*searched.pattern, *searched.without} - patterns):
            yield f"pattern {name} isn't among the patterns; add it or correct the name"
        texts = {searched.text, *getattr(searched, "records", ())}
        for name in sorted(texts - inputs - {"answer_text", "user", "results", *rubric.texts}):
            yield f"text {name} isn't among the inputs; use one of them, answer_text or user"
    if condition.sections is not None and condition.sections.text not in {*inputs, "answer_text", *rubric.texts}:
        yield f"text {condition.sections.text} isn't among the inputs; use one of them or answer_text"
    for name, answer in (condition.asked or {}).items():
        if name not in rubric.questions or answer not in rubric.questions[name].one_of:
            yield f"rests on question {name} answered {answer}, which can't be; correct one of the two"
