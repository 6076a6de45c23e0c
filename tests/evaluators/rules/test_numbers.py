"""Numbers as people write them, and what they count."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.rules.numbers import numbers, quantities
from evaluators.rules.numerals import han_value, plain, readings
from evaluators.rules.units import Kind


@pytest.mark.parametrize(
    ("numeral", "expected"),
    [
        ("129", (129,)),
        ("1,234.5", (1234.5,)),
        ("1.234,5", (1234.5,)),
        ("1,234", (1234, 1.234)),
        ("1.234", (1.234, 1234)),
        ("12,34", (12.34,)),
        ("1 234", (1234,)),
        ("1'234", (1234,)),
        ("1'234.50", (1234.5,)),
        ("1 234.50", (1234.5,)),
        ("1.234.567", (1234567,)),
        ("12,34,567", (1234567,)),
        ("10,000,000", (10000000,)),
        ("1.2.3", ()),
    ],
)
def test_a_numeral_is_read_in_every_way_it_can_be_meant(numeral: str, expected: tuple[float, ...]) -> None:
    assert readings(numeral) == expected


@pytest.mark.parametrize(
    ("numeral", "expected"),
    [
        ("三", 3),
        ("十", 10),
        ("十五", 15),
        ("二十", 20),
        ("一百零五", 105),
        ("三百二十", 320),
        ("三千五", 3500),
        ("两万五", 25000),
        ("一亿两千万", 120_000_000),
        ("二〇二六", 2026),
        ("万", None),
    ],
)
def test_chinese_numerals(numeral: str, expected: float | None) -> None:
    assert han_value(numeral) == expected


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("CHF 1'234'567.80", Kind.CURRENCY, 1234567.8),
        ("3万4561円", Kind.CURRENCY, 34561),
        ("３万２千円", Kind.CURRENCY, 32000),
        ("1億2345万円", Kind.CURRENCY, 123_450_000),
        ("12萬5千元", Kind.CURRENCY, 125_000),
        ("2千3百元", Kind.CURRENCY, 2300),
        ("3万5", Kind.NUMBER, 35000),
        ("₩123만 5000", Kind.CURRENCY, 1_235_000),
        ("3만 5천원", Kind.NUMBER, 35000),
        ("二十五点五摄氏度", Kind.TEMPERATURE, 25.5),
        ("三点五公里", Kind.DISTANCE, 3.5),
        ("百分之二十五", Kind.PERCENT, 25),
        ("百分之三十五点五", Kind.PERCENT, 35.5),
        ("百分之12.5", Kind.PERCENT, 12.5),
        ("1,2 Mio. EUR", Kind.CURRENCY, 1_200_000),
        ("1,2 Mrd. Euro", Kind.CURRENCY, 1_200_000_000),
        ("1e3 m", Kind.DISTANCE, 1000),
        ("1.5e3 km", Kind.DISTANCE, 1500),
        ("1.25 × 10^8 km", Kind.DISTANCE, 125_000_000),
        ("1.25×10⁸ km", Kind.DISTANCE, 125_000_000),
        ("2.5 x 10**-3 kg", Kind.MASS, 0.0025),
        ("It's 80°F", Kind.TEMPERATURE, 80),
        ("8 degrees", Kind.TEMPERATURE, 8),
        ("气温8℃", Kind.TEMPERATURE, 8),
        ("二十五摄氏度", Kind.TEMPERATURE, 25),
        ("$1,234.50 per night", Kind.CURRENCY, 1234.5),
        ("60 €", Kind.CURRENCY, 60),
        ("USD 129", Kind.CURRENCY, 129),
        ("129 dollars", Kind.CURRENCY, 129),
        ("１２９元", Kind.CURRENCY, 129),
        ("三百二十元", Kind.CURRENCY, 320),
        ("3.5万元", Kind.CURRENCY, 35000),
        ("$40k", Kind.CURRENCY, 40000),
        ("$5.1 billion", Kind.CURRENCY, 5.1e9),
        ("1 234 567 km", Kind.DISTANCE, 1234567),
        ("3.1 mi", Kind.DISTANCE, 3.1),
        ("2.5 kg", Kind.MASS, 2.5),
        ("10 MB", Kind.DATA_SIZE, 10),
        ("36 km/h", Kind.SPEED, 36),
        ("71% humidity", Kind.PERCENT, 71),
        ("rated 4.6", Kind.RATING, 4.6),
        ("4.56/5", Kind.RATING, 4.56),
        ("4.5 out of 5", Kind.RATING, 4.5),
        ("4.8★", Kind.RATING, 4.8),
        ("评分4.5", Kind.RATING, 4.5),
        ("a 5-star hotel", Kind.NUMBER, 5),
        ("3 km²", Kind.NUMBER, 3),
        ("size 9", Kind.NUMBER, 9),
    ],
)
def test_a_quantity_has_the_kind_that_its_unit_gives(text: str, kind: Kind, value: float) -> None:
    (found,) = quantities(text)
    assert found.kind is kind
    assert found.values[0][0] == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("07:05 to 9:12 pm", [Kind.TIME, Kind.TIME]),
        ("March 15th, 2026 and 2026-03-20", [Kind.DATE, Kind.DATE]),
        ("15. März 2026 um 14:30 Uhr", [Kind.DATE, Kind.TIME]),
        ("三月十五日下午三点", [Kind.DATE, Kind.TIME]),
        ("2026年3月15日", [Kind.DATE]),
        ("order #W5490111, flight HAT097, user u_4471, host 10.0.0.1", []),
        ("see https://example.com/1234 or mail a1@b2.com", []),
        ("一个 万一", []),
    ],
)
def test_days_times_and_names_are_no_amounts(text: str, kinds: list[Kind]) -> None:
    assert [found.kind for found in quantities(text)] == kinds


def test_every_number_of_a_text_can_be_looked_up() -> None:
    assert {2026, 3, 20, 1.5, 1500, 2, 320, 4471} <= numbers("2026-03-20: 1.5k for two, 三百二十元, u_4471")


@given(st.text(max_size=400))
def test_any_text_is_read_without_error_and_spans_are_its_own(text: str) -> None:
    numbers(text)
    ends = 0
    for found in quantities(text):
        assert found.text == text[found.start : found.end]
        assert found.end > ends
        ends = found.end


@given(st.text(max_size=200))
def test_plain_digits_keep_every_character_in_its_place(text: str) -> None:
    assert len(plain(text)) == len(text)


@given(st.floats(min_value=0.01, max_value=1e9), st.sampled_from(["{:,.2f}", "{:.2f}"]))
def test_a_written_price_is_read_back(value: float, form: str) -> None:
    written = form.format(value)
    assert float(written.replace(",", "")) in {reading for reading, _ in quantities(f"${written}")[0].values}


def test_a_scaled_amount_is_read_from_where_its_number_begins() -> None:
    assert {2_500_000.0, 1_200_000.0, 3_000_000_000.0} <= numbers("$2.5 million, 1,200,000 and (3 billion) of them")
    assert 5_000_000.0 in numbers("12.07.2026 5 million")
