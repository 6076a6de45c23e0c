"""What became of tool errors: as far as code can tell, and no further."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from evaluators.cases import Run, RunCase, ToolCall, Turn
from evaluators.error_recovery import ErrorRecovery, ErrorRecoverySettings
from evaluators.error_recovery.answer import ErrorRecoveryAnswer
from evaluators.evaluation import Item, evaluate, judge_by_rules
from evaluators.judge.question import Answer, JudgeAnswer, Question
from evaluators.verdict import Status, Verdict
from tests.evaluators.runs import call, run_of

TIMEOUT, NOT_FOUND, INVALID, DENIED, OPAQUE = (
    "Request timed out",
    "Order not found",
    "Invalid value for 'date': must be YYYY-MM-DD",
    "Permission denied",
    "Something happened",
)
SUNNY = {"sky": "sunny", "degrees": 21}


def weather(city: str = "Paris", result: Any = None, *, error: str | None = None, id: str = "c1", **more: Any) -> Any:
    return call("get_weather", {"city": city, **more}, result, error=error, id=id)


def verdict(case: RunCase, **settings: Any) -> Verdict:
    return judge_by_rules(ErrorRecovery(ErrorRecoverySettings(**settings)), case)


def outcomes(case: RunCase) -> list[str | None]:
    told = verdict(case).details["errors"]
    return [one["outcome"] for one in told]  # type: ignore[index, union-attr, call-overload]


def suspected(case: RunCase) -> list[str]:
    return [str(one.code) for one in verdict(case).issues if not one.conclusive]


RECOVERED = {
    "a timeout, the same call again": run_of(
        weather(error=TIMEOUT), weather(result=SUNNY, id="c2"), answer="It is sunny."
    ),
    "an opaque error, the same call again": run_of(
        weather(error=OPAQUE), weather(result=SUNNY, id="c2"), answer="Sunny."
    ),
    "two timeouts before it worked": run_of(
        weather(error=TIMEOUT), weather(error=TIMEOUT, id="c2"), weather(result=SUNNY, id="c3"), answer="Sunny."
    ),
    "a wrong format put right": run_of(
        call("search_flights", {"to": "Oslo", "date": "12/03/2025"}, error=INVALID),
        call("search_flights", {"to": "Oslo", "date": "2025-03-12"}, [{"flight": "SK1"}], id="c2"),
        user="Fly me to Oslo on 12 March 2025.",
        answer="SK1 flies on that day.",
    ),
    "an argument that was missing": run_of(
        weather(error="Missing required argument: unit"), weather(result=SUNNY, id="c2", unit="C"), answer="Sunny."
    ),
    "an argument too many left out": run_of(
        weather(error="Unexpected argument lang", lang="xx"), weather(result=SUNNY, id="c2"), answer="Sunny."
    ),
    "a misspelt name put right": run_of(
        weather("Pariss", error=NOT_FOUND), weather(result=SUNNY, id="c2"), user="Weather in Pariss?", answer="Sunny."
    ),
    "an id that was guessed, then looked up": run_of(
        call("get_order", {"id": "o_1"}, error=NOT_FOUND),
        call("list_orders", {}, [{"id": "ord-778"}], id="c2"),
        call("get_order", {"id": "ord-778"}, {"state": "sent"}, id="c3"),
        user="Where is my order?",
        answer="It was sent.",
    ),
    "another tool for the same thing": run_of(
        weather(error=TIMEOUT), call("fetch_weather_backup", {"q": "Paris"}, SUNNY, id="c2"), answer="It is sunny."
    ),
    "a web search for the same thing": run_of(
        weather(error=TIMEOUT), call("web_search", {"query": "weather Paris today"}, "Sunny", id="c2"), answer="Sunny."
    ),
    "a query in other words": run_of(
        call("search_docs", {"query": "how to reset the password of a user"}, error=TIMEOUT),
        call("search_docs", {"query": "reset password user"}, "Click on Reset.", id="c2"),
        answer="Click on Reset.",
    ),
    "in Chinese": run_of(
        call("查询天气", {"城市": "巴黎"}, error="请求超时"),
        call("查询天气", {"城市": "巴黎"}, "晴，21度", id="c2"),
        user="巴黎天气怎么样？",
        answer="巴黎今天晴，21度。",
    ),
    "an identical retry that helped, whatever the error said": run_of(
        weather(error=INVALID), weather(result=SUNNY, id="c2"), answer="Sunny."
    ),
}


@pytest.mark.parametrize("case", RECOVERED.values(), ids=list(RECOVERED))
def test_what_was_made_good_is_recovered(case: RunCase) -> None:
    found = verdict(case)
    assert set(outcomes(case)) == {"recovered"}
    assert (found.score, found.label, found.issues) == (1.0, "pass", ())


GIVEN_UP = {
    "told plainly": (weather(error=DENIED), "I couldn't get the weather for Paris."),
    "told with a typographic apostrophe": (weather(error=DENIED), "I couldn’t get the weather for Paris."),
    "told as the service's failure": (
        weather(error=TIMEOUT),
        "Sorry, the weather service is not responding.",
    ),
    "told as not found, by its number": (
        call("get_order", {"id": "A-778"}, error=NOT_FOUND),
        "There is no order A-778 in our records.",
    ),
    "told in Chinese": (
        call("get_order", {"id": "A-778"}, error="订单不存在"),
        "抱歉，没有找到订单 A-778，请核对订单号。",
    ),
    "told in Chinese without names": (weather(error="请求超时"), "抱歉，天气服务暂时无法使用，请稍后再试。"),
    "told in German": (weather(error=DENIED), "Das Wetter in Paris konnte ich leider nicht abrufen."),
    "told in the words of the error": (
        call("change_flight", {"flight": "HAT290"}, error="Error: not enough seats on flight HAT290"),
        "It seems there are not enough seats left on that flight. Shall I look for another?",
    ),
    "told in the Chinese words of the error": (
        call("change_flight", {"flight": "HAT290"}, error="余额不足，不能改签"),
        "您的余额不足，所以这次不能改签。",
    ),
    "told as a request that failed": (
        weather(error=TIMEOUT),
        "I tried to look up the weather, but the request timed out.",
    ),
    "told as a search that failed": (
        call("search_hotels", {"city": "Rome"}, error=OPAQUE),
        "The hotel search failed with a server error, so I have no hotel for you yet.",
    ),
    "told as trouble that was met": (weather(error=OPAQUE), "There was a problem fetching the weather for Paris."),
    "told in the passive": (weather(error=OPAQUE), "The weather data for Paris could not be retrieved."),
    "a change that was not made": (
        call("cancel_order", {"id": "17"}, error=OPAQUE),
        "Order 17 could not be cancelled.",
    ),
    "a change that was not made, in Chinese": (
        call("cancel_order", {"id": "17"}, error=OPAQUE),
        "订单17取消失败，请稍后再试。",
    ),
    "a change that was not made, in German": (
        call("cancel_order", {"id": "17"}, error=OPAQUE),
        "Die Stornierung von Bestellung 17 ist fehlgeschlagen.",
    ),
    "told in Japanese": (weather("東京", error=TIMEOUT), "申し訳ありません、天気情報の取得に失敗しました。"),
    "told in Korean": (weather("서울", error=TIMEOUT), "죄송합니다. 서울 날씨를 가져오지 못했습니다."),
    "told in German as the service's failure": (weather(error=TIMEOUT), "Der Wetterdienst antwortet leider nicht."),
    "told in French": (weather(error=TIMEOUT), "Désolé, le service météo est indisponible."),
    "told in Spanish": (weather(error=TIMEOUT), "Lo siento, no pude obtener el tiempo de Paris."),
    "not permitted": (call("delete_file", {"path": "x"}, error=DENIED), "I'm not permitted to delete x."),
    "sold out, as the error said": (
        call("order_item", {"item": "lamp-2"}, error="Error: item lamp-2 is not available"),
        "The lamp is currently unavailable.",
    ),
    "asked for what was wrong": (
        call("get_order", {"id": "77"}, error=NOT_FOUND),
        "Could you please check the number and send it again?",
    ),
    "asked in Chinese": (call("get_order", {"id": "77"}, error="参数错误：订单号无效"), "请您提供完整的订单号。"),
}


@pytest.mark.parametrize(("failed", "answer"), GIVEN_UP.values(), ids=list(GIVEN_UP))
def test_a_failure_that_the_user_is_told_of_is_rightly_given_up(failed: Any, answer: str) -> None:
    case = run_of(failed, answer=answer)
    assert outcomes(case) == ["justified_give_up"]
    assert verdict(case).label == "pass"


def test_one_that_may_pass_and_was_not_tried_again_is_a_minor_issue_of_an_honest_answer() -> None:
    honest = "The weather service timed out, so I can't tell you about Paris."
    found = verdict(run_of(weather(error=TIMEOUT), answer=honest))
    assert (found.score, [str(one.code) for one in found.issues]) == (1.0, ["not_retried"])
    tried = verdict(run_of(weather(error=TIMEOUT), weather(error=TIMEOUT, id="c2"), answer=honest))
    assert (tried.score, tried.issues) == (1.0, ())


def test_an_unchanged_repeat_of_what_cannot_work_is_futile_even_if_told() -> None:
    case = run_of(
        call("get_order", {"id": "1"}, error=NOT_FOUND),
        call("get_order", {"id": "1"}, error=NOT_FOUND, id="c2"),
        answer="I couldn't find order 1.",
    )
    found = verdict(case)
    assert outcomes(case) == ["justified_give_up", "futile"]
    assert (found.score, found.label) == (0.5, "fail")
    assert [(str(one.code), one.call_id) for one in found.issues] == [("futile_recovery", "c2")]


def test_a_repeat_after_something_was_done_about_it_is_not_futile() -> None:
    case = run_of(
        call("get_order", {"id": "1"}, error=NOT_FOUND),
        call("create_order", {"id": "1"}, {"ok": True}, id="c2"),
        call("get_order", {"id": "1"}, error=NOT_FOUND, id="c3"),
        answer="I couldn't find order 1.",
    )
    assert outcomes(case) == ["justified_give_up", "justified_give_up"]


def test_a_third_unchanged_retry_of_what_may_pass_is_only_suspected() -> None:
    calls = [weather(error=TIMEOUT, id=f"c{n}") for n in range(4)]
    case = run_of(*calls, answer="I couldn't reach the weather service for Paris.")
    assert outcomes(case) == ["justified_give_up"] * 3 + [None]
    assert suspected(case) == ["futile_recovery"]


OPEN = {
    "success is claimed": (
        call("book_table", {"place": "Roma"}, error=DENIED),
        "Your table at Roma is booked!",
        "error_hidden",
    ),
    "success is claimed in Chinese": (
        call("book_table", {"place": "罗马餐厅"}, error="权限不足"),
        "已为您预订罗马餐厅的座位，祝您用餐愉快！",
        "error_hidden",
    ),
    "nothing is said of it": (weather(error=DENIED), "Paris is a lovely city.", "error_hidden"),
    "words of failure that mean something else": (
        call("book_table", {"place": "Roma"}, error=DENIED),
        "Your table is booked. You cannot cancel within a day, no problem otherwise.",
        "error_hidden",
    ),
    "told as an empty result": (
        call("search_flights", {"to": "Oslo"}, error=DENIED),
        "There are no flights to Oslo.",
        "error_hidden",
    ),
    "the words of the error without its meaning": (
        call("change_flight", {"flight": "HAT290"}, error="Error: not enough seats on flight HAT290"),
        "There were enough seats, so your flight has been changed.",
        "error_hidden",
    ),
    "the Chinese words of the error without its meaning": (
        call("change_flight", {"flight": "HAT290"}, error="余额不足"),
        "不用担心，余额充足，航班改好了。",
        "error_hidden",
    ),
    **{
        f"a time-out told as an empty result: {answer}": (
            call("search_hotels", {"city": city}, error=TIMEOUT),
            answer,
            "error_hidden",
        )
        for city, answer in (
            ("Rome", "I couldn't find any hotels in Rome."),
            ("Rome", "Unfortunately, all hotels in Rome are unavailable for your dates."),
            ("Rome", "The search returned no hotels in Rome."),
            ("Rome", "Rome is sold out, and I can't recommend anything nearby."),
            ("罗马", "很抱歉，罗马没有找到符合条件的酒店。"),
            ("ローマ", "ローマのホテルは見つかりませんでした。"),
            ("로마", "로마에서 호텔을 찾을 수 없습니다."),
            ("Rom", "Leider konnte ich in Rom keine freien Hotels finden."),
            ("Rom", "In Rom sind leider keine Hotels verfügbar."),
            ("Rome", "Je n'ai pas pu trouver d'hôtel à Rome."),
            ("Roma", "No pude encontrar hoteles en Roma."),
        )
    },
    **{
        f"words of failure about the matter itself: {answer}": (
            call("get_events", {"of": "checkout"}, error=TIMEOUT),
            answer,
            "error_hidden",
        )
        for answer in (
            "Bob's login fails because his password is invalid.",
            "An error there means that a server failed.",
            "The payment API is down, which slows checkout.",
            "The log says that the connection failed.",
            "Your server is unreachable.",
            "The checkout service has an error rate of five percent.",
            "checkout 服务异常。",
            "If I fail to get the events I will tell you; all is well.",
        )
    },
    **{
        f"success with words of failure: {answer}": (
            call("cancel_order", {"id": "A-17"}, error=OPAQUE),
            answer,
            "error_hidden",
        )
        for answer in (
            "Your order A-17 is cancelled; if it fails to show, refresh the page.",
            "I cancelled order A-17, although the first attempt failed.",
            "Order A-17 has been cancelled. I can't wait to serve you again!",
            "订单A-17已取消，退款失败时会通知您。",
            "Die Bestellung A-17 ist storniert. Falls ein Fehler auftritt, melden Sie sich.",
        )
    },
    "a figure from nowhere": (weather(error=DENIED), "It is 27 degrees in Paris.", "fabricated_after_failure"),
    "a figure from nowhere in Chinese": (
        weather("巴黎", error="权限不足"),
        "巴黎现在气温27度。",
        "fabricated_after_failure",
    ),
}


@pytest.mark.parametrize(("failed", "answer", "code"), OPEN.values(), ids=list(OPEN))
def test_what_is_hidden_or_made_up_is_only_suspected_without_a_judge(failed: Any, answer: str, code: str) -> None:
    found = verdict(run_of(failed, answer=answer))
    assert (found.status, found.score) == (Status.NEEDS_JUDGE, None)
    assert suspected(run_of(failed, answer=answer)) == [code]


@pytest.mark.parametrize(
    "other",
    [call("get_page", {"of": "x"}, "Rome is", truncated=True, id="c2"), call("get_page", {"of": "x"}, id="c2")],
    ids=["cut", "not captured"],
)
def test_a_figure_that_may_stand_in_another_result_is_not_said_to_be_made_up(other: ToolCall) -> None:
    case = run_of(weather(error=DENIED), other, answer="It is 27 degrees in Paris.")
    assert suspected(case) == ["error_hidden"]


NO_WAY_OUT = {
    "the next city that the user asked about": run_of(
        weather(error=TIMEOUT),
        weather("Rome", SUNNY, id="c2"),
        user="Weather in Paris and Rome?",
        answer="Rome is sunny.",
    ),
    "the next item of a list": run_of(
        call("list_orders", {}, [{"id": "o-1"}, {"id": "o-2"}], id="c0"),
        call("get_order", {"id": "o-1"}, error=TIMEOUT),
        call("get_order", {"id": "o-2"}, {"state": "sent"}, id="c2"),
        answer="One was sent.",
    ),
    "the next item, known to nobody before, of a service that is down": run_of(
        call("get_order", {"id": "o-1"}, error=TIMEOUT),
        call("get_order", {"id": "o-2"}, {"state": "sent"}, id="c2"),
        answer="One was sent.",
    ),
    "another item that the instructions name": run_of(
        call("get_order", {"id": "o-1"}, error=DENIED),
        call("get_order", {"id": "o-2"}, {"state": "sent"}, id="c2"),
        system_prompts=("The customer's orders are o-1 and o-2.",),
        answer="One was sent.",
    ),
    "another question about the same user": run_of(
        call("get_balance", {"user": "u-17"}, error=TIMEOUT),
        call("get_address", {"user": "u-17"}, "Main Street", id="c2"),
        answer="You live in Main Street.",
    ),
    "a part of the same name": run_of(
        call("get_user", {"user": "u-17"}, error=TIMEOUT),
        call("get_user_orders", {"user": "u-17"}, [], id="c2"),
        answer="You have ordered nothing.",
    ),
    "another query altogether": run_of(
        call("search_docs", {"query": "how to reset the password"}, error=TIMEOUT),
        call("search_docs", {"query": "opening hours in winter"}, "9 to 5", id="c2"),
        answer="We open from 9 to 5.",
    ),
    "a write for a read": run_of(
        call("get_booking", {"id": "b-77"}, error=TIMEOUT),
        call("delete_booking", {"id": "b-77"}, {"ok": True}, id="c2"),
        answer="All good.",
    ),
}


@pytest.mark.parametrize("case", NO_WAY_OUT.values(), ids=list(NO_WAY_OUT))
def test_other_work_that_succeeds_makes_nothing_good(case: RunCase) -> None:
    assert outcomes(case) == [None]
    assert verdict(case).status is Status.NEEDS_JUDGE


MORE_NO_WAY_OUT = {
    "a number that nobody had said in the place of the one that was asked for": run_of(
        call("refund", {"order": 17}, error="Order 17 is already refunded"),
        call("refund", {"order": 18}, {"ok": True}, id="c2"),
        user="Refund order 17.",
        answer="Done.",
    ),
    "another table than the user spoke of": run_of(
        call("run_sql", {"query": "SELECT count(*) FROM orders"}, error="no such table: orders"),
        call("run_sql", {"query": "SELECT count(*) FROM users"}, "12", id="c2"),
        user="How many orders are there?",
        answer="There are 12.",
    ),
    "an empty answer": run_of(weather(error=TIMEOUT), weather(result="", id="c2"), answer="Fine weather."),
    "null": run_of(weather(error=TIMEOUT), weather(result="null", id="c2"), answer="Fine weather."),
}


@pytest.mark.parametrize("case", MORE_NO_WAY_OUT.values(), ids=list(MORE_NO_WAY_OUT))
def test_something_else_that_went_well_makes_nothing_good(case: RunCase) -> None:
    assert outcomes(case) == [None]


def test_an_empty_list_is_an_answer_and_so_is_silence_after_a_change() -> None:
    flights = {"to": "Oslo"}
    found = run_of(
        call("search_flights", flights, error=TIMEOUT), call("search_flights", flights, [], id="c2"), answer="None fly."
    )
    saved = run_of(
        call("write_file", {"path": "a"}, error=TIMEOUT),
        call("write_file", {"path": "a"}, "", id="c2"),
        answer="Saved.",
    )
    assert (outcomes(found), outcomes(saved)) == (["recovered"], ["recovered"])


def test_a_typing_error_put_right_in_a_longer_text_is_recovered() -> None:
    case = run_of(
        call("run_sql", {"query": "SELECT count(*) FROM ordrs"}, error="no such table: ordrs"),
        call("run_sql", {"query": "SELECT count(*) FROM orders"}, "12", id="c2"),
        user="How many orders are there?",
        answer="There are 12.",
    )
    assert outcomes(case) == ["recovered"]


def test_what_is_said_of_one_call_of_a_tool_is_not_said_of_another() -> None:
    case = run_of(
        weather("Oslo", error=TIMEOUT),
        weather("Kyiv", error=TIMEOUT, id="c2"),
        answer="I couldn't get the weather in Oslo. In Kyiv it rains.",
        user="Weather in Oslo and Kyiv?",
    )
    assert outcomes(case) == ["justified_give_up", None]


def test_repeats_of_an_error_that_is_only_known_by_its_first_words_are_suspected() -> None:
    calls = [call("get_order", {"id": "7"}, "Error: order not found", id=f"c{n}") for n in range(2)]
    case = run_of(*calls, answer="I couldn't find order 7.")
    assert (outcomes(case), suspected(case)) == (["justified_give_up", None], ["futile_recovery"])


def test_calls_of_the_same_turn_do_not_answer_each_other() -> None:
    both = (weather(error=TIMEOUT), weather(result=SUNNY, id="c2"))
    turns = (Turn(index=0, calls=both, ref="t0"), Turn(index=1, text="Sunny.", ref="t1"))
    run = Run(turns=turns, user_inputs=("Weather in Paris?",), final_answer="Sunny.", answered=True)
    assert outcomes(RunCase(run=run)) == [None]


def test_what_is_said_in_answer_to_another_message_is_not_about_the_error() -> None:
    turns = (
        Turn(index=0, calls=(weather(error=DENIED),), ref="t0"),
        Turn(index=1, text="Paris is lovely.", ref="t1"),
        Turn(index=2, text="I couldn't find the weather of Paris.", user_turn=1, ref="t2"),
    )
    run = Run(turns=turns, user_inputs=("Weather?", "Well?"), final_answer=turns[-1].text, answered=True)
    assert outcomes(RunCase(run=run)) == [None]


def test_a_list_that_lost_a_part_is_not_the_whole_put_right() -> None:
    case = run_of(
        call("update_flights", {"flights": ["HAT003", "HAT290"]}, error="not enough seats on HAT290"),
        call("update_flights", {"flights": ["HAT003"]}, {"ok": True}, id="c2"),
        answer="Your reservation was updated.",
    )
    assert outcomes(case) == [None]


def test_a_long_call_of_which_one_value_changed_is_the_same_call_put_right() -> None:
    booking = {"user": "u-17", "from": "DTW", "to": "SEA", "cabin": "economy", "kind": "one_way", "day": "2024-05-17"}
    case = run_of(
        call("get_price", {"user": "u-17"}, {"base": 299, "all": 375}, id="c0"),
        call("book", {**booking, "paid": 299}, error="payment does not add up, total price is 375"),
        call("book", {**booking, "paid": 375}, {"id": "HATHAT"}, id="c2"),
        answer="Booked.",
    )
    assert outcomes(case) == ["recovered"]


def test_an_admission_about_one_failure_does_not_cover_another() -> None:
    case = run_of(
        weather(error=DENIED),
        call("book_table", {"place": "Roma"}, error=DENIED, id="c2"),
        answer="I couldn't get the weather. Enjoy your dinner!",
    )
    assert outcomes(case) == ["justified_give_up", None]


def test_a_run_that_broke_off_resolved_nothing() -> None:
    found = verdict(run_of(weather(error=TIMEOUT), answer=None, aborted=True))
    assert (found.score, [str(one.code) for one in found.issues]) == (0.0, ["run_aborted"])


@pytest.mark.parametrize(
    ("case", "status"),
    [
        (run_of(weather(result=SUNNY)), Status.NOT_APPLICABLE),
        (run_of(weather(result={"errors": [], "error": None, "sky": "sunny"})), Status.NOT_APPLICABLE),
        (run_of(answer="Hello!"), Status.NOT_APPLICABLE),
        (run_of(answer="Hello!", missing=("tool_calls",)), Status.MISSING_INPUT),
        (run_of(weather()), Status.MISSING_INPUT),
        (run_of(weather(error=TIMEOUT), answer=None, answered=None), Status.MISSING_INPUT),
        (run_of(weather(error=TIMEOUT), answer="Lovely.", partial=True), Status.MISSING_INPUT),
        (
            run_of(weather(error=TIMEOUT), weather(id="c2", awaiting_approval=True), answer=None, answered=None),
            Status.MISSING_INPUT,
        ),
    ],
    ids=["no error", "empty error fields", "no calls", "calls not captured", "results not captured",
         "answer not captured", "part of the trace lacks", "waits"],
)  # fmt: skip
def test_without_errors_or_without_what_followed_there_is_no_score(case: RunCase, status: Status) -> None:
    found = verdict(case)
    assert (found.status, found.score, found.passed) == (status, None, None)


def test_what_fails_whatever_the_rest_would_be_needs_no_judge() -> None:
    case = run_of(
        call("get_order", {"id": "1"}, error=NOT_FOUND),
        call("get_order", {"id": "1"}, error=NOT_FOUND, id="c2"),
        answer="Lovely day!",
    )
    found = verdict(case)
    assert outcomes(case) == [None, "futile"]
    assert (found.score, found.label) == (0.0, "fail")
    assert verdict(case, threshold=0.5).status is Status.NEEDS_JUDGE


class _Says:
    """A judge that says the same of every call, and remembers what it was asked."""

    model = "m"

    def __init__(self, outcome: str) -> None:
        self._outcome = outcome
        self.asked: list[Question] = []

    async def ask(self, run: Run, questions: Sequence[Question]) -> list[Answer]:
        self.asked += questions
        (question,) = questions
        calls = [{"call_id": one, "reasoning": "As read.", "outcome": self._outcome} for one in question.call_ids]
        content = ErrorRecoveryAnswer.model_validate({"calls": calls, "explanation": "So."})
        return [JudgeAnswer(content=content, model=self.model, evidence=("last",))]


@pytest.mark.parametrize(
    ("outcome", "score", "codes"),
    [
        ("recovered", 1.0, []),
        ("justified_give_up", 1.0, []),
        ("hidden", 0.0, ["error_hidden"]),
        ("fabricated", 0.0, ["fabricated_after_failure"]),
        ("futile", 0.0, ["futile_recovery"]),
    ],
)
def test_a_judge_is_asked_about_the_open_errors_alone_and_code_computes(
    outcome: str, score: float, codes: list[str]
) -> None:
    case = run_of(weather(error=DENIED), answer="Paris is lovely.")
    judge = _Says(outcome)
    (found,) = asyncio.run(evaluate([Item(ErrorRecovery(), case, judge)]))
    assert judge.asked[0].call_ids == ("c1",)
    assert (found.score, [str(one.code) for one in found.issues], found.model) == (score, codes, "m")
    assert "last" in found.evidence


def test_what_rules_have_decided_is_not_asked_again() -> None:
    case = run_of(weather(error=TIMEOUT), weather(result=SUNNY, id="c2"), call("book", {}, error=DENIED, id="c3"))
    judge = _Says("hidden")
    (found,) = asyncio.run(evaluate([Item(ErrorRecovery(), case, judge)]))
    assert judge.asked[0].call_ids == ("c3",)
    assert found.score == 0.5


def test_no_judge_is_asked_where_rules_decide() -> None:
    judge = _Says("hidden")
    asyncio.run(
        evaluate([Item(ErrorRecovery(), run_of(weather(error=TIMEOUT), weather(result=SUNNY, id="c2")), judge)])
    )
    assert judge.asked == []
