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


@pytest.mark.parametrize(
    ("name", "effect"),
    [
        ("查询订单", Effect.READ),
        ("搜索酒店", Effect.READ),
        ("发送邮件", Effect.WRITE),
        ("修改订单", Effect.WRITE),
        ("修改记录查询", Effect.UNKNOWN),
        ("天气", Effect.UNKNOWN),
    ],
)
def test_chinese_names_begin_with_their_verb(name: str, effect: Effect) -> None:
    assert effect_of(name) is effect


def test_a_server_is_believed_that_a_tool_reads_and_heeded_that_it_may_write() -> None:
    assert effect_of("frobnicate", read_only=True) is Effect.READ
    assert effect_of("get_order", read_only=False) is Effect.UNKNOWN
    assert effect_of("send_mail", read_only=False) is Effect.WRITE
    assert effect_of("send_mail", write_tools=["send_*"], read_only=True) is Effect.WRITE
