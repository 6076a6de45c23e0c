"""What a `judge/<name>` extension can be told: which model, where, and how hard it may be worked.

In: the mapping of the configuration.  Out: checked settings.  Imports no client library, so that whoever only validates
a configuration stays light.
"""

from __future__ import annotations

from typing import Self
from urllib.parse import urlsplit

from pydantic import ConfigDict, Field, SecretStr, field_validator, model_validator

from evaluators.duration import Duration
from evaluators.judge.generation_settings import GenerationSettings
from evaluators.judge.limit_settings import (
    BreakerSettings,
    BudgetSettings,
    CacheSettings,
    LimitSettings,
    PriceSettings,
)
from evaluators.judge.redaction import Redaction, can_find_personal_data

DEFAULT_BASE_URL = "https://api.openai.com/v1"


class JudgeSettings(GenerationSettings):
    """An OpenAI-compatible endpoint and the limits within which it is used."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    model: str = Field(min_length=1, description="Name of the model, as the endpoint knows it.")
    base_url: str = Field(
        default=DEFAULT_BASE_URL, description="Address of the endpoint; `/chat/completions` is appended to it."
    )
    api_key: SecretStr = Field(default=SecretStr(""), description="Key of the endpoint; empty where none is needed.")
    headers: dict[str, SecretStr] = Field(default_factory=dict, description="Further headers of every request.")
    timeout: Duration = Field(
        default=60.0,
        gt=0,
        le=3600,
        description="How long one request may take; see `limits::deadline` for a verdict as a whole.",
    )
    max_concurrent_requests: int = Field(default=4, ge=1, le=1000, description="Requests under way at a time.")
    max_retries: int = Field(
        default=2, ge=0, le=10, description="Repetitions after 429, 5xx or a broken connection, within the deadline."
    )
    steps_per_request: int = Field(
        default=8, ge=1, le=100, description="Most questions of one evaluator about the steps of a run in one request."
    )
    max_prompt_tokens: int = Field(
        default=24_000,
        ge=2_000,
        description="Longest request in tokens as they are estimated, its answer not included. What matters least of a "
        "run is left out to fit; what doesn't fit even so is too_large.",
    )
    redact: Redaction = Field(
        default=Redaction.SECRETS,
        description="What is replaced by placeholders before anything is sent: `none`, `secrets`, or `personal`, which "
        "is secrets and personal data.",
    )
    control_statements: bool = Field(
        default=True,
        description="Put two statements whose right answers are known to the judge with every request, and take no "
        "answer of one that gets them wrong. A model that can't answer such statements beside a harmless run either is "
        "asked without, and its verdicts say so.",
    )

    escalate_to: str | None = Field(
        default=None,
        description="Id of another judge that is asked about what this one leaves in doubt: verdicts of low "
        "confidence, those that pass what rules suspect, and answers without a valid form. Its verdict stands.",
    )
    escalate_below: float = Field(
        default=0.7, ge=0.0, le=1.0, description="Verdicts of less confidence are in doubt, if there is escalate_to."
    )
    limits: LimitSettings = Field(default_factory=LimitSettings, description="Pace and patience.")
    budget: BudgetSettings = Field(default_factory=BudgetSettings, description="What may be used.")
    prices: PriceSettings | None = Field(default=None, description="What the model costs; for `budget` and metrics.")
    breaker: BreakerSettings = Field(
        default_factory=BreakerSettings, description="When an endpoint that is down is left alone."
    )
    cache: CacheSettings | None = Field(default=None, description="Keep answers; none are kept without it.")

    @model_validator(mode="after")
    def _personal_data_needs_its_extra(self) -> Self:
        if self.redact is Redaction.PERSONAL and not can_find_personal_data():
            raise ValueError(
                "redact: personal needs packages that aren't installed; "
                "pip install 'spanjudge[redaction]', or use secrets"
            )
        return self

    @model_validator(mode="after")
    def _money_needs_prices(self) -> Self:
        if self.budget.limits_money and (self.prices is None or not (self.prices.input or self.prices.output)):
            lack = "prices are missing" if self.prices is None else "by its prices the model costs nothing"
            raise ValueError(
                f"budget limits money, but {lack}; set prices::input and prices::output per million tokens, "
                "or limit calls or tokens instead"
            )
        return self

    @field_validator("base_url")
    @classmethod
    def _is_http(cls, value: str) -> str:
        parts = urlsplit(value)
        # `port` is looked at for the error that it raises.
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0 or not _is_plain(value):
            raise ValueError("is not an http:// or https:// address, such as http://localhost:8000/v1")
        return value.rstrip("/")

    @field_validator("api_key")
    @classmethod
    def _fits_into_a_header(cls, value: SecretStr) -> SecretStr:
        # Keys read from files bring their line end along.
        key = value.get_secret_value().strip()
        if not _is_plain(key):
            raise ValueError("has blanks or characters that no key has; is it quoted or pasted twice?")
        return SecretStr(key)

    @field_validator("headers")
    @classmethod
    def _fit_into_headers(cls, value: dict[str, SecretStr]) -> dict[str, SecretStr]:
        for name, content in value.items():
            text = content.get_secret_value()
            if not name or not _is_plain(name) or not text.isascii() or not text.isprintable():
                raise ValueError(f"{name!r} or its value has characters that no header can carry")
        return value

    @property
    def endpoint(self) -> str:
        """Scheme, host and port alone: what may stand in messages."""
        parts = urlsplit(self.base_url)
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
        return f"{parts.scheme}://{host}" + (f":{parts.port}" if parts.port else "")


def _is_plain(text: str) -> bool:
    """Whether the text is of printable ASCII without blanks."""
    return text.isascii() and text.isprintable() and " " not in text


def off_reason(name: str, settings: JudgeSettings) -> str | None:
    """Why this judge can't be used, in one line for the start-up log; None when it can."""
    if settings.base_url != DEFAULT_BASE_URL or settings.api_key.get_secret_value() or settings.headers:
        return None
    return (
        f"{name} is off: it has no api_key and base_url is OpenAI's own. "
        f"Rules judge alone; set OPENAI_API_KEY, or base_url to an endpoint that needs no key."
    )
