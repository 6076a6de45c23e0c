"""What a judge extension accepts, and when it is off."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from evaluators.judge.settings import DEFAULT_BASE_URL, JudgeSettings, off_reason


def _settings(**values: Any) -> JudgeSettings:
    return JudgeSettings.model_validate({"model": "m", **values})


def test_only_the_model_has_to_be_named() -> None:
    settings = _settings()
    assert settings.base_url == DEFAULT_BASE_URL
    assert settings.timeout == 60.0
    assert settings.steps_per_request == 8


@pytest.mark.parametrize(
    "wrong",
    [
        {"base_url": "localhost:8000"},
        {"base_url": "ftp://host/v1"},
        {"timeout": "0s"},
        {"timeout": 60},
        {"max_concurrent_requests": 0},
        {"temperature": 3},
        {"max_prompt_tokens": 100},
        {"modle": "x"},
        {"base_url": "http://local host/v1"},
        {"base_url": "http://localhost:99999/v1"},
        {"api_key": "sk-a sk-b"},
        {"api_key": "schlüssel"},
        {"headers": {"x-team": "a\nb"}},
        {"headers": {"x team": "a"}},
    ],
)
def test_values_that_can_not_work_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        _settings(**wrong)


def test_keys_are_never_written_out() -> None:
    settings = _settings(api_key="sk-very-secret", headers={"api-key": "also-secret"})
    for written in (repr(settings), settings.model_dump_json(), str(settings)):
        assert "very-secret" not in written and "also-secret" not in written


def test_a_key_from_a_file_may_bring_its_line_end_along() -> None:
    assert _settings(api_key="sk-abc\n").api_key.get_secret_value() == "sk-abc"


def test_a_refused_key_is_not_repeated() -> None:
    with pytest.raises(ValidationError) as refused:
        _settings(api_key="very secret")
    assert "very secret" not in str(refused.value)


def test_messages_name_the_endpoint_without_what_may_be_secret_in_its_address() -> None:
    assert _settings(base_url="https://me:pw@host.example:8443/v1/?key=abc").endpoint == "https://host.example:8443"


def test_without_a_key_at_the_default_address_a_judge_is_off_and_says_so_in_one_line() -> None:
    reason = off_reason("judge/default", _settings())
    assert reason is not None
    assert reason.startswith("judge/default is off: it has no api_key")
    assert "\n" not in reason


@pytest.mark.parametrize(
    "values",
    [{"api_key": "k"}, {"base_url": "http://127.0.0.1:8000/v1"}, {"headers": {"authorization": "Bearer k"}}],
)
def test_a_judge_with_a_key_or_an_address_of_its_own_is_on(values: dict[str, Any]) -> None:
    assert off_reason("judge/default", _settings(**values)) is None


def test_personal_data_can_not_be_asked_for_where_nothing_can_find_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluators.judge.settings.can_find_personal_data", lambda: False)
    assert _settings(redact="secrets").redact == "secrets"
    with pytest.raises(ValidationError, match=r"spanjudge\[redaction\]"):
        _settings(redact="personal")
