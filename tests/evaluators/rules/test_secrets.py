"""Which values count as secrets or personal data, and which only look like them."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.rules.secrets import Strength, find_secrets, is_secret_name, placeholder, redact, shown

CERTAIN, SUSPECTED = Strength.CERTAIN, Strength.SUSPECTED
BODY = "a7Kd93Lm2PqR8sT4vWx1Yz6B0cDe5FgH7JkNuZ3iQoXy"


def kinds(text: str) -> list[tuple[str, Strength]]:
    return [(found.kind, found.strength) for found in find_secrets(text)]


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("secret_key", "sk-" + BODY),
        ("secret_key", "sk-test-51HqLyjWDarjtT1zdp7dcXw9"),
        ("secret_key", "sk-proj-" + BODY[:20] + "_" + BODY[:20] + "-" + BODY[:9]),
        ("secret_key", "sk-lf-3f2a91c4-77d0-4e1b-9c55-0a8be2d41f60"),
        ("anthropic_key", "sk-ant-api03-" + BODY),
        ("aws_key", "AKIA" + "Q3RT7YPLMN4K2WXZ"),
        ("github_token", "ghp_" + BODY[:36]),
        ("github_token", "github_pat_" + BODY[:22] + "_" + (BODY * 2)[:59]),
        ("gitlab_token", "glpat-" + BODY[:20]),
        ("slack_token", "xoxb-" + "210987654321-" + BODY[:24]),
        ("google_key", "AIza" + BODY[:35]),
        ("stripe_key", "sk_live_" + BODY[:24]),
        ("stripe_key", "sk_test_" + BODY[:24]),
        ("npm_token", "npm_" + BODY[:36]),
        ("huggingface_token", "hf_" + BODY[:34]),
        ("sendgrid_key", "SG." + BODY[:22] + "." + BODY[:43]),
        ("telegram_token", "123456789:AA" + BODY[:33]),
        ("jwt", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dBjftJeZ4CVPmB92K27uhbUJU1p1r"),
        ("private_key", "-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----"),
        ("private_key", "-----BEGIN PRIVATE KEY-----"),
        ("card", "4111 1111 1111 1111"),
        ("card", "4111111111111111"),
        ("card", "5555-5555-5555-4444"),
        ("card", "3782 822463 10005"),
        ("card", "6212345678901232"),
        ("iban", "DE89 3704 0044 0532 0130 00"),
        ("iban", "GB82WEST12345698765432"),
        ("national_id", "11010519491231002X"),
        ("national_id", "529.982.247-25"),
        ("national_id", "RSSMRA85T10A562S"),
        ("national_id", "2 55 08 14 168 025 38"),
    ],
)
@pytest.mark.parametrize("around", ["{}", "see {}, please", "“{}”", "密钥是{}。", '{{"k": "{}"}}'])
def test_a_value_of_a_known_format_is_certain_wherever_it_stands(kind: str, value: str, around: str) -> None:
    text = around.format(value)
    (found,) = find_secrets(text)
    assert (found.kind, found.strength) == (kind, CERTAIN)
    assert text[found.start : found.end] == value


@pytest.mark.parametrize(
    "text",
    [
        "the task-force risk-assessment-of-2024-in-full-length",
        "https://scikit-learn.org/stable/modules/generated/sklearn.svm.SVC.html",
        "4111 1111 1111 1112",  # checksum
        "1234 5678 9012 3456",  # no issuer
        "1700000000000000",  # microseconds since 1970
        "1733011200123456789",  # nanoseconds since 1970
        "order 9400100000000000000000",
        "41111111111111111111111",  # too long
        "v4.1111.1111.1111.1111",
        "DE89 3704 0044 0532 0130 01",
        "110105194912310021",
        "529.982.247-26",
        "111.111.111-11",
        "2024-01-02",
        "3.14159265358979",
        "f47ac10b-58cc-4372-a567-0e02b2c3d479",
        "u_4471",
        "AKIAshort",
        "eyJhbGciOiJIUzI1NiJ9",
        "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
        "-----BEGIN CERTIFICATE-----",
        "pages 10-20, 555-1234",
        "Paris, France",
        "http://localhost:8080/path@x",
    ],
)
def test_what_only_resembles_a_secret_is_left_alone(text: str) -> None:
    assert find_secrets(text) == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("jane.doe@example.com", "email"),
        ("+1 415-555-2671", "phone"),
        ("(415) 555-2671", "phone"),
        ("13812345678", "phone"),
        ("078-05-1120", "national_id"),
        ("12345678Z", "national_id"),
        ("12 Main Street", "address"),
        ("北京市中关村大街27号", "address"),
        ("AKIAIOSFODNN7EXAMPLE", "aws_key"),
        ("sk-your-key-goes-here-please", "secret_key"),
        ("sk-xxxxxxxxxxxxxxxxxxxxxxxx", "secret_key"),
        ("sk-learn-is-a-great-library-2024", "secret_key"),
        ("bob:hunter22", "url_password"),
    ],
)
def test_what_has_no_check_digit_or_looks_like_an_example_is_suspected(text: str, kind: str) -> None:
    assert kinds(f"postgres://{text}@db" if kind == "url_password" else text) == [(kind, SUSPECTED)]


def test_a_spanish_id_is_certain_when_it_is_called_one() -> None:
    assert kinds("DNI: 12345678Z") == [("national_id", CERTAIN)]


def test_several_values_are_found_in_order_without_overlap() -> None:
    text = "Mexican; card 4111 1111 1111 1111; contact jane.doe@example.com; sk-" + BODY
    assert [kind for kind, _ in kinds(text)] == ["card", "email", "secret_key"]


def test_redaction_keeps_the_rest_and_gives_equal_values_equal_placeholders() -> None:
    spaced = redact("pay with 4111 1111 1111 1111 now")
    assert spaced == f"pay with {placeholder('card', '4111111111111111')} now"
    assert redact("4111111111111111") == placeholder("card", "4111 1111 1111 1111")
    assert redact("nothing here") == "nothing here"


def test_redaction_can_leave_personal_data() -> None:
    text = f"write to a@b.example with sk-{BODY}"
    assert redact(text, personal=False).startswith("write to a@b.example with [secret_key:")


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("api_token", True),
        ("apiKey", True),
        ("OPENAI_API_KEY", True),
        ("password", True),
        ("clientSecret", True),
        ("access-token", True),
        ("token", True),
        ("max_tokens", False),
        ("nextPageToken", False),
        ("token_count", False),
        ("key", False),
        ("secretary", False),
        ("primary_key", False),
    ],
)
def test_names_of_fields_that_hold_secrets(name: str, secret: bool) -> None:
    assert is_secret_name(name) is secret


@given(st.text(max_size=300))
def test_any_text_is_searched_and_redacted_without_error(text: str) -> None:
    found = find_secrets(text)
    assert all(one.start < one.end <= len(text) for one in found)
    assert all(left.end <= right.start for left, right in pairwise(found))
    assert bool(found) == (redact(text) != text)


HOSTILE = [
    "sk-",
    "4111 ",
    "a@",
    "a.a@b.",
    "eyJaaaaaaaa.",
    "-----BEGIN PRIVATE KEY-----",
    "://a:bbb",
    "1 ",
    "Aaaa ",
    "路",
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_a_megabyte_of_hostile_text_does_not_hide_the_secret_behind_it(unit: str) -> None:
    # Anything worse than linear would not come back within hours.
    text = unit * (1_000_000 // len(unit)) + " AKIAQ3RT7YPLMN4K2WXZ"
    last = find_secrets(text)[-1]
    assert (last.kind, text[last.start : last.end]) == ("aws_key", "AKIAQ3RT7YPLMN4K2WXZ")


def test_a_quote_is_redacted_before_it_is_cut() -> None:
    header, payload = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9", "eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4ifQ"
    token = f"{header}.{payload}.SflKxwRJSMeKKF2QT4fwpM"
    assert shown(f"bad token {token} given", 60).startswith("bad token [jwt:")
    assert token[:20] not in shown(token, 20)
    assert shown("x" * 100, 10) == "x" * 10 + "…"
    assert shown("short", 10) == "short"


def test_a_password_in_an_address_is_one_and_not_half_of_an_e_mail_address() -> None:
    assert "S3cr3t" not in redact("see https://admin:S3cr3tPazz@db.example.com/path")
    assert "admin" not in redact("see https://admin:S3cr3tPazz@db/path")
