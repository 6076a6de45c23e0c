"""Of a long text its beginning, its end, and what is spoken of stay."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from evaluators.judge.showing.clues import Clue
from evaluators.judge.showing.excerpt import excerpt
from evaluators.judge.tokens import TOKEN, weigh

_CUT = 20 * TOKEN


def _shown(text: str, limit_tokens: int, *spoken_of: str) -> str:
    clues = [Clue(text.index(one), text.index(one) + len(one), 3.0) for one in spoken_of]
    return "…".join(text[start:end] for start, end in excerpt(text, limit_tokens * TOKEN, clues, _CUT))


def test_what_fits_stays_whole() -> None:
    assert _shown("short", 100) == "short"


def test_beginning_and_end_stay() -> None:
    shown = _shown("BEGIN " + "word " * 5_000 + "END", 200)
    assert shown.startswith("BEGIN word")
    assert shown.endswith("word END")


def test_what_is_spoken_of_stays_with_what_stands_around_it() -> None:
    rows = [f'{{"id": "H{number}", "eur": {number * 7}}}' for number in range(4_000)]
    text = "\n".join(rows)
    shown = _shown(text, 600, '"H2345"', '"H77"')
    assert rows[2345] in shown
    assert rows[77] in shown
    assert rows[1500] not in shown


def test_the_more_telling_stays_when_there_is_not_room_for_all() -> None:
    text = "\n".join(f"line {number} of many" for number in range(9_000))
    places = [
        Clue(text.index(f"line {number} "), text.index(f"line {number} ") + 8, 1.0) for number in range(3000, 3999)
    ]
    telling = Clue(text.index("line 7777"), text.index("line 7777") + 9, 3.0)
    shown = [text[start:end] for start, end in excerpt(text, 200 * TOKEN, [*places, telling], _CUT)]
    assert any("line 7777" in one for one in shown)


def test_a_stretch_begins_and_ends_at_a_line_where_one_is_near() -> None:
    text = "\n".join(f"line number {number}" for number in range(9_000))
    (_, first_end), (second_start, _) = excerpt(text, 120 * TOKEN, [], _CUT)
    assert text[first_end - 1] in " \n"
    assert text[second_start - 1] in " \n"


@given(
    st.text(st.sampled_from("ab 1\n。北京,{}"), min_size=1, max_size=4_000),
    st.integers(0, 1_500),
    st.lists(st.tuples(st.integers(0, 3_999), st.integers(1, 30)), max_size=30),
)
def test_stretches_are_in_order_apart_and_within_the_limit(
    text: str, limit_tokens: int, places: list[tuple[int, int]]
) -> None:
    clues = [Clue(at, min(at + length, len(text)), 1.0) for at, length in places if at < len(text)]
    limit = limit_tokens * TOKEN
    stretches = excerpt(text, limit, clues, _CUT)
    assert stretches == sorted(stretches)
    assert all(0 <= start <= end <= len(text) for start, end in stretches)
    assert all(first[1] < second[0] for first, second in pairwise(stretches))
    shown = sum(weigh(text[start:end]) for start, end in stretches)
    assert shown <= limit
