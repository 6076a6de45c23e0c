"""What browsers are told: which pages may send, what they may send, and what they may read."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from collector.receivers.cors import Cors, is_preflight
from collector.receivers.otlp_settings import CorsSettings

APP = "https://app.example.com"


def told(settings: dict[str, object], origin: str, **headers: str) -> dict[str, str]:
    """The answer to a preflight request, as a mapping."""
    asked = {"origin": origin, "access-control-request-method": "POST"}
    asked |= {name.replace("_", "-"): value for name, value in headers.items()}
    found = Cors(CorsSettings.model_validate(settings)).preflight(asked)
    return {name.decode(): value.decode() for name, value in found}


@pytest.mark.parametrize(
    ("allowed", "origin", "answer"),
    [
        ([APP], APP, APP),
        ([APP], "HTTPS://APP.example.com", "HTTPS://APP.example.com"),
        (["https://other.example.com", APP], APP, APP),
        (["*"], APP, "*"),
        (["*"], "null", "*"),
        (["https://*.example.com"], "https://a.b.example.com", "https://a.b.example.com"),
        (["http://localhost:*"], "http://localhost:8080", "http://localhost:8080"),
        ([APP], "https://evil.example.org", None),
        ([APP], "http://app.example.com", None),
        ([APP], "https://app.example.com:444", None),
        ([APP], "https://app.example.com.evil.org", None),
        ([APP], "null", None),
        (["https://*.example.com"], "https://example.com", None),
        (["https://*.example.com"], "https://evil.org/.example.co", None),
        (["https://a*a.example"], "https://a.example", None),
    ],
)
def test_an_origin_is_allowed_if_it_is_named_or_fits_a_wildcard(
    allowed: list[str], origin: str, answer: str | None
) -> None:
    assert told({"allowed_origins": allowed}, origin).get("access-control-allow-origin") == answer


def test_credentials_are_allowed_for_named_origins_alone() -> None:
    assert told({"allowed_origins": [APP]}, APP)["access-control-allow-credentials"] == "true"
    assert "access-control-allow-credentials" not in told({"allowed_origins": ["*"]}, APP)


@pytest.mark.parametrize(
    ("allowed", "asked", "answer"),
    [
        ([], "content-type", "content-type"),
        ([], "Content-Type, content-encoding", "content-type, content-encoding"),
        ([], "authorization", None),
        (["Authorization"], "authorization,content-type", "authorization, content-type"),
        (["*"], "x-anything", "x-anything"),
        (["X-One"], "x-one, x-two", None),
    ],
)
def test_headers_are_allowed_all_or_none(allowed: list[str], asked: str, answer: str | None) -> None:
    found = told({"allowed_origins": [APP], "allowed_headers": allowed}, APP, access_control_request_headers=asked)
    assert found.get("access-control-allow-headers") == answer
    assert ("access-control-allow-origin" in found) == (answer is not None)


def test_only_posting_is_allowed() -> None:
    assert told({"allowed_origins": [APP]}, APP)["access-control-allow-methods"] == "POST"
    refused = told({"allowed_origins": [APP]}, APP, access_control_request_method="DELETE")
    assert "access-control-allow-methods" not in refused


def test_how_long_it_holds_is_told_when_it_is_configured() -> None:
    assert told({"allowed_origins": [APP], "max_age": 600}, APP)["access-control-max-age"] == "600"
    assert "access-control-max-age" not in told({"allowed_origins": [APP]}, APP)


@pytest.mark.parametrize("origin", [APP, "https://evil.example.org"])
def test_a_preflight_answer_varies_with_what_was_asked_whether_allowed_or_not(origin: str) -> None:
    assert told({"allowed_origins": [APP]}, origin)["vary"] == (
        "Origin, Access-Control-Request-Method, Access-Control-Request-Headers"
    )


def test_every_other_answer_can_be_read_by_the_page_and_says_when_to_come_again() -> None:
    named = dict(Cors(CorsSettings(allowed_origins=[APP])).of_answer({"origin": APP}))
    assert named == {
        b"vary": b"Origin",
        b"access-control-allow-origin": APP.encode(),
        b"access-control-allow-credentials": b"true",
        b"access-control-expose-headers": b"Retry-After",
    }
    to_all = dict(Cors(CorsSettings(allowed_origins=["*"], exposed_headers=[])).of_answer({"origin": APP}))
    assert to_all == {b"access-control-allow-origin": b"*"}


def test_an_answer_to_no_page_at_all_still_varies_for_caches() -> None:
    assert Cors(CorsSettings(allowed_origins=[APP])).of_answer({}) == [(b"vary", b"Origin")]


@pytest.mark.parametrize(
    ("method", "headers", "is_one"),
    [
        ("OPTIONS", {"origin": APP, "access-control-request-method": "POST"}, True),
        ("OPTIONS", {"origin": APP}, False),
        ("OPTIONS", {"access-control-request-method": "POST"}, False),
        ("POST", {"origin": APP, "access-control-request-method": "POST"}, False),
    ],
)
def test_a_preflight_is_known_by_method_and_headers(method: str, headers: dict[str, str], is_one: bool) -> None:
    assert is_preflight(method, headers) is is_one


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"allowed_origins": []}, "at least 1"),
        ({"allowed_origins": ["app.example.com"]}, "such as https://app.example.com"),
        ({"allowed_origins": ["https://*.*.example.com"]}, "more than one *"),
        ({"allowed_origins": ["*"], "allowed_headers": ["a b"]}, "can't be the name of a header"),
        ({"allowed_origins": ["*"], "exposed_headers": ["a\nb"]}, "can't be the name of a header"),
        ({"allowed_origins": ["*"], "max_age": -1}, "greater than or equal to 0"),
    ],
)
def test_what_cannot_work_is_refused(settings: dict[str, object], complaint: str) -> None:
    with pytest.raises(ValidationError, match=complaint.replace("*", r"\*")):
        CorsSettings.model_validate(settings)
