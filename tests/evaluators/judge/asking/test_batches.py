"""Questions of several evaluators share requests; of one evaluator only so many."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evaluators.judge.asking.batches import batches
from evaluators.judge.question import Question
from tests.evaluators.judge_cases import choice


def _questions(**counts: int) -> list[Question]:
    return [choice(index, evaluator) for evaluator, count in counts.items() for index in range(count)]


def test_all_steps_share_one_request_while_they_fit() -> None:
    questions = _questions(selection=8, invocation=8, handling=7)
    assert batches(questions, 8) == [list(range(23))]


def test_more_steps_are_split_evenly_in_the_order_of_the_run() -> None:
    assert batches(_questions(selection=9), 8) == [[0, 1, 2, 3, 4], [5, 6, 7, 8]]


def test_without_questions_there_is_no_request() -> None:
    assert batches([], 8) == []


@given(st.lists(st.sampled_from(["a", "b", "c"]), max_size=40), st.integers(1, 10))
def test_every_question_is_asked_once_and_no_request_asks_too_much(evaluators: list[str], limit: int) -> None:
    questions = [choice(index, evaluator) for index, evaluator in enumerate(evaluators)]
    grouped = batches(questions, limit)
    assert sorted(place for group in grouped for place in group) == list(range(len(questions)))
    for group in grouped:
        asked = [questions[place].evaluator for place in group]
        assert group
        assert max(map(asked.count, asked)) <= limit
