"""What a tool's name says about what it changes."""

import pytest

from evaluators.rules.effects import Effect, effect_of


@pytest.mark.parametrize(
    ("name", "effect"),
    [
        ("get_weather", Effect.READ),
        ("find_user_id_by_name_zip", Effect.READ),
        ("QueryBalance", Effect.READ),
        ("mcp__github__list_issues", Effect.READ),
        ("server.search_flights", Effect.READ),
        ("check_status", Effect.READ),
        ("book_flight", Effect.WRITE),
        ("cancelOrder", Effect.WRITE),
        ("functions.send_email", Effect.WRITE),
        ("get_or_create_user", Effect.WRITE),
        ("wait_for_event", Effect.WAIT),
        ("order_status", Effect.UNKNOWN),
        ("exchange_rate", Effect.UNKNOWN),
        ("check_in_passenger", Effect.UNKNOWN),
        ("run_tests", Effect.UNKNOWN),
        ("open_page", Effect.UNKNOWN),
        ("set_temperature", Effect.UNKNOWN),
        ("ask_weather_agent", Effect.UNKNOWN),
        ("", Effect.UNKNOWN),
    ],
)
def test_the_verb_decides_or_nobody_knows(name: str, effect: Effect) -> None:
    assert effect_of(name) is effect


def test_configuration_wins_over_the_verb() -> None:
    assert effect_of("book_lookup", read_tools=["book_*"]) is Effect.READ
    assert effect_of("get_ticket", write_tools=["get_ticket"]) is Effect.WRITE
    assert effect_of("get_ticket", read_tools=["*"], write_tools=["*"]) is Effect.READ
