"""What a judge answers about a rubric: violations with quotes, never points.

The type of the answer is made from the rubric, so that only its checks, elements and answers can be named; anything
else is no valid answer.  There is no field for points or for a verdict: what a judge writes of these is not read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, Field, create_model

from evaluators.rubric.model import Choice, Extent, Rubric

MOST_VIOLATIONS = 60


class Violation(BaseModel):
    """One violation. Rubrics narrow `check` to what they know, and add `element`, `extent` and fields per question."""

    quote: str = Field(
        description="The words of the record that show it, exactly; of something missing, those beside which it is."
    )
    item: str = Field(description="The place, step or thing it is about, as the record names it.")
    evidence: list[str]
    why: str = Field(description="One sentence.")
    check: str

    @property
    def lacking(self) -> str | None:
        """The element that is lacking, where the rubric asks that."""
        found: str | None = getattr(self, "element", None)
        return found

    @property
    def size(self) -> str | None:
        """low, middle or high, where the rubric asks that."""
        found: str | None = getattr(self, "extent", None)
        return found

    def chosen(self, questions: Mapping[str, Choice]) -> dict[str, str]:
        """What the judge answered of this violation to these questions."""
        return {name: str(getattr(self, name)) for name in questions}


class RubricAnswer(BaseModel):
    """Everything a judge says of a case. Rubrics add a field per question."""

    violations: list[Violation] = Field(max_length=MOST_VIOLATIONS)
    suggestions: list[str] = Field(max_length=20)
    summary: str = Field(description="At most two sentences.")

    def answers(self, questions: Mapping[str, Choice]) -> dict[str, str]:
        """What the judge answered to these questions of the rubric."""
        return {name: str(getattr(self, name)) for name in questions}


def answer_type(rubric: Rubric) -> type[RubricAnswer]:
    """The type of the answer for this rubric."""
    asked = [check for check in rubric.checks if check.ask]
    ids = tuple(check.id for check in asked) + tuple(one.id for one in rubric.bonus)
    fields: dict[str, Any] = {"check": (Literal[ids], ...)}
    elements = tuple(dict.fromkeys(one.id for check in asked for one in check.elements))
    if elements:
        fields["element"] = (Literal[elements] | None, Field(description="What is lacking, where a check asks that."))
    if any(isinstance(cost, Extent) for cost in (*(c.deduct for c in asked), *(b.add for b in rubric.bonus))):
        fields["extent"] = (Literal["low", "middle", "high"], Field(description="How bad, or how good, it is."))
    fields |= {name: _field(choice) for name, choice in rubric.classify.items()}
    named = "".join(part.title() for part in rubric.name.split("_"))
    violation = create_model(f"{named}Violation", __base__=Violation, **fields)
    return create_model(
        f"{named}Findings",
        __base__=RubricAnswer,
        violations=(list[violation], Field(max_length=MOST_VIOLATIONS)),  # type: ignore[valid-type]
        **{name: _field(choice) for name, choice in rubric.questions.items()},
    )


def _field(choice: Choice) -> Any:
    return Literal[choice.one_of], Field(description=choice.text.said_in("en"))
