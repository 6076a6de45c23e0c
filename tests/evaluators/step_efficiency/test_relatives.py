"""Relatives of what only looks like waste: polling, paging, narrowing, retrying and looking again, in many spellings.

Each run is of one kind and none of its calls is waste.  What stands beside them is waste of the same build.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from evaluators.cases import Run, RunCase, Tool, ToolCall, Turn
from evaluators.step_efficiency import StepEfficiency
from tests.evaluators.runs import call, run_of


def again(name: str, arguments: dict[str, Any], *results: Any) -> list[ToolCall]:
    """The same call with these results, one after the other."""
    return [call(name, arguments, result, id=f"c{at}") for at, result in enumerate(results)]


def failing(*errors: str, name: str = "get_account", **arguments: Any) -> list[ToolCall]:
    return [call(name, arguments or {"id": 1}, error=error, id=f"e{at}") for at, error in enumerate(errors)]


def each(name: str, key: str, *values: Any, result: Any = None) -> list[ToolCall]:
    """A call for each value of an argument; the result is what is given, or the value itself."""
    given = result if result is not None else {}
    return [call(name, {key: value}, given or {"is": value}, id=f"v{at}") for at, value in enumerate(values)]


CHANGING = {
    "percent": again("get_export", {"id": 7}, *({"percent": n} for n in (10, 40, 40, 90, 100))),
    "words": again("check_build", {"id": 7}, "Build queued", "Build running", "Build passed"),
    "Chinese": again("查询任务状态", {"任务号": 7}, *({"状态": s} for s in ("排队中", "处理中", "处理中", "已完成"))),
    "a late answer": again("get_mails", {}, {"mails": []}, {"mails": []}, {"mails": ["hello"]}),
    "a price that moves": again("get_price", {"of": "X"}, {"price": 5}, {"price": 6}, {"price": 6.5}),
}
UNCHANGED = {
    "PENDING": again("get_transcription", {"id": 7}, *[{"status": "PENDING"}] * 4),
    "SUBMITTED": again("fetch_result", {"id": 7}, *[{"state": "SUBMITTED"}] * 3),
    "202": again("get_result", {"id": 7}, *[{"code": 202, "message": "Accepted"}] * 3),
    "not ready": again("get_render", {"id": 7}, *[{"ready": False}] * 3),
    "not done": again("get_operation", {"name": "op/7"}, *[{"done": False}] * 3),
    "not finished": again("get_report", {"id": 7}, *[{"finished": False, "rows": 0}] * 3),
    "progress": again("get_upload", {"id": 7}, *[{"progress": 0.5}] * 3),
    "percent of a hundred": again("get_upload", {"id": 7}, *[{"percent": 40}] * 3),
    "in transit": again("get_delivery", {"id": 7}, *[{"status": "in transit"}] * 3),
    "words": again("get_thing", {"id": 7}, *["Not ready yet, please wait."] * 3),
    "an inbox": again("get_inbox", {}, *[{"messages": []}] * 3),
    "no new mail": again("check_email", {}, *["No new messages"] * 3),
    "waiting for": again("await_result", {"id": 7}, *["nothing"] * 3),
    "the clock": again("get_current_time", {}, *["10:00"] * 3),
    "scheduled": again("get_pipeline", {"id": 7}, *[{"state": "scheduled"}] * 3),
    "Chinese progress": again("查询进度", {"id": 7}, *["处理中"] * 4),
    "Chinese state": again("query_task", {"id": 7}, *[{"status": "生成中"}] * 4),
    "Chinese payment": again("get_order", {"id": 7}, *[{"支付状态": "待支付"}] * 4),
    "Chinese, not yet": again("get_result", {"id": 7}, *["结果尚未生成，请稍后查询"] * 3),
    "German": again("get_auftrag", {"id": 7}, *[{"status": "in Bearbeitung"}] * 3),
    "French": again("get_commande", {"id": 7}, *[{"statut": "en cours"}] * 3),
    "Spanish": again("get_pedido", {"id": 7}, *[{"estado": "en proceso"}] * 3),
    "Russian": again("get_zakaz", {"id": 7}, *[{"status": "в обработке"}] * 3),
    "Japanese": again("get_request", {"id": 7}, *[{"status": "処理中"}] * 3),
    "Korean": again("get_request", {"id": 7}, *[{"status": "처리 중"}] * 3),
}
PAGES = {
    "page": each("list_items", "page", 0, 1, 2, 3),
    "offset": each("search", "offset", 0, 10, 20),
    "skip": each("query", "skip", 0, 50, 100),
    "cursor, same answer": each("list_items", "cursor", *"abcd", result={"items": []}),
    "next token": each("list_objects", "NextToken", *"abcd", result={"items": []}),
    "page token": each("list_files", "pageToken", "x1", "x2", result={"files": []}),
    "since": each("get_logs", "since", "2026-01-01T00:00:00Z", "2026-01-01T00:05:00Z", result={"lines": []}),
    "after an id": each("get_events", "after_id", 10, 20, 30, result={"events": []}),
    "lines of a file": each("read_file", "start_line", 1, 101, 201, result="text"),
    "Chinese pages": each("列出订单", "页码", 1, 2, 3),
    "next without arguments": again("next_page", {}, {"items": [1]}, {"items": [2]}, {"items": []}, {"items": []}),
    "next batch": again("get_next_batch", {"session": "s"}, {"rows": [1]}, {"rows": []}, {"rows": []}),
    "fetch more": again("fetch_more", {}, {"rows": []}, {"rows": []}),
    "the next line": again("read_next", {"file": "a"}, "", "", "x", ""),
}
SEARCHES = {
    "narrower": each("web_search", "query", "thai", "thai austin", "thai austin open now"),
    "broader": each("search_flights", "max_price", 100, 200, 300, result={"flights": []}),
    "other spellings": each("grep", "pattern", "foo", "foo_bar", "foo.bar", result="no match"),
    "Chinese": each("搜索", "关键词", "酒店", "北京酒店", "北京酒店 五星"),
    "one after the other": each("get_weather", "city", "Rome", "Oslo", "Bern", result="20"),
}
BUSY = ("429 Too Many Requests", "ETIMEDOUT", "系统繁忙，请稍后重试", "503 Service Unavailable", "Zeitüberschreitung")
RETRIES = {
    **{error: failing(error, error, error) for error in BUSY},
    "then success": [*failing("timeout"), call("get_account", {"id": 1}, {"name": "Ann"}, id="ok")],
    "a corrected argument": [
        *failing("date must be YYYY-MM-DD", date="tomorrow"),
        *each("get_account", "date", "2026-01-02"),
    ],
    "another tool": [*failing("user not found"), call("find_account", {"id": 1}, {"name": "Ann"}, id="ok")],
    "a log-in in between": [
        call("get_x", {"a": 1}, error="401 Unauthorized", id="a"),
        call("login", {"user": 1}, "ok", id="l"),
        call("get_x", {"a": 1}, error="401 Unauthorized", id="b"),
    ],
    "an installation in between": [
        call("bash", {"command": "pytest"}, error="No module named x", id="a"),
        call("bash", {"command": "pip install x"}, "ok", id="i"),
        call("bash", {"command": "pytest"}, error="No module named x", id="b"),
    ],
}
RECORD = {"id": 1, "state": "open", "total": 5, "lines": ["lamp"], "address": "Elm Street"}


def round_a_change(read: tuple[str, dict[str, Any], Any], change: tuple[str, dict[str, Any]]) -> list[ToolCall]:
    name, arguments, result = read
    return [
        call(name, arguments, result, id="before"),
        call(change[0], change[1], "ok", id="change"),
        call(name, arguments, result, id="after"),
    ]


AFTER_CHANGES = {
    "a file": round_a_change(("read_file", {"path": "a"}, "x = 1"), ("edit_file", {"path": "a"})),
    "tests": round_a_change(("run_tests", {}, "2 failed, see the log for details"), ("edit_file", {"path": "a"})),
    "a command": round_a_change(("bash", {"command": "git status"}, "On branch main"), ("write_file", {"path": "a"})),
    "a record": round_a_change(("get_order", {"id": 1}, RECORD), ("update_order", {"id": 1})),
    "Chinese": round_a_change(("查询订单", {"id": 1}, RECORD), ("修改订单", {"id": 1})),
    "another agent": round_a_change(("get_order", {"id": 1}, RECORD), ("delegate_task", {"task": "fix it"})),
    "a page": round_a_change(("take_screenshot", {}, "png"), ("click", {"on": "next"})),
    "something unknown": round_a_change(("get_order", {"id": 1}, RECORD), ("frobnicate", {"id": 1})),
}
UNUSED_WRITES = {
    "mails": each("send_email", "to", "a", "b", "c", result={"message_id": "m1"}),
    "acknowledged": each("delete_file", "path", "a", "b", result="ok"),
    "cards": each("charge_card", "card", 1, 2, result={"charged": True}),
    "Chinese": each("发送邮件", "收件人", "甲", "乙", result={"结果": "成功"}),
}
KINDS = {
    "polling whose answer changes": CHANGING,
    "polling whose answer doesn't change yet": UNCHANGED,
    "pages": PAGES,
    "searches": SEARCHES,
    "retries": RETRIES,
    "after changes": AFTER_CHANGES,
    "unused results of changes": UNUSED_WRITES,
}


def relatives() -> Iterator[Any]:
    for kind, runs in KINDS.items():
        for name, calls in runs.items():
            yield pytest.param(calls, id=f"{kind}: {name}")


@pytest.mark.parametrize("calls", list(relatives()))
def test_none_of_it_is_waste(calls: list[ToolCall]) -> None:
    screening = StepEfficiency().screen(run_of(*calls, user="Go on."))
    assert screening.issues == ()
    assert 1.0 in (screening.score, screening.fallback_score)


BUILT_ALIKE = {
    "a record that has the word pending": again("get_order_details", {"id": 1}, *[{**RECORD, "state": "pending"}] * 2),
    "a finished job": again("get_operation", {"name": "op/7"}, *[{"done": True}] * 2),
    "a search for the same": again("search_flights", {"to": "LIS"}, *[{"flights": [{"id": 1}]}] * 2),
    "a search that finds nothing": again("search_docs", {"q": "x"}, *[{"hits": []}] * 2),
    "the same page": again("list_items", {"page": 1}, *[{"items": [1]}] * 2),
    "the same file": again("read_file", {"path": "a"}, *["x = 1"] * 2),
    "keys in another order": [
        call("get_order", {"a": 1, "b": 2}, {"x": 1, "y": 2}, id="a"),
        call("get_order", {"b": 2, "a": 1.0, "c": None}, {"y": 2, "x": 1}, id="b"),
    ],
    "the same command": again("bash", {"command": "cat a.py"}, *["x = 1"] * 2),
    "in Chinese": again("查询订单", {"订单号": "1"}, *[{"订单": "1", "状态": "已发货", "金额": 5}] * 2),
    "a permanent error, in Chinese": failing("订单不存在", "订单不存在"),
    "the same mail": again("send_email", {"to": "a"}, *[{"message_id": "m1"}] * 2),
    "the same mail, in Chinese": again("发送邮件", {"收件人": "甲"}, *[{"结果": "成功"}] * 2),
}


@pytest.mark.parametrize("calls", [pytest.param(calls, id=name) for name, calls in BUILT_ALIKE.items()])
def test_what_is_built_alike_and_brings_nothing_is_waste(calls: list[ToolCall]) -> None:
    screening = StepEfficiency().screen(run_of(*calls, user="Go on."))
    assert [one.call_id for one in screening.issues] == [calls[-1].id]


TODOS = [{"content": "look", "status": "pending"}, {"content": "tell", "status": "pending"}]


def test_writing_ones_plan_down_changes_nothing_and_harms_nobody() -> None:
    notes = again("write_todos", {"todos": TODOS}, "ok", "ok")
    assert [str(one.code) for one in StepEfficiency().screen(run_of(*notes, user="Go on.")).issues] == [
        "redundant_call"
    ]
    read = round_a_change(("read_file", {"path": "a"}, "x = 1"), ("TodoWrite", {"todos": TODOS}))
    assert [one.call_id for one in StepEfficiency().screen(run_of(*read, user="Go on.")).issues] == ["after"]
    app = round_a_change(("get_todos", {}, "2 todos"), ("add_todos", {"todos": TODOS}))
    assert StepEfficiency().screen(run_of(*app, user="Go on.")).issues == ()


def test_a_server_that_says_a_tool_reads_is_believed_and_one_that_says_it_may_write_is_heeded() -> None:
    calls = again("frobnicate", {"id": 1}, *[RECORD] * 2)
    looks = again("get_order", {"id": 1}, *[RECORD] * 2)

    def waste(made: list[ToolCall], read_only: bool | None) -> int:
        offered = (Tool(name=made[0].name, read_only=read_only),)
        case = run_of(*made, user="Go on.")
        turns = tuple(type(turn)(index=turn.index, calls=turn.calls, tools=offered) for turn in case.run.turns)
        return len(StepEfficiency().screen(run_of(*made, user="Go on.", turns=turns)).issues)

    assert [waste(calls, hint) for hint in (None, True)] == [0, 1]
    assert [waste(looks, hint) for hint in (None, False)] == [1, 0]


def _asked_twice(second: str) -> RunCase:
    weather = again("get_weather", {"city": "Oslo"}, {"degrees": 1}, {"degrees": 1})
    turns = [Turn(index=at, calls=(made,), user_turn=at) for at, made in enumerate(weather)]
    return RunCase(run=Run(turns=tuple(turns), user_inputs=("How warm is it in Oslo?", second), final_answer="1"))


@pytest.mark.parametrize(
    "said",
    [
        "And now?",
        "How about now",
        "What is it now?",
        "Und jetzt?",
        "现在呢？",
        "今はどうですか",
        "Et maintenant ?",
        "¿Y ahora?",
    ],
)
def test_who_asks_how_it_is_now_wants_another_look(said: str) -> None:
    assert StepEfficiency().screen(_asked_twice(said)).issues == ()


@pytest.mark.parametrize("said", ["Thanks.", "Now book me a hotel there.", "谢谢"])
def test_who_asks_for_something_else_does_not(said: str) -> None:
    assert [str(one.code) for one in StepEfficiency().screen(_asked_twice(said)).issues] == ["redundant_call"]


def test_a_change_that_was_still_under_way_may_be_asked_for_again() -> None:
    def found(*results: Any) -> list[str]:
        case = run_of(*again("book_room", {"room": 1}, *results), user="Book room 1.", answer="Done.")
        return [str(one.code) for one in StepEfficiency().screen(case).issues]

    assert found({"status": "pending"}, {"status": "confirmed"}) == []
    assert found({"id": 7}, {"id": 8}) == ["duplicate_write"]


@pytest.mark.parametrize(
    "said",
    [
        "Monitor the CPU for a minute.",
        "Beobachte die CPU eine Minute lang.",
        "监控一分钟CPU使用率",
        "Is the endpoint deterministic?",
        "Is this reading consistent?",
    ],
)
def test_who_wants_something_watched_has_it_looked_at_more_than_once(said: str) -> None:
    made = again("get_cpu", {}, "5 %", "5 %", "5 %")
    assert StepEfficiency().screen(run_of(*made, user=said, answer="5 %")).issues == ()
