"""Which steps are waste, and which only look like it."""

from dataclasses import replace
from typing import Any

import pytest

from evaluators.cases import Message, Role, Run, RunCase, ToolCall, Turn
from evaluators.step_efficiency import StepEfficiency, StepEfficiencySettings
from evaluators.verdict import Status
from tests.evaluators.runs import call, run_of

FLIGHTS = {"flights": [{"flight": "AS1103", "price_usd": 117}, {"flight": "AS331", "price_usd": 129}]}
ORDER = {"order_id": "W1", "status": "pending", "items": ["lamp"], "total": 153.23, "address": "Elm Street"}
GONE = "user not found"
BUSY = "503 Service Unavailable"


def search(id: str, result: Any = FLIGHTS, **more: Any) -> ToolCall:
    return call("search_flights", {"origin": "SFO", "destination": "SEA"}, result, id=id, **more)


def read(id: str, result: Any = ORDER) -> ToolCall:
    return call("get_order", {"order_id": "W1"}, result, id=id)


def write(id: str, result: Any = "ok", **arguments: Any) -> ToolCall:
    return call("update_order", arguments or {"order_id": "W1"}, result, id=id)


def fail(id: str, error: str = GONE, **more: Any) -> ToolCall:
    return call("get_account", {"user_id": "4471"}, error=error, id=id, **more)


def types(case: RunCase, **settings: Any) -> list[str]:
    evaluator = StepEfficiency(StepEfficiencySettings(**settings))
    details = evaluator.screen(case).details
    steps = details["steps"]
    assert isinstance(steps, list)
    return [str(step["type"]) for step in steps if isinstance(step, dict)]


WASTE = [
    ("the same look-up again", [search("a"), search("b")], ["required", "redundant"]),
    (
        "and again and again",
        [search("a"), search("b"), search("c"), search("d")],
        ["required", "redundant", "redundant", "dead_loop"],
    ),
    (
        "again after other look-ups",
        [search("a"), call("get_weather", {}, {"temperature": 5}, id="w"), search("b")],
        ["required", "helpful", "redundant"],
    ),
    ("a permanent failure again", [fail("a"), fail("b")], ["helpful", "unjustified_retry"]),
    (
        "a permanent failure in a loop",
        [fail("a"), fail("b"), fail("c"), fail("d")],
        ["helpful", "unjustified_retry", "unjustified_retry", "dead_loop"],
    ),
    (
        "an unexplained failure for the third time",
        [fail(id, "boom") for id in "abcd"],
        ["helpful", "justified_retry", "justified_retry", "unjustified_retry"],
    ),
    (
        "a passing failure hammered without a pause",
        [fail(id, BUSY, started_s=0.1 * n, duration_s=0.1) for n, id in enumerate("abcd")],
        ["helpful", "justified_retry", "justified_retry", "unjustified_retry"],
    ),
    ("the same change twice", [write("a"), write("b")], ["required", "harmful"]),
    (
        "a look-up after a change that showed the whole record already",
        [read("a"), write("w", ORDER), read("b")],
        ["helpful", "required", "redundant"],
    ),
    (
        "a tool of unknown effect in a loop",
        [call("run_report", {}, {"report": "the same long text as before, word by word"}, id=id) for id in "abc"],
        ["helpful", "helpful", "redundant"],
    ),
]


@pytest.mark.parametrize(("calls", "expected"), [pytest.param(c, e, id=name) for name, c, e in WASTE])
def test_waste_is_named(calls: list[ToolCall], expected: list[str]) -> None:
    assert types(run_of(*calls, answer="AS1103 for $117")) == expected


JUSTIFIED = [
    ("polling whose answer changes", [call("get_job", {}, {"state": s}, id=s) for s in ("queued", "running", "done")]),
    ("polling that changes late", [call("get_mail", {}, {"mails": n // 3}, id=f"m{n}") for n in range(4)]),
    ("polling that never changes", [call("get_job", {"job": 7}, {"state": "running"}, id=f"j{n}") for n in range(4)]),
    ("polling of a status", [call("get_order_status", {"order": 7}, {"state": "open"}, id=f"s{n}") for n in range(4)]),
    ("pages", [call("list_items", {"page": n}, {"items": [n]}, id=f"p{n}") for n in range(5)]),
    ("a place in a list", [call("list_items", {"cursor": c}, {"items": [c]}, id=c) for c in ("x", "y")]),
    ("narrowing a search", [call("search", {"q": q}, {"hits": 9}, id=q) for q in ("thai", "thai austin")]),
    ("the same for several items", [call("get_price", {"item": i}, {"price": 5}, id=i) for i in ("a", "b", "c")]),
    ("a passing failure, then success", [fail("a", BUSY), call("get_account", {"user_id": "4471"}, {"n": 1}, id="b")]),
    ("two retries after a passing failure", [fail("a", BUSY), fail("b", BUSY), fail("c", BUSY)]),
    ("waiting between retries", [fail(i, BUSY, started_s=60.0 * n) for n, i in enumerate("abcdef")]),
    ("waiting by a tool", [fail("a"), call("wait", {"seconds": 5}, "ok", id="w"), fail("b")]),
    ("looking again after waiting by a tool", [search("a"), call("sleep", {"s": 60}, "ok", id="w"), search("b")]),
    ("a corrected argument", [fail("a"), call("get_account", {"user_id": "u_4471"}, {"n": 1}, id="b")]),
    ("another tool after a failure", [fail("a"), call("find_account", {"user_id": "4471"}, {"n": 1}, id="b")]),
    ("a failure cured in between", [fail("a"), call("create_account", {"user_id": "4471"}, "ok", id="w"), fail("b")]),
    ("a look-up after a change", [read("a"), write("w"), read("b")]),
    ("a look-up after a change it shows", [read("a"), write("w"), read("b", {**ORDER, "status": "shipped"})]),
    ("a look-up after something of unknown effect", [read("a"), call("run_job", {}, "ok", id="r"), read("b")]),
    ("changes to different things", [write("a", order_id="W1"), write("b", order_id="W2")]),
    ("a change undone and done again", [write("a", on=1), write("b", on=0), write("c", on=1)]),
    ("clicks", [call("click", {"on": "next"}, "ok", id=i) for i in "abcd"]),
    ("scrolling", [call("scroll_down", {}, "done", id=i) for i in "abcd"]),
    ("waiting", [call("wait", {"seconds": 5}, "ok", id=i) for i in "abcd"]),
    ("changes whose results were not captured", [write(i, None) for i in "ab"]),
    ("arguments that were not captured", [ToolCall(id=i, name="get_order") for i in "ab"] + [read("c")]),
    ("dice", [call("roll_dice", {"sides": 6}, {"value": 3, "note": "one of six"}, id=i) for i in "ab"]),
    ("a random quote", [call("get_random_quote", {}, {"quote": "Ever tried. Ever failed."}, id=i) for i in "ab"]),
    ("long ago", [search("a", started_s=0.0), search("b", started_s=3600.0)]),
]


@pytest.mark.parametrize(
    "user",
    [
        "I need a pair of lamps",
        "one lamp for me and one for my wife",
        "a lamp for each of them",
        "lamps for us",
        "Bitte zweimal",
        "deux lampes s'il te plaît",
        "dos lámparas",
        "Добавь два",
        "请加两个",
        "ランプを2つ",
        "add it, and then again",
        "remind him until he pays",
    ],
)
def test_a_change_that_the_user_may_have_wanted_twice_is_no_waste(user: str) -> None:
    calls = [call("add_item", {"sku": "x"}, {"ok": True}, id=i) for i in "ab"]
    assert StepEfficiency().screen(run_of(*calls, user=user)).issues == ()


@pytest.mark.parametrize("user", ["check the price twice", "look every minute", "keep checking", "查两次价格"])
def test_a_look_up_that_the_user_wanted_repeated_is_no_waste(user: str) -> None:
    calls = [call("get_price", {"item": "x"}, {"price": 5}, id=i) for i in "ab"]
    assert StepEfficiency().screen(run_of(*calls, user=user)).issues == ()


@pytest.mark.parametrize("calls", [pytest.param(calls, id=name) for name, calls in JUSTIFIED])
def test_what_only_looks_like_waste_is_none(calls: list[ToolCall]) -> None:
    screening = StepEfficiency().screen(run_of(*calls))
    assert screening.issues == ()
    assert 1.0 in (screening.score, screening.fallback_score)


@pytest.mark.parametrize(
    "calls",
    [
        pytest.param([search(i, None) for i in "abc"], id="not captured"),
        pytest.param([search(i, truncated=True) for i in "abc"], id="cut"),
    ],
)
def test_repeated_look_ups_with_unknown_answers_have_no_score(calls: list[ToolCall]) -> None:
    screening = StepEfficiency().screen(run_of(*calls))
    assert (screening.status, screening.score, screening.issues) == (Status.MISSING_INPUT, None, ())


def test_what_an_earlier_run_of_the_conversation_did_is_compared_with_and_not_counted() -> None:
    history = replace(fail("old"), earlier=True)
    user = Message(role=Role.USER, text="Show account 4471.")
    tool = Message(role=Role.TOOL, text=GONE, call_id="old")
    for context, expected in (((user, tool), ["unjustified_retry"]), ((user, tool, user), ["justified_retry"])):
        turn = Turn(index=0, calls=(fail("new"),), context=context)
        run = Run(turns=(turn,), loose_calls=(history,), user_inputs=("Show account 4471.",))
        assert types(RunCase(run=run)) == expected


def test_the_last_model_call_of_an_exchange_closes_all_that_its_history_shows() -> None:
    asked = tuple(replace(search(i), earlier=True) for i in "abc")
    turn = Turn(index=0, text="AS1103", answers=tuple(made.id for made in asked))
    closing = Run(turns=(turn,), loose_calls=asked, user_inputs=("Any flights?",), final_answer="AS1103", answered=True)
    assert types(RunCase(run=closing))[1:] == ["redundant", "redundant"]
    continuing = replace(closing, turns=(replace(turn, calls=(search("d"),)),))
    assert len(types(RunCase(run=continuing))) == 1


def two_messages(second: str, *calls: ToolCall) -> RunCase:
    turns = tuple(Turn(index=at, calls=(made,), user_turn=at) for at, made in enumerate(calls))
    return RunCase(run=Run(turns=turns, user_inputs=("Any flights?", second), final_answer="AS1103", answered=True))


def test_looking_again_because_the_user_asked_is_right() -> None:
    assert types(two_messages("Check again, please.", search("a"), search("b")))[1] == "helpful"
    assert types(two_messages("现在呢?", search("a"), search("b")))[1] == "helpful"
    assert types(two_messages("any flights? ", search("a"), search("b")))[1] == "helpful"
    assert types(two_messages("And what is the cheapest?", search("a"), search("b")))[1] == "redundant"


def test_the_same_change_for_another_message_of_the_user_is_no_duplicate() -> None:
    assert types(two_messages("Send it once more.", write("a"), write("b")))[1] == "helpful"


@pytest.mark.parametrize("wish", ["Order two lamps.", "Send it twice.", "再发一次,两次都要。"])
def test_several_changes_that_the_user_asked_for_are_no_duplicates(wish: str) -> None:
    assert types(run_of(write("a"), write("b"), user=wish))[1] == "helpful"


def test_a_change_that_failed_before_is_no_duplicate() -> None:
    calls = (call("pay", {"n": 1}, error=BUSY, id="a"), call("pay", {"n": 1}, "ok", id="b"))
    assert types(run_of(*calls))[1] == "justified_retry"


def test_another_agent_does_not_know_what_the_first_one_saw() -> None:
    turns = (Turn(index=0, calls=(search("a"),), agent="one"), Turn(index=1, calls=(search("b"),), agent="two"))
    case = RunCase(run=Run(turns=turns, user_inputs=("Flights?",), final_answer="x", answered=True))
    assert types(case)[1] == "helpful"


def test_configuration_says_what_a_tool_changes() -> None:
    calls = (
        call("run_lookup", {"q": 1}, {"hits": [1, 2, 3]}, id="a"),
        call("run_lookup", {"q": 1}, {"hits": [1, 2, 3]}, id="b"),
    )
    assert types(run_of(*calls))[1] == "helpful"
    assert types(run_of(*calls), read_tools=("run_*",))[1] == "redundant"
    assert types(run_of(*calls), write_tools=("run_lookup",))[1] == "harmful"


def test_a_repeat_within_one_parallel_turn_is_waste_too() -> None:
    turn = Turn(index=0, calls=(search("a"), search("b")))
    case = RunCase(run=Run(turns=(turn,), user_inputs=("Flights?",), final_answer="AS1103", answered=True))
    assert types(case) == ["required", "redundant"]


def test_a_run_of_ten_thousand_equal_calls_is_labelled() -> None:
    labels = types(run_of(*(search(f"c{n}") for n in range(10_000))))
    assert labels[:3] == ["helpful", "redundant", "redundant"] and set(labels[3:]) == {"dead_loop"}
