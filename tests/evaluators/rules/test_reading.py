"""A text is read once, and what is kept of it is bounded."""

from evaluators.rules import reading
from evaluators.rules.reading import reading_of
from evaluators.rules.units import Kind


def test_the_same_text_is_read_once() -> None:
    text = '{"price_usd": 129}'
    assert reading_of(text) is reading_of("".join(list(text)))
    assert reading_of(text).numbers is reading_of(text).numbers


def test_a_reading_tells_structure_numbers_and_secrets() -> None:
    read = reading_of('{"items": [{"price_usd": 129, "api_key": "tr0ub4dor"}, {"price_usd": 5, "api_key": null}]}')
    assert [(found.kind, found.value) for found in read.fields("shop")] == [(Kind.CURRENCY, 129), (Kind.CURRENCY, 5)]
    assert {129.0, 5.0} <= read.numbers and 2.0 in read.counts
    assert [value for _, value in read.secrets] == ["tr0ub4dor"]


def test_prose_has_no_fields_and_no_counts() -> None:
    read = reading_of("The room is 129 dollars.")
    assert (read.value, read.fields("x"), read.counts, read.secrets) == (None, (), frozenset(), ())
    assert 129.0 in read.numbers


def test_alike_values_have_one_fingerprint() -> None:
    assert reading_of('{"a": 1, "b": 2}').fingerprint == reading_of('{"b": 2.0, "a": 1}').fingerprint
    assert reading_of("all  well").fingerprint == reading_of("all well").fingerprint


def test_the_oldest_leave_when_together_they_are_too_long() -> None:
    first = reading_of("the first of many")
    for number in range(30):
        reading_of(f"{number} " * 20_000)
    assert reading_of("the first of many") is not first
    kept = reading._readings
    assert kept._chars <= reading._MOST_CHARS and kept._chars == sum(map(len, kept._kept))
