"""The settings of the `assemble` processor: how long to wait for a trace, how much may be held, what is written."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from evaluators.duration import Duration, format_duration


class Settings(BaseModel):
    """All waiting is measured from arrival, on a monotonic clock, never by the spans' own times."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    quiet_period: Duration = Field(
        default=6.0, description="A trace is looked at when nothing of it has arrived for this long."
    )
    idle_timeout: Duration = Field(
        default=30.0, description="A run whose top span or parents are missing is judged after this silence."
    )
    max_age: Duration = Field(default=600.0, description="A run is judged at this age, whatever is missing.")
    hold: Duration = Field(
        default=10.0,
        description="How long spans that are ready wait; verdicts of slower judges follow on spans of their own.",
    )
    max_hold: Duration = Field(default=300.0, description="The longest any span is kept, counted from its arrival.")
    late_window: Duration = Field(
        default=60.0, description="How long a judged run is kept, so that late spans can lead to judging it again."
    )
    ledger_max_age: Duration = Field(
        default=86400.0, description="How long a judged trace is remembered, so that its late spans are known as such."
    )
    rejoin: Literal["history", "session", "off"] = Field(
        default="history",
        description="Judge traces that are pieces of one run, as bare model calls are, together: where a later one "
        "repeats the calls that an earlier one asked for (history), only if both have one session id as well "
        "(session), or never (off).",
    )
    session_idle: Duration = Field(
        default=1800.0,
        gt=0,
        description="A session is over, and judged as a whole, when nothing of it has arrived for this long.",
    )
    limit_mib: int = Field(
        default=512, ge=1, description="Bytes that may be held and queued before receivers ask senders to wait."
    )
    emit_unscored: bool = Field(
        default=False, description="Also mark on spans what has no score, with the status and explanation that say why."
    )
    span_events: bool = Field(
        default=False, description="Also add an event gen_ai.evaluation.result to the judged span for every score."
    )

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.max_hold <= self.idle_timeout:
            raise ValueError(
                f"max_hold ({format_duration(self.max_hold)}) must be longer than idle_timeout "
                f"({format_duration(self.idle_timeout)}), or runs without a top span leave before they are judged"
            )
        if self.idle_timeout < self.quiet_period:
            raise ValueError(
                f"idle_timeout ({format_duration(self.idle_timeout)}) must not be shorter than quiet_period "
                f"({format_duration(self.quiet_period)})"
            )
        return self
