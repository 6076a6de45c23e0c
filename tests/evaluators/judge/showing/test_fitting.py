"""Where there is not room for a whole record, what matters least goes first, and every cut is announced."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluators.cases import Message, Role, Run, Tool, ToolCall, ToolResult, Turn
from evaluators.judge.showing.aliases import Aliases
from evaluators.judge.showing.fence import Fence
from evaluators.judge.showing.fitting import Showing, show
from evaluators.judge.showing.mattering import Interest
from evaluators.judge.showing.record import record
from evaluators.judge.tokens import estimate_tokens

_FENCE = Fence("0123456789ab")
_NOTE = re.compile(r"\(… (\d+) characters left out …\)")
_TASK = "Find the cheapest room in Rome and book it."
_FILLER = "nothing of interest here, "


def _run(
    *results: str | ToolResult, says: str = "Done: the room is R-4471.", texts: str = "", tools: tuple[Tool, ...] = ()
) -> Run:
    """A run that calls one tool a turn, and answers in the end."""
    turns: list[Turn] = []
    for number, result in enumerate(results):
        came_back = result if isinstance(result, ToolResult) else ToolResult(content=result)
        call = ToolCall(id=f"call_{number:08d}", name="search", arguments={"page": number}, result=came_back)
        turns.append(
            Turn(index=number, calls=(call,), tools=tools, answers=_of(turns), text=texts, ref=f"{number:016x}")
        )
    turns.append(Turn(index=len(results), text=says, answers=_of(turns), tools=tools, ref=f"{len(results):016x}"))
    return Run(
        turns=tuple(turns),
        user_inputs=(_TASK,),
        system_prompts=("You book rooms.",),
        final_answer=says,
        answered=True,
    )


def _of(turns: list[Turn]) -> tuple[str, ...]:
    return tuple(call.id for call in turns[-1].calls) if turns else ()


def _show(run: Run, room_tokens: int, interest: Interest | None = None) -> Showing:
    shown = show(record(run, Aliases(run)).blocks, _FENCE, room_tokens, interest or Interest())
    assert shown is not None
    return shown


def test_what_fits_is_shown_whole() -> None:
    shown = _show(_run("a room", "R-4471"), 1_000)
    assert shown.left_out == 0.0
    assert not shown.cut
    assert "left out" not in shown.text


def test_a_long_result_keeps_what_the_answer_cites() -> None:
    rows = [f'{{"room":"R-{number}","eur":{number % 97 + 40},"note":"{_FILLER}"}}' for number in range(6_000)]
    shown = _show(_run("[" + ",".join(rows) + "]"), 3_000)
    assert rows[4471] in shown.text
    assert rows[5000] not in shown.text
    assert estimate_tokens(shown.text) <= 3_000


def test_every_cut_is_told_outside_the_fence_with_its_length_and_the_whole_at_the_top() -> None:
    text = "BEGIN " + _FILLER * 4_000 + "END"
    shown = _show(_run(text), 1_500)
    assert shown.text.startswith("96 % of the run's texts are left out to fit; each place says so.\n")
    (left_out,) = _NOTE.findall(shown.text)
    inside = sum(map(len, re.findall(r"\[0123456789ab\](.*?)\[/0123456789ab\]", shown.text, re.DOTALL)))
    whole = sum(map(len, ("You book rooms.", _TASK, '{"page":0}', text, "Done: the room is R-4471.")))
    assert inside + int(left_out) == whole
    assert 0.9 < shown.left_out < 1.0


def test_a_result_nobody_took_up_goes_before_one_that_was_used() -> None:
    used = '{"room": "R-4471"} ' + "used " * 2_000
    idle = '{"room": "R-0815"} ' + "idle " * 2_000
    shown = _show(_run(idle, used), 5_000)
    assert shown.text.count("used ") == 2_000
    assert shown.text.count("idle ") < 1_000


def test_what_is_asked_about_stays_longest() -> None:
    run = _run("one " * 3_000, "two " * 3_000, "three " * 3_000)
    shown = _show(run, 4_500, Interest(calls=frozenset({"c2"})))
    assert shown.text.count("two ") == 3_000
    assert shown.text.count("one ") < 1_000
    assert shown.text.count("three ") < 1_000


def test_parameters_of_tools_that_were_never_called_go_first() -> None:
    def tool(name: str) -> Tool:
        properties = {f"{name}_{number}": {"type": "string", "description": "a field"} for number in range(40)}
        return Tool(name=name, description=f"Does {name}.", parameters={"type": "object", "properties": properties})

    shown = _show(_run("R-4471", tools=(tool("search"), tool("spare"))), 800)
    assert "search_39?: string" in shown.text
    assert "spare_30" not in shown.text
    assert "Does spare." in shown.text


def test_the_task_errors_and_the_answer_outlast_everything_else() -> None:
    error = "invalid page: there are 3 pages only"
    results = [ToolResult(error=error), *(ToolResult(content=f"{_FILLER * 300}{number}") for number in range(3))]
    shown = _show(_run(*results), 900)
    for essential in (_TASK, "You book rooms.", error, "Done: the room is R-4471."):
        assert essential in shown.text


def test_early_turns_in_which_nothing_happened_become_a_line_and_late_ones_stay() -> None:
    run = _run(*(f"page {number}: {_FILLER * 30}" for number in range(400)), texts="I go on looking.")
    shown = _show(run, 12_000)
    assert re.search(r"^turn 2 to turn \d+, in short: calls c2 to c\d+: search \d+ times", shown.text, re.MULTILINE)
    assert re.search(r"^turn \d+ \[e\d+\], in short: result of c\d+, \d+ characters; .*calls", shown.text, re.MULTILINE)
    assert "[0123456789ab]page 399: " in shown.text
    assert estimate_tokens(shown.text) <= 12_000


def test_a_turn_in_which_something_failed_stays_among_many_that_are_told_in_a_line() -> None:
    results: list[str | ToolResult] = [f"page {number}: {_FILLER * 30}" for number in range(200)]
    results[77] = ToolResult(error="page 77 is locked")
    shown = _show(_run(*results), 8_000)
    assert "page 77 is locked" in shown.text
    assert "none failed" in shown.text or "in short: result of" in shown.text


def test_a_user_s_words_in_the_middle_of_a_long_run_are_never_left_out() -> None:
    run = _run(*(f"page {number}: {_FILLER * 30}" for number in range(300)))
    said = Message(role=Role.USER, text="No, only rooms with a balcony!")
    turns = list(run.turns)
    turns[150] = Turn(index=150, calls=turns[150].calls, answers=turns[150].answers, context=(said,), user_turn=1)
    shown = _show(Run(turns=tuple(turns), user_inputs=run.user_inputs, final_answer=run.final_answer), 5_000)
    assert "No, only rooms with a balcony!" in shown.text


def test_a_run_of_hundreds_of_turns_fits_a_small_model() -> None:
    run = _run(*(f"R-{number}: {_FILLER * 100}" for number in range(400)), texts="I take the next page.")
    shown = _show(run, 3_000, Interest(turns=frozenset({7}), calls=frozenset({"c8"})))
    assert estimate_tokens(shown.text) <= 3_000
    assert "\nturn 8 [e" in shown.text
    assert "calls c8" in shown.text


def test_a_text_that_comes_again_is_pointed_at_only_where_the_first_is_shown() -> None:
    listing = "a listing of rooms, " * 50
    run = _run(*[listing] * 300)
    shown = _show(run, 3_000, Interest(calls=frozenset({"c200"})))
    assert shown.text.count(listing) == 1
    for label in re.findall(r"the same text as the (result of c\d+)", shown.text):
        assert f"\n{label} [" in shown.text


def test_what_does_not_fit_even_when_cut_is_not_shown_at_all() -> None:
    run = Run(user_inputs=tuple(f"{number} {'wish ' * 400}" for number in range(60)))
    assert show(record(run, Aliases(run)).blocks, _FENCE, 2_000, Interest()) is None


@pytest.mark.parametrize("filler", ["x", "北", "1", " ", "\n", "é", "🎉", "}"])
def test_a_result_of_one_character_over_and_over_is_cut_like_any_other(filler: str) -> None:
    shown = _show(_run(filler * 230_000), 2_000)
    assert estimate_tokens(shown.text) <= 2_000
    assert "left out" in shown.text


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 6_000), st.booleans()), max_size=14),
    st.integers(0, 12_000),
    st.sets(st.integers(0, 14), max_size=3),
)
def test_a_showing_never_exceeds_its_room(results: list[tuple[int, bool]], room_tokens: int, asked: set[int]) -> None:
    came_back = [ToolResult(error="e" * size) if bad else ToolResult(content="r1 " * size) for size, bad in results]
    run = _run(*came_back)
    interest = Interest(turns=frozenset(asked))
    shown = show(record(run, Aliases(run)).blocks, _FENCE, room_tokens, interest)
    if shown is not None:
        assert estimate_tokens(shown.text) <= room_tokens
        assert shown.cut == ("left out" in shown.text)
