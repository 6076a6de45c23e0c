"""Lines that several texts share are shown once, as long as nothing has to be cut."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evaluators.judge.showing.pieces import Piece, Quoted
from evaluators.judge.showing.repeats import without_repeats
from evaluators.judge.steering import Kind

_MENU = "\n".join(f"- menu item number {number} of the page" for number in range(30))


def _result(text: str, call: str) -> Quoted:
    return Quoted(text, Kind.RESULT, f"the result of {call}", call)


def test_a_page_s_menu_is_shown_with_the_first_page_only() -> None:
    first, second = _result(f"Welcome\n{_MENU}\nfooter", "c1"), _result(f"Rooms\n{_MENU}\nno vacancies", "c2")
    assert without_repeats([first, "\nnext ", second]) == [
        first,
        "\nnext ",
        _result("Rooms", "c2"),
        " (here 30 lines that also stand in the result of c1) ",
        _result("no vacancies", "c2"),
    ]


def test_lines_in_another_order_or_too_few_of_them_are_shown_again() -> None:
    first = _result(_MENU, "c1")
    for text in ("\n".join(reversed(_MENU.split("\n"))), "\n".join([*_MENU.split("\n")[:5], "x" * 500])):
        second = _result(text, "c2")
        assert without_repeats([first, second]) == [first, second]


def test_a_text_of_one_line_and_our_own_words_stay_as_they_are() -> None:
    pieces: list[Piece] = [_result("x" * 900, "c1"), _result("x" * 900, "c2"), f"{_MENU}", f"{_MENU}"]
    assert without_repeats(pieces) == pieces


@given(st.lists(st.lists(st.sampled_from([f"a line of the page, number {n}, long" for n in range(6)] + ["", "x"]))))
def test_nothing_is_lost_that_is_not_pointed_at(texts: list[list[str]]) -> None:
    pieces = [_result("\n".join(lines * 9), f"c{number}") for number, lines in enumerate(texts)]
    told = without_repeats(pieces)
    for piece in pieces:
        parts = [one for one in told if isinstance(one, Quoted) and one.call == piece.call]
        assert all(part.text in piece.text for part in parts)
    if pieces:
        assert told[0] == pieces[0]
