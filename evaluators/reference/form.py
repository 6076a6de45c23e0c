"""What is known from outside a run, in the JSON form that cases, reference files and attributes share, checked.

In: parsed JSON: `{"task", "outcome", "tool_calls", "required_outputs", "key_actions"}`, each optional, calls as
`{"name", "arguments", "output"}`, wrapped in `function` as chat APIs have them, or as a name alone.  A text in place
of all is the outcome.
Out: a `Reference`.  Absent and null say that nothing is known; an empty list says that there should be none.
"""

from __future__ import annotations

from typing import Annotated

import orjson
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, model_validator

from evaluators.cases import Reference, ReferenceCall

Json = dict[str, JsonValue]


def _object(arguments: object) -> object:
    """Arguments as an object where they are the text of one, the way models write them."""
    if not isinstance(arguments, str):
        return arguments
    try:
        return orjson.loads(arguments)
    except orjson.JSONDecodeError:
        raise ValueError("is text that is no JSON; write an object") from None


class ReferenceCallForm(BaseModel):
    """A call that is expected. Arguments that are left out or null may be any."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str | None = Field(default=None, description="Only a position: it never counts.")
    name: str = Field(min_length=1)
    arguments: Annotated[Json | None, BeforeValidator(_object)] = None
    output: JsonValue = None

    @model_validator(mode="before")
    @classmethod
    def _unwrapped(cls, value: object) -> object:
        if isinstance(value, str):
            return {"name": value}
        if isinstance(value, dict) and isinstance(value.get("function"), dict):
            return {**value["function"], "id": value.get("id")}
        return value

    def as_call(self) -> ReferenceCall:
        """The call in the evaluators' vocabulary."""
        return ReferenceCall(name=self.name, arguments=self.arguments, output=self.output)


class ReferenceForm(BaseModel):
    """What should have come of a run."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    task: str | None = Field(default=None, description="What was really wanted.")
    outcome: str | None = Field(default=None, description="The state or answer that is right, in words.")
    tool_calls: tuple[ReferenceCallForm, ...] | None = Field(
        default=None, description="The calls of a good run, in order; an empty list where there should be none."
    )
    required_outputs: tuple[str, ...] | None = Field(default=None, description="What the user must have been told.")
    key_actions: tuple[str, ...] | None = Field(default=None, description="Tools that a good run can't do without.")

    @model_validator(mode="before")
    @classmethod
    def _text_is_the_outcome(cls, value: object) -> object:
        return {"outcome": value} if isinstance(value, str) else value

    def as_reference(self, source: str) -> Reference:
        """The reference in the evaluators' vocabulary; `source` says where it is from."""
        return Reference(
            task=self.task or None,
            outcome=self.outcome or None,
            tool_calls=None if self.tool_calls is None else tuple(call.as_call() for call in self.tool_calls),
            required_outputs=self.required_outputs,
            key_actions=self.key_actions,
            source=source,
        )
