"""What a judge may answer to a prompt file: one of its labels, and why."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints, create_model

_STRICT = ConfigDict(extra="forbid")
Reason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class LabelAnswer(BaseModel):
    """A label and its reason. The reason comes first, so that the label follows from it."""

    model_config = _STRICT

    explanation: Reason
    label: str


class CallLabelAnswer(LabelAnswer):
    """The same about one call."""

    call_id: str


class CallsAnswer(BaseModel):
    """The same about each of several calls."""

    model_config = _STRICT

    calls: list[CallLabelAnswer]


def answer_type(name: str, labels: Iterable[str], *, per_call: bool) -> type[LabelAnswer] | type[CallsAnswer]:
    """The model of an answer in which only these labels are possible."""
    # Made at run time: the labels are only known from the file.
    one_of: Any = Literal[tuple(labels)]
    if not per_call:
        return create_model(f"{name}_answer", __base__=LabelAnswer, label=(one_of, ...))
    of_call: Any = create_model(f"{name}_call", __base__=CallLabelAnswer, label=(one_of, ...))
    return create_model(f"{name}_answers", __base__=CallsAnswer, calls=(list[of_call], ...))
