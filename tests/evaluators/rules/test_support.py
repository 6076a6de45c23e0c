"""Whatever plain arithmetic makes of the numbers that are there is explained by them."""

from hypothesis import given, settings
from hypothesis import strategies as st

from evaluators.rules.fields import FieldValue
from evaluators.rules.support import Explained, Support
from evaluators.rules.units import Kind

CENTS = st.integers(min_value=1, max_value=500_000).map(lambda cents: cents / 100)
PRICES = st.lists(CENTS, min_size=1, max_size=8, unique=True)


def support(prices: list[float], kind: Kind = Kind.CURRENCY, **more: set[float]) -> Support:
    fields = [FieldValue(kind, price, ".items[].price", ".items[].price") for price in prices]
    return Support(everything=set(prices), fields=fields, **more)


def explained(value: float, found: Support, kind: Kind = Kind.CURRENCY, step: float = 0.01) -> bool:
    return found.explains(kind, [(abs(round(value, 2)), step)]) is Explained.YES


@settings(max_examples=60, deadline=None)
@given(PRICES, st.data())
def test_sums_of_any_of_them(prices: list[float], data: st.DataObject) -> None:
    some = data.draw(st.lists(st.sampled_from(prices), min_size=1, unique=True))
    assert explained(sum(some), support(prices))


@settings(max_examples=60, deadline=None)
@given(PRICES, st.data(), st.integers(min_value=2, max_value=14))
def test_sums_times_what_they_are_counted_by(prices: list[float], data: st.DataObject, count: int) -> None:
    some = data.draw(st.lists(st.sampled_from(prices), min_size=1, unique=True))
    assert explained(sum(some) * count, support(prices))


@settings(max_examples=60, deadline=None)
@given(PRICES, st.data())
def test_differences_of_two(prices: list[float], data: st.DataObject) -> None:
    one, other = data.draw(st.sampled_from(prices)), data.draw(st.sampled_from(prices))
    assert explained(one - other, support(prices))


@settings(max_examples=60, deadline=None)
@given(PRICES)
def test_means_and_totals(prices: list[float]) -> None:
    assert explained(sum(prices) / len(prices), support(prices))
    assert explained(sum(prices), support(prices))


@settings(max_examples=60, deadline=None)
@given(CENTS, st.integers(min_value=1, max_value=60))
def test_a_percentage_added_taken_off_or_alone(price: float, percent: int) -> None:
    found = support([price], rates={percent / 100})
    for value in (price * (1 + percent / 100), price * (1 - percent / 100), price * percent / 100):
        assert explained(value, found)


@settings(max_examples=60, deadline=None)
@given(st.floats(min_value=-60, max_value=60))
def test_temperatures_in_the_other_scale(celsius: float) -> None:
    found = support([abs(celsius)], Kind.TEMPERATURE)
    assert explained(round(celsius * 1.8 + 32, 1), found, Kind.TEMPERATURE, 0.1)
    assert explained(round(celsius + 273.15, 1), found, Kind.TEMPERATURE, 0.1)
    assert explained(round(celsius * 1.8 + 32), found, Kind.TEMPERATURE, 1.0)


@settings(max_examples=60, deadline=None)
@given(st.floats(min_value=1, max_value=9000), st.sampled_from([0.621371, 1.609344, 1000, 0.001, 3.28084, 1.6, 0.62]))
def test_distances_in_other_units_with_rounded_factors_too(distance: float, factor: float) -> None:
    found = support([distance], Kind.DISTANCE)
    assert explained(round(distance * factor, 1), found, Kind.DISTANCE, 0.1)


def test_what_nothing_gives_is_not_explained() -> None:
    assert support([129.0, 148.0]).explains(Kind.CURRENCY, [(391.37, 0.01)]) is Explained.NO
    assert support([58.0], Kind.TEMPERATURE).explains(Kind.TEMPERATURE, [(80.0, 1.0)]) is Explained.NO


def test_with_too_many_numbers_nobody_knows() -> None:
    many = support([10.17 * n for n in range(1, 80)])
    assert many.explains(Kind.CURRENCY, [(4711.03, 0.01)]) is not Explained.NO
