"""How hard a judge may be worked: the parts of a judge's settings that bound requests, spending and waiting.

In: mappings of the configuration.  Out: checked settings.  Never reads a file or a clock.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from evaluators.duration import Duration


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class LimitSettings(_Part):
    """Pace and patience. Judges with the same address and key share requests_per_minute and tokens_per_minute."""

    requests_per_minute: int | None = Field(default=None, ge=1, description="Most requests in any minute.")
    tokens_per_minute: int | None = Field(
        default=None,
        ge=1,
        description="Most tokens read and written in any minute; estimated before a request, corrected after it.",
    )
    max_queued: int = Field(
        default=256,
        ge=1,
        description="Requests that may wait. Failures go first, then what rules suspect, then the rest; the last one "
        "is dropped.",
    )
    deadline: Duration = Field(
        default=300.0,
        gt=0,
        le=86_400,
        description="How long a verdict may take from asking to its answer, waiting and retries included. Commands on "
        "files don't count the time before a request has its place.",
    )


class PeriodBudget(_Part):
    """The most that may be used in any such period."""

    calls: int | None = Field(default=None, ge=0, description="Requests.")
    tokens: int | None = Field(default=None, ge=0, description="Tokens read and written.")
    money: float | None = Field(
        default=None, ge=0, allow_inf_nan=False, description="In the currency of `prices`, which must be given."
    )


class BudgetSettings(_Part):
    """What may be used. Where an endpoint reports no usage, it is estimated from characters."""

    per_hour: PeriodBudget = Field(default_factory=PeriodBudget, description="In any 60 minutes.")
    per_day: PeriodBudget = Field(default_factory=PeriodBudget, description="In any 24 hours.")
    file: Path = Field(
        default=Path("spanjudge-budgets.db"),
        description="Where it is kept what was used, so that a restart doesn't forget it; relative to the working "
        "directory. Only written when there is a budget.",
    )

    @property
    def has_limits(self) -> bool:
        """Whether anything is limited."""
        return any(value is not None for part in (self.per_hour, self.per_day) for _, value in part)

    @property
    def limits_money(self) -> bool:
        """Whether prices are needed."""
        return self.per_hour.money is not None or self.per_day.money is not None


class PriceSettings(_Part):
    """What the model costs per million tokens, in any currency."""

    input: float = Field(ge=0, allow_inf_nan=False, description="A million tokens read.")
    output: float = Field(ge=0, allow_inf_nan=False, description="A million tokens written.")


class BreakerSettings(_Part):
    """When an endpoint that is down or refuses everything is left alone."""

    failures: int = Field(
        default=5,
        ge=1,
        description="Requests in a row that were unreachable, timed out, or answered 5xx, 401, 403, 404 or no JSON.",
    )
    pause: Duration = Field(
        default=30.0,
        gt=0,
        le=3600,
        description="How long nothing is asked then, before one request tries; doubled while it fails, up to 5m.",
    )


class CacheSettings(_Part):
    """Answers that are kept, so that an equal question about an equal run isn't paid for again."""

    file: Path | None = Field(
        default=None, description="Where they are kept, relative to the working directory; in memory without it."
    )
    max_size_mib: int = Field(default=64, ge=1, le=65_536, description="The oldest answers are forgotten above it.")
    max_age: Duration = Field(default=604_800.0, gt=0, description="Answers are forgotten when they are older.")
