"""What to send so that questions are answered: the words, and the form of the answer, within so many tokens.

In: a run as it is shown, and questions about it.  Out: an order, or nothing where they don't fit.  Asks nobody.
"""

from __future__ import annotations

from collections.abc import Sequence

from evaluators.judge.answering.schema import answer_schema
from evaluators.judge.endpoint.request import Order
from evaluators.judge.question import NamedQuestion, Question
from evaluators.judge.showing.control import LABEL
from evaluators.judge.showing.prompt import CORRECTION_TOKENS, Prompt, ShownRun, build_prompt


def named(questions: Sequence[Question], places: Sequence[int]) -> list[NamedQuestion]:
    """The questions at these places under the names that they have in a request of their own."""
    return [(f"q{number}", questions[place]) for number, place in enumerate(places, 1)]


def empty_order(shown: ShownRun, asked: Sequence[NamedQuestion]) -> Order:
    """An order that asks for answers to these questions, and says nothing yet."""
    properties = None if shown.control is None else dict.fromkeys(shown.control.answers, LABEL)
    return Order(system="", user="", schema=answer_schema(asked, shown.aliases, properties), questions=len(asked))


def prompt_beside(order: Order, shown: ShownRun, asked: Sequence[NamedQuestion], most_tokens: int) -> Prompt | None:
    """The words that fit into a request beside the form of the answer, so that there is room for a correction."""
    return build_prompt(shown, asked, most_tokens - order.tokens - CORRECTION_TOKENS)
