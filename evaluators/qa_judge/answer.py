"""What a judge says of an artifact beyond what every rubric asks: per defect its root cause and what to change."""

from __future__ import annotations

from typing import Any, get_args

from pydantic import Field, create_model

from evaluators.rubric.answer import MOST_VIOLATIONS, RubricAnswer, answer_type
from evaluators.rubric.model import Rubric


def defects_type(rubric: Rubric) -> type[RubricAnswer]:
    """The type of an answer about this rubric with those fields."""
    answer = answer_type(rubric)
    [violation] = get_args(answer.model_fields["violations"].annotation)
    defect: Any = create_model(
        "QaJudgeDefect",
        __base__=violation,
        root_cause=(str, Field(description="Why it came to this, half a sentence.")),
        suggestion=(str, Field(description="What to change, in words and not as code.")),
    )
    return create_model("QaJudgeDefects", __base__=answer, violations=(list[defect], Field(max_length=MOST_VIOLATIONS)))
