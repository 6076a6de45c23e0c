"""A rubric as data: what is read, what is checked, what a violation costs, and what passes.

This is the form of a rubric's file (docs/evaluators/rubrics.md), checked as a whole: a name that is referred to exists,
an id is there once, a code has one severity.  Nothing here looks at a case.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Literal

import regex
from pydantic import AfterValidator, BeforeValidator, Field, RootModel, ValidationError, model_validator
from pydantic.config import ConfigDict
from pydantic_core import InitErrorDetails, PydanticCustomError

from evaluators.issues import Severity
from evaluators.rubric.conditions import Condition, Form, Names, as_tuple
from evaluators.rubric.consistency import faults_of

_ID = re.compile(r"[a-z][a-z0-9_]{0,63}")
_CODE = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_LONGEST_PATTERN = 4_000


def _is_id(value: str) -> str:
    if not _ID.fullmatch(value):
        raise ValueError("is no name; use at most 64 lower-case letters, digits and _, beginning with a letter")
    return value


def _is_code(value: str) -> str:
    if not _CODE.fullmatch(value):
        raise ValueError("is no code; use at most 64 letters, digits, - and _, beginning with a letter")
    return value


def _compiles(value: tuple[str, ...]) -> tuple[str, ...]:
    for pattern in value:
        if len(pattern) > _LONGEST_PATTERN:
            raise ValueError(f"is longer than {_LONGEST_PATTERN} characters; make several patterns of it")
        try:
            regex.compile(pattern)
        except regex.error as error:
            raise ValueError(f"is no regular expression ({error}); correct it") from None
        except (MemoryError, OverflowError, RecursionError):
            raise ValueError("is a regular expression too large to use; repeat less in it") from None
    return value


def _are_points(value: float) -> float:
    if 0 < value <= 1:
        raise ValueError("is in points of 100; write 70 for 0.7")
    return value


Id = Annotated[str, AfterValidator(_is_id)]
Code = Annotated[str, AfterValidator(_is_code)]
Patterns = Annotated[Names, AfterValidator(_compiles)]


class Words(RootModel[dict[str, str]]):
    """A text for people or for a judge: one, or one per language (`{en: ..., zh: ...}`)."""

    model_config = ConfigDict(frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _one_or_several(cls, value: object) -> object:
        if isinstance(value, str):
            value = {"": value}
        if not isinstance(value, dict) or not value or not all(isinstance(one, str) for one in value.values()):
            raise ValueError("has to be text, or texts by language; write {en: ..., zh: ...}")
        if not all(one.strip() for one in value.values()):
            raise ValueError("is empty; write what it says")
        return value

    def said_in(self, language: str) -> str:
        """The text in this language, else in the first one there is."""
        texts = self.root
        return (texts.get(language) or next(iter(texts.values()))).strip()


class Kind(StrEnum):
    """What a rubric judges."""

    RUN = "run"
    SESSION = "session"


class Input(Form):
    """A field that is read from what the agent put out: from the JSON object of its last output, or an earlier one.

    `sources`: where to look, in this order: `answer` (the last output), `messages` (earlier ones), `calls` (arguments
    of calls of the tools in `tools`; any, if none are named).  `whole_answer`: where nothing has the field, an answer
    that is no JSON object counts as it.
    """

    name: Id
    about: Words | None = None
    required: bool = True
    sources: tuple[Literal["answer", "messages", "calls"], ...] = ("answer", "messages", "calls")
    tools: tuple[str, ...] = ()
    whole_answer: bool = False


class Step(Form):
    """A step of a workflow. `due`: where this is false, it didn't have to be taken."""

    id: Id
    title: Words
    due: Condition | None = None


class Element(Form):
    """One of the things that each item has to have."""

    id: Id
    title: Words


class Extent(Form):
    """A cost that depends on how bad it is: the judge says low, middle or high, and code takes least, mean or most."""

    least: float = Field(ge=0, le=1000)
    most: float = Field(ge=0, le=1000)

    @model_validator(mode="after")
    def _ascends(self) -> Extent:
        if self.least > self.most:
            raise ValueError("least is more than most; exchange the two")
        return self


Points = Annotated[float, Field(ge=0, le=1000)]


class Check(Form):
    """Something that must not be.

    `id` is what the judge calls it, `code` what the verdict says (the id where there is none).  `deduct` are points,
    none for a code without a deduction.  `per`: each item (the passage that shows it), each step, or once.  Checks with
    the same `charged_as` cost points once together.  `state` is what a violation makes of its `step`.  `implies` are
    codes that are given along with it, without points.  `applies`: where this is false, the check can't be violated.
    `shown_by`: where true, it is violated and no judge is needed; `suspect`: where true, a judge has to say.  `ask`:
    whether a judge is asked for it at all.  `elements`: the violation is the lack of one of these, named by the judge.
    `group` and `tags` are for the rubric's own use: of output fields, and of caps and outcomes.  `facts` are told along
    with the issue in the details.
    """

    id: Id
    text: Words
    severity: Severity
    code: Code | None = None
    deduct: Points | Extent | None = None
    per: Literal["item", "step", "once"] = "item"
    charged_as: Id | None = None
    step: Id | None = None
    state: Literal["poor", "skipped", "out_of_order"] = "poor"
    dimension: Id | None = None
    group: Id | None = None
    tags: tuple[Id, ...] = ()
    elements: tuple[Element, ...] = ()
    implies: tuple[Code, ...] = ()
    applies: Condition | None = None
    shown_by: Condition | None = None
    suspect: Condition | None = None
    ask: bool = True
    facts: dict[str, str] = Field(default_factory=dict)

    @property
    def name(self) -> str:
        """The code that issues carry."""
        return self.code or self.id

    @property
    def most(self) -> float:
        """The most that one violation can cost."""
        if isinstance(self.deduct, Extent):
            return self.deduct.most
        return self.deduct or 0.0

    def points(self, extent: str | None) -> float:
        """What one violation costs: of a range the end that the judge named, the mean where it named none."""
        if not isinstance(self.deduct, Extent):
            return self.deduct or 0.0
        ends = {"low": self.deduct.least, "high": self.deduct.most}
        return ends.get(extent or "", (self.deduct.least + self.deduct.most) / 2)


class Bonus(Form):
    """Something that earns points when the judge shows it, once."""

    id: Id
    text: Words
    add: Points | Extent
    applies: Condition | None = None

    def points(self, extent: str | None) -> float:
        """What it earns."""
        if not isinstance(self.add, Extent):
            return self.add
        ends = {"low": self.add.least, "high": self.add.most}
        return ends.get(extent or "", (self.add.least + self.add.most) / 2)


class Choice(Form):
    """A question with fixed answers, asked once about the case (`questions`) or about every finding (`classify`)."""

    text: Words
    one_of: Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(min_length=2)]


class Selector(Form):
    """Which violations are meant: those that fit one of the keys. `chosen`: answers to questions of `classify`."""

    codes: tuple[Code, ...] = ()
    tags: tuple[Id, ...] = ()
    severity: tuple[Severity, ...] = ()
    chosen: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _selects(self) -> Selector:
        if not (self.codes or self.tags or self.severity or self.chosen):
            raise ValueError("selects nothing; give codes, tags, severity or chosen")
        return self


class Cap(Form):
    """With a violation of this kind the points are at most `at`."""

    of: Selector
    at: float = Field(ge=0, le=100)


class Dimension(Form):
    """A part of the grade with points of its own; `applies` false takes it out, and the other weights grow."""

    id: Id
    title: Words
    weight: float = Field(gt=0)
    applies: Condition | None = None


class Reweighting(Form):
    """Under a condition a dimension has another weight, before weights are made to add up to 1."""

    when: Condition
    dimension: Id
    weight: float = Field(gt=0)


class Grade(Form):
    """From so many points on: a grade, and what it means. The best that is reached counts."""

    at_least: float = Field(ge=0, le=100)
    grade: str
    outcome: str | None = None
    priority: str | None = None


class Override(Form):
    """A violation of this kind leads to this outcome, whatever the points."""

    of: Selector
    outcome: str


class ReportFilter(Form):
    """Violations of this group, state or severity; of all where nothing is said."""

    group: Id | None = None
    state: Literal["poor", "skipped", "out_of_order"] | None = None
    severity: Severity | None = None


States = Annotated[tuple[Literal["done", "poor", "skipped", "out_of_order", "not_due"], ...], BeforeValidator(as_tuple)]


class Report(Form):
    """What stands in a field of the report: exactly one key.

    `issues`: sentences of the violations that fit, of all with `{}`.  `steps`: titles of the steps in these states.
    `value`: one of the verdict's own. `text`: these words.
    """

    issues: ReportFilter | None = None
    steps: States | None = None
    value: Literal["name", "points", "passed", "summary", "suggestions", "grade", "outcome", "dimensions"] | None = None
    text: str | None = None

    @model_validator(mode="after")
    def _is_one(self) -> Report:
        if len(self.model_fields_set) != 1:
            raise ValueError("has to have exactly one key; use issues, steps, value or text")
        return self


class Rubric(Form):
    """A whole rubric.

    `threshold` are points of 100.  `veto` are codes that fail a case like critical ones.  `patterns` are regular
    expressions by name, matched in text whose full-width forms are made plain, without regard to case.
    `quoted_from`: where quotes of a judge have to stand, anywhere in the case or in what the agent put out.
    `evidence_tools` are named to the judge as what counts as a record.  An earlier output in which the field
    `asks_back` is true only asked a question, so that nothing else was done before it.  `texts` are names of further
    texts that whoever makes the evaluator provides.
    """

    name: Id
    title: Words
    version: str = "1"
    judges: Kind = Kind.RUN
    question: Words
    guidance: Words | None = None
    threshold: Annotated[float, AfterValidator(_are_points)] = Field(default=70.0, ge=0, le=100)
    start: float = Field(default=100.0, gt=0, le=100)
    inputs: tuple[Input, ...] = ()
    quoted_from: Literal["case", "output"] = "case"
    evidence_tools: tuple[str, ...] = ()
    asks_back: Id | None = None
    texts: tuple[Id, ...] = ()
    patterns: dict[str, Patterns] = Field(default_factory=dict)
    applies: Condition | None = None
    steps: tuple[Step, ...] = ()
    checks: Annotated[tuple[Check, ...], Field(min_length=1)]
    veto: tuple[Code, ...] = ()
    bonus: tuple[Bonus, ...] = ()
    questions: dict[Id, Choice] = Field(default_factory=dict)
    classify: dict[Id, Choice] = Field(default_factory=dict)
    caps: tuple[Cap, ...] = ()
    dimensions: tuple[Dimension, ...] = ()
    reweight: tuple[Reweighting, ...] = ()
    grades: tuple[Grade, ...] = ()
    overrides: tuple[Override, ...] = ()
    output: dict[str, Report] = Field(default_factory=dict)

    @cached_property
    def by_id(self) -> Mapping[str, Check]:
        """The checks by id."""
        return {check.id: check for check in self.checks}

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages of the question, in order."""
        return tuple(self.question.root)

    @model_validator(mode="after")
    def _refers_to_what_is_there(self) -> Rubric:
        faults = [
            InitErrorDetails(type=PydanticCustomError("value_error", "{error}", {"error": what}), loc=place, input=None)
            for place, what in faults_of(self)
        ]
        if faults:
            raise ValidationError.from_exception_data(type(self).__name__, faults)
        return self
