"""The settings of the `admission` processor: what is judged, and how often a judge model is asked.

In: the mapping of the configuration.  Out: checked settings, and per evaluator what holds for it.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

Always: TypeAlias = Literal["errors", "suspicions"]


def _listed(value: object) -> object:
    return [value] if isinstance(value, str | bool | int | float) else value


def _as_written(value: object) -> object:
    """Values of attributes as texts, so that `true` and `8080` can be written without quotation marks."""
    if isinstance(value, list):
        return [str(one).lower() if isinstance(one, bool) else str(one) for one in value]
    return value


Patterns: TypeAlias = Annotated[tuple[str, ...], BeforeValidator(_as_written), BeforeValidator(_listed)]


class Filter(BaseModel):
    """A description of what is to be judged; all that it says has to hold.

    Patterns are matched whole, with `*` for any text and `?` for any character; of several, one has to match.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    service: Patterns = Field(default=(), description="service.name of the judged span.")
    agent: Patterns = Field(default=(), description="Name of the agent; of a whole run, of one of its agents.")
    tool: Patterns = Field(default=(), description="Name of a tool that was called in what is judged.")
    attributes: dict[str, Patterns] = Field(
        default_factory=dict, description="Attributes of the judged span or its resource, by key."
    )
    status: Literal["error", "ok"] | None = Field(
        default=None, description="error: a call, a model request, the run or the judged span itself failed."
    )

    @model_validator(mode="after")
    def _says_something(self) -> Filter:
        if not (self.service or self.agent or self.tool or self.attributes or self.status):
            raise ValueError("says nothing; name service, agent, tool, attributes or status")
        return self


class Rules(BaseModel):
    """What is judged by one evaluator."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    include: tuple[Filter, ...] = Field(
        default=(), description="Judge only what one of these describes. Without any, everything."
    )
    exclude: tuple[Filter, ...] = Field(
        default=(), description="Never judge what one of these describes; the same keys."
    )
    sampling_percentage: float = Field(
        default=100.0,
        ge=0.0,
        le=100.0,
        description="For how many of a hundred traces a judge model is asked. Rules judge all of them. All evaluators "
        "take the same traces, those with lower percentages fewer of them; a session is taken whole or not at all.",
    )
    always: tuple[Always, ...] = Field(
        default=("errors", "suspicions"),
        description="Ask a judge model whatever the sample: about what failed (errors), and about what rules suspect "
        "(suspicions).",
    )


class Override(BaseModel):
    """What is different for one evaluator; what isn't given is as for all."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    include: tuple[Filter, ...] | None = Field(default=None, description="In place of include above.")
    exclude: tuple[Filter, ...] | None = Field(default=None, description="In place of exclude above.")
    sampling_percentage: float | None = Field(
        default=None, ge=0.0, le=100.0, description="In place of sampling_percentage above."
    )
    always: tuple[Always, ...] | None = Field(default=None, description="In place of always above.")


class AdmissionSettings(Rules):
    """The same for all evaluators, and by name what is different for some."""

    evaluators: dict[str, Override] = Field(
        default_factory=dict, description="By name of the evaluator: what is different for it."
    )

    def rules_of(self, evaluator: str) -> Rules:
        """What holds for the evaluator of this name."""
        common = {key: getattr(self, key) for key in Rules.model_fields}
        own = self.evaluators.get(evaluator)
        given = {} if own is None else {key: getattr(own, key) for key in own.model_fields_set}
        return Rules.model_construct(**{**common, **{key: one for key, one in given.items() if one is not None}})
