"""What doesn't fit is cut in the middle, results first, and every cut is announced outside the fence."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from evaluators.judge.fence import Fence
from evaluators.judge.pieces import LONGEST_RESULT, SHORTEST, Quoted, show

_FENCE = Fence("0123456789ab")


def _result(length: int) -> Quoted:
    return Quoted("r" * length, elastic=True)


def test_what_fits_is_shown_whole() -> None:
    shown = show(["says ", Quoted("hello")], _FENCE, 1_000)
    assert shown is not None
    assert shown.text == "says [0123456789ab]hello[/0123456789ab]"
    assert not shown.cut


def test_a_long_result_keeps_its_beginning_and_its_end_and_says_how_much_is_missing() -> None:
    text = "BEGIN" + "x" * 20_000 + "END"
    shown = show([Quoted(text, elastic=True)], _FENCE, 100_000)
    assert shown is not None
    assert shown.cut
    head, note, tail = re.split(r"(\(… \d+ characters left out …\))", shown.text)
    assert note == f"(… {len(text) - LONGEST_RESULT} characters left out …)"
    assert head.startswith("[0123456789ab]BEGIN")
    assert head.endswith("[/0123456789ab] ")
    assert tail.endswith("END[/0123456789ab]")


def test_results_are_cut_before_anything_else() -> None:
    shown = show([Quoted("t" * 3_000), _result(5_000), _result(500)], _FENCE, 6_000)
    assert shown is not None
    assert "t" * 3_000 in shown.text
    assert "r" * 500 + "[/" in shown.text
    assert shown.text.count("left out") == 1


def test_other_texts_are_cut_when_short_results_are_not_enough() -> None:
    shown = show([Quoted("t" * 9_000), Quoted("s" * 100), _result(5_000)], _FENCE, 4_000)
    assert shown is not None
    assert shown.text.count("left out") == 2
    assert "s" * 100 in shown.text


def test_what_does_not_fit_even_when_cut_is_not_shown_at_all() -> None:
    assert show([Quoted("t" * SHORTEST)] * 20, _FENCE, 5_000) is None


@given(
    st.lists(st.tuples(st.integers(0, 12_000), st.booleans()), max_size=12),
    st.integers(0, 40_000),
)
def test_a_showing_never_exceeds_its_budget(texts: list[tuple[int, bool]], budget_chars: int) -> None:
    pieces: list[str | Quoted] = ["words", *(Quoted("x" * length, elastic) for length, elastic in texts)]
    shown = show(pieces, _FENCE, budget_chars)
    if shown is not None:
        assert len(shown.text) <= budget_chars
        assert shown.cut == ("left out" in shown.text)
