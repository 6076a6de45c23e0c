"""Swaps, placeholders and impossible coordinates: what is proven, and what must be left alone."""

from typing import Any

import pytest

from evaluators.rules.argument_mixups import Mixup, mixups
from evaluators.rules.evidence import plain


def found(said: str, arguments: dict[str, Any], properties: dict[str, Any] | None = None) -> list[tuple[str, ...]]:
    return [one.arguments for one in all_found(said, arguments, properties) if one.conclusive]


def suspected(said: str, arguments: dict[str, Any]) -> list[tuple[str, ...]]:
    return [one.arguments for one in all_found(said, arguments) if not one.conclusive]


def all_found(said: str, arguments: dict[str, Any], properties: dict[str, Any] | None = None) -> list[Mixup]:
    return mixups(arguments, properties or {}, said, plain(said))


@pytest.mark.parametrize(
    ("said", "arguments"),
    [
        ("fabric F, node 1200, and pod 3", {"nodeId": 3, "podId": 1200}),
        ("a database named 'main_db' and a secure password 123412", {"database": "123412", "password": "main_db"}),
        ("a rectangle with a width of 20 and height of 10", {"width": 10, "height": 20}),
        ("coefficients a=1, b=-3, c=2", {"a": 2, "c": 1}),
        ("the game 'Valorant' in the 2022 season", {"game": "2022", "season": "Valorant"}),
        ("a hotel in Paris from 4 April", {"location": "2026-04-04", "check_in_date": "Paris"}),
    ],
)
def test_two_values_in_each_others_place_are_found(said: str, arguments: dict[str, Any]) -> None:
    assert [set(names) for names in found(said, arguments)] == [set(arguments)]


@pytest.mark.parametrize(
    ("said", "arguments"),
    [
        ("fabric F, node 1200, and pod 3", {"nodeId": 1200, "podId": 3}),
        ("width of 20 and height of 20", {"width": 20, "height": 20}),
        ("first a width of 20 and height of 10, then a width of 10 and height of 20", {"width": 10, "height": 20}),
        ("round trip with origin JFK and destination SFO", {"origin": "SFO", "destination": "JFK"}),
        ("from Boston to New York and back", {"from_city": "New York", "to_city": "Boston"}),
        ("start at 400 and end at 300", {"start_year": 300, "end_year": 400}),
        ("2 bedrooms and 1500 square feet", {"bedrooms": 2, "area": 1500}),
        ("a hotel in Paris", {"location": "Paris", "check_in_date": "Tomorrow"}),
        ("a hotel in Paris", {"location": "Paris", "date": "Christmas Eve", "issued": "2026-04-04"}),
        ("see you", {"event": "2026-04-04", "date": "Next Monday"}),
        ("1200 words on pods", {"node": 3, "pod": 1200}),
    ],
)
def test_right_reversed_or_ambiguous_values_are_left_alone(said: str, arguments: dict[str, Any]) -> None:
    assert found(said, arguments) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("key", "YOUR_API_KEY"),
        ("apiKey", "<your-api-key>"),
        ("user_id", "<user_id>"),
        ("email", "your_email_here"),
        ("account_id", "INSERT_ID_HERE"),
    ],
)
def test_a_template_left_unfilled_is_found_unless_it_was_said_or_documented(name: str, value: str) -> None:
    assert found("list my hosts", {name: value}) == [(name,)]
    assert found(f"use {value} as the key", {name: value}) == []
    assert found("list my hosts", {name: value}, {name: {"default": value}}) == []
    assert found("list my hosts", {name: value}, {name: {"description": f"{value} for the public sandbox"}}) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("title", "Your Name"),
        ("title", "your choice"),
        ("title", "{{name}}"),
        ("text", "Dear <name>, hello"),
        ("tag", "<b>"),
        ("selector", "<title>"),
        ("key", "<enter>"),
        ("keys", "<esc>"),
        ("slug", "your-guide-to-rome"),
        ("branch", "insert-new_rows"),
        ("mode", "insert_before"),
        ("op", "replace-all"),
        ("title", "[Insert Coin]"),
        ("playlist", "your_top_songs_2024"),
        ("class", "enter-active"),
        ("template", "<name>"),
        ("to", "<no-reply>"),
    ],
)
def test_what_only_looks_like_a_template_is_no_fault(name: str, value: str) -> None:
    assert found("write it", {name: value}) == []


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        ({"latitude": -119.5, "longitude": 37.8}, True),
        ({"lat": 91, "lon": 0}, True),
        ({"lat": 91}, False),
        ({"galactic_lat": 95}, False),
        ({"latitude": 37.8, "longitude": -119.5}, False),
        ({"latitude": 377_749_000, "longitude": 1_000_000_000}, False),
        ({"latitude_e7": 120, "longitude_e7": 10}, False),
        ({"lat": True, "lon": 1}, False),
        ({"plate": 120, "latency": 100, "lon": 1}, False),
    ],
)
def test_a_latitude_beyond_the_poles_is_impossible_beside_a_longitude(arguments: dict[str, Any], wrong: bool) -> None:
    assert bool(found("weather", arguments)) is wrong


@pytest.mark.parametrize(
    "said",
    [
        "The picture has width 10 and height 20; rotate it by 90 degrees.",
        "Swap them: width 10, height 20.",
        "width 10, height 20... sorry, I mean 20 wide and 10 high",
        "width 10 height 20, but in landscape",
    ],
)
def test_a_swap_that_the_user_may_have_wanted_is_no_fault(said: str) -> None:
    assert found(said, {"width": 20, "height": 10}) == []


@pytest.mark.parametrize(
    "arguments",
    [
        {"day": "Thanksgiving", "release": "2026-11-26"},
        {"date": "Ramadan", "model": "2025-01-01"},
        {"when": "Halloween", "api_version": "2024-10-01"},
        {"date": "Diwali", "after": "2025-01-01"},
    ],
)
def test_a_feast_beside_a_dated_version_is_no_swap(arguments: dict[str, Any]) -> None:
    assert found("please", arguments) == []


@pytest.mark.parametrize(
    ("said", "arguments"),
    [
        ("restaurants with Chinese cuisine in Seattle", {"location": "Chinese", "cuisine": "Seattle"}),
        ("a distance of 20 metres over 4 seconds", {"distance": 4, "time": 20}),
        ("between the years 300 and 400", {"start_year": 400, "end_year": 300}),
        ("March", {"start_date": "2026-03-20", "end_date": "2026-03-01"}),
    ],
)
def test_half_a_swap_and_a_period_that_counts_down_are_suspicions(said: str, arguments: dict[str, Any]) -> None:
    assert found(said, arguments) == []
    assert [set(names) for names in suspected(said, arguments)] == [set(arguments)]


@pytest.mark.parametrize(
    ("said", "start", "goal"),
    [
        ("Fly me from Oslo to Rome.", "Rome", "Oslo"),
        ("Flüge von Köln nach Wien, bitte", "Wien", "Köln"),
        ("un vol de Lyon à Nice", "Nice", "Lyon"),
        ("从北京飞上海", "上海", "北京"),
        ("東京から大阪まで", "大阪", "東京"),
    ],
)
def test_start_and_goal_the_other_way_round_are_a_suspicion(said: str, start: str, goal: str) -> None:
    for names in (("from", "to"), ("origin_city", "destination_city"), ("departure", "arrival")):
        arguments = dict(zip(names, (start, goal), strict=True))
        assert found(said, arguments) == []
        assert [set(two) for two in suspected(said, arguments)] == [set(names)]
        assert suspected(said, dict(zip(names, (goal, start), strict=True))) == []


@pytest.mark.parametrize(
    "said",
    [
        "Fly me from Oslo to Rome and back.",
        "I went from Oslo to Rome; now I fly home.",
        "From Oslo to Rome, then Rome to Oslo.",
        "a round trip from Oslo to Rome",
        "从Oslo飞Rome，再返回",
        "How many miles between Oslo and Rome?",
        "from Oslo to Rome, sorry, the other way",
    ],
)
def test_the_way_back_is_no_fault(said: str) -> None:
    assert suspected(said, {"from": "Rome", "to": "Oslo"}) == []


@pytest.mark.parametrize(
    ("arguments", "beyond"),
    [
        ({"min_price": 500, "max_price": 100}, True),
        ({"price_minimum": 500, "price_maximum": 100.5}, True),
        ({"min_price": 10, "max_price": 0}, True),
        ({"lowest_rank": 100, "highest_rank": 1}, True),
        ({"min_price": 100, "max_price": 100}, False),
        ({"min_price": 500, "max_stops": 1}, False),
        ({"min_price": "500", "max_price": "1000"}, False),
        ({"min_price": 500, "max_price": None}, False),
    ],
)
def test_a_minimum_above_its_maximum_is_a_suspicion(arguments: dict[str, Any], beyond: bool) -> None:
    assert found("cheap", arguments) == []
    assert bool(suspected("cheap", arguments)) is beyond


@pytest.mark.parametrize(
    ("said", "arguments"),
    [
        ("change reservation to economy", {"reservation_id": "JG7FMM", "cabin": "economy"}),
        ("restaurants with Chinese cuisine in Seattle", {"location": "Seattle", "cuisine": "Chinese"}),
        (
            "from March",
            {"start_date": "2026-03-01", "end_date": "2026-03-20", "start_time": "22:00", "end_time": "02:00"},
        ),
    ],
)
def test_values_in_their_place_are_not_suspected(said: str, arguments: dict[str, Any]) -> None:
    assert all_found(said, arguments) == []


def test_hostile_text_is_worked_through() -> None:
    said = "node 3 pod " * 20_000
    assert found(said, {"node": 3, "pod": 1200}) == []
