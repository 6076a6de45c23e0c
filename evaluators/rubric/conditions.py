"""What a rubric can have checked by code: conditions on what the trace shows.

In a rubric's file a condition is a map with one key, such as `called: search` or `all: [{...}, {...}]`.  Here are only
their forms; `evaluators.rubric.checking` holds them against a case, with three outcomes: true, false, and unknown where
something that would decide was not captured.

Names of tools are compared by their letters and digits alone, with or without namespaces (`server.tool`,
`mcp__server__tool`) and prefixes of hand-offs (`transfer_to_`); `*` stands for any.  They are names of agents as well.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator


class Form(BaseModel):
    """A part of a rubric's file: unknown keys are errors, and nothing changes once it is read."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def as_tuple(value: object) -> object:
    """One name as a list of one; for validators."""
    return [value] if isinstance(value, str) else value


def _as_word(value: object) -> object:
    """YAML reads `true` as a boolean."""
    return str(value).lower() if isinstance(value, bool) else value


Names = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], BeforeValidator(as_tuple), Field(min_length=1)]
"""One name, or a list of them."""


class FieldState(Form):
    """A field of the input, and what it has to be.

    `present`: it was found, if only as null.  `empty`: null, blank, or without items.  `filled`: the contrary.
    """

    name: str
    state: Annotated[Literal["present", "absent", "empty", "filled", "true", "false"], BeforeValidator(_as_word)] = (
        Field(alias="is")
    )


class Before(Form):
    """The first of one kind of event came before the first of another; false unless both are there.

    An event is a tool's or an agent's name, or `output.FIELD`: the agent wrote something that holds this field, filled,
    for whomever; or `answered.FIELD`: so did the last thing that it said to the user before they spoke again.
    """

    first: Names
    then: Names


class Contains(Form):
    """A text holds a pattern of the rubric.

    `text` is a field, `answer_text` (the last output as it is) or `user`.  Lines that hold a pattern of `without` don't
    count, nor, with `said_by_user: false`, what stands in the user's own words.
    """

    text: str
    pattern: Names
    without: Annotated[tuple[str, ...], BeforeValidator(as_tuple)] = ()
    said_by_user: bool = True


class Unrecorded(Form):
    """A text holds values of a pattern whose number occurs nowhere in the records.

    `records` are fields, `results` (of tools and agents) and `user`.  Lines that hold a pattern of `without` don't
    count.
    """

    text: str
    pattern: Names
    records: Names
    without: Annotated[tuple[str, ...], BeforeValidator(as_tuple)] = ()


class Sections(Form):
    """The text under one heading (its level in `heading`, such as `###`) has fewer or more lines than allowed."""

    text: str
    heading: str = "###"
    fewer_than: int | None = Field(default=None, ge=1)
    more_than: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _has_a_limit(self) -> Sections:
        if self.fewer_than is None and self.more_than is None:
            raise ValueError("has no limit; give fewer_than or more_than")
        return self


class Condition(Form):
    """One condition. Exactly one of the keys is given.

    `all`, `any`, `not` combine others.  `called`: one of these tools or agents was used; unknown where its name only
    occurs in another call's name or arguments.  `repeated`: one of these was called twice with the same arguments on
    one message of the user and said the same; unknown where what it said differs or speaks of a failure.  `before`,
    `contains`, `unrecorded`, `sections`: see there.  `field`: of what the agent put out.  `first_answer`: of what it
    said last before the user spoke for the second time; `opening`: that belongs to the case and is no history.
    `in_a_row`: of what it said last to two messages of the user one after the other.  `output`: the last output is a
    JSON object and nothing else (`bare_json`), holds one (`json`), or none (`text`).  `asked`: the judge chose this
    answer for a question of the rubric's `questions`.
    """

    all_of: tuple[Condition, ...] | None = Field(default=None, alias="all", min_length=1)
    any_of: tuple[Condition, ...] | None = Field(default=None, alias="any", min_length=1)
    negated: Condition | None = Field(default=None, alias="not")
    called: Names | None = None
    repeated: Names | None = None
    before: Before | None = None
    field: FieldState | None = None
    first_answer: FieldState | None = None
    in_a_row: FieldState | None = None
    opening: bool | None = None
    contains: Contains | None = None
    unrecorded: Unrecorded | None = None
    sections: Sections | None = None
    output: Literal["bare_json", "json", "text"] | None = None
    asked: dict[str, str] | None = None

    @model_validator(mode="after")
    def _is_one(self) -> Condition:
        if len(self.model_fields_set) != 1 or all(getattr(self, name) is None for name in self.model_fields_set):
            known = sorted(field.alias or name for name, field in type(self).model_fields.items())
            raise ValueError(f"has to have exactly one key; use one of {', '.join(known)}, and all or any to combine")
        return self

    def parts(self) -> tuple[Condition, ...]:
        """The conditions that this one combines."""
        return (self.all_of or ()) + (self.any_of or ()) + ((self.negated,) if self.negated is not None else ())
