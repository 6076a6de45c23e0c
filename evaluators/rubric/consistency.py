"""Whether the parts of a rubric fit together: what is named somewhere is there, and is there once.

In: a rubric whose parts are each in order.  Out: sentences of the form `what; remedy`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from evaluators.issues import Severity
from evaluators.rubric.conditions import Condition

if TYPE_CHECKING:
    from evaluators.rubric.model import Rubric


def faults_of(rubric: Rubric) -> Iterable[str]:
    """Everything that doesn't fit."""
    for what, ids in (
        ("check", [check.id for check in rubric.checks] + [bonus.id for bonus in rubric.bonus]),
        ("step", [step.id for step in rubric.steps]),
        ("input", [one.name for one in rubric.inputs]),
        ("dimension", [one.id for one in rubric.dimensions]),
    ):
        for name, count in Counter(ids).items():
            if count > 1:
                yield f"{what} {name} is there {count} times; give each a name of its own"
    steps, dimensions = {one.id for one in rubric.steps}, {one.id for one in rubric.dimensions}
    severities: dict[str, Severity] = {}
    for check in rubric.checks:
        if check.step is not None and check.step not in steps:
            yield f"check {check.id} is of step {check.step}, which isn't among the steps; add it or correct the name"
        if check.per == "step" and check.step is None:
            yield f"check {check.id} is per step and names none; give it a step"
        if check.dimension is not None and check.dimension not in dimensions:
            yield f"check {check.id} is of dimension {check.dimension}, which isn't there; add it or correct the name"
        if rubric.dimensions and check.dimension is None and check.deduct is not None:
            yield f"check {check.id} deducts from no dimension; name one of {', '.join(sorted(dimensions))}"
        if not check.ask and check.shown_by is None and check.suspect is None:
            yield f"check {check.id} is neither asked for nor shown by a rule; take ask: false out or add shown_by"
        if severities.setdefault(check.name, check.severity) is not check.severity and check.code is None:
            yield f"check {check.id} has the name of a code of another severity; rename it"
    for change in rubric.reweight:
        if change.dimension not in dimensions:
            yield f"reweight names dimension {change.dimension}, which isn't there; correct the name"
    codes = {check.name for check in rubric.checks} | {code for check in rubric.checks for code in check.implies}
    for code in rubric.veto:
        if code not in codes:
            yield f"veto names {code}, which no check has; add the check or take the code out"
    for condition in _conditions(rubric):
        yield from _faults_of_condition(condition, rubric)


def _conditions(rubric: Rubric) -> Iterable[Condition]:
    given = [rubric.applies]
    given += [one for check in rubric.checks for one in (check.applies, check.shown_by, check.suspect)]
    given += [step.due for step in rubric.steps]
    given += [bonus.applies for bonus in rubric.bonus]
    given += [dimension.applies for dimension in rubric.dimensions]
    given += [one.when for one in rubric.reweight]
    waiting = [one for one in given if one is not None]
    while waiting:
        one = waiting.pop()
        yield one
        waiting += one.parts()


def _faults_of_condition(condition: Condition, rubric: Rubric) -> Iterable[str]:
    inputs = {one.name for one in rubric.inputs}
    for state in (condition.field, condition.first_answer, condition.in_a_row):
        if state is not None and state.name not in inputs:
            yield f"a condition names field {state.name}, which isn't among the inputs; add it or correct the name"
    patterns = set(rubric.patterns)
    for searched in (condition.contains, condition.unrecorded):
        if searched is None:
            continue
        named = {*searched.pattern, *getattr(searched, "without", ())}
        for name in sorted(named - patterns):
            yield f"a condition names pattern {name}, which isn't among the patterns; add it or correct the name"
        texts = {searched.text, *getattr(searched, "records", ())}
        for name in sorted(texts - inputs - {"answer_text", "user", "results", *rubric.texts}):
            yield f"a condition names text {name}, which isn't among the inputs; use one of them, answer_text or user"
    for name, answer in (condition.asked or {}).items():
        if name not in rubric.questions or answer not in rubric.questions[name].one_of:
            yield f"a condition rests on question {name} answered {answer}, which can't be; correct one of the two"
