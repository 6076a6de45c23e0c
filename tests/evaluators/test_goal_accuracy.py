"""The goal was reached or it wasn't; what was held against what can always be read."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from evaluators.cases import Reference, ReferenceCall, Run, RunCase
from evaluators.evaluation import Item, evaluate, judge_by_rules
from evaluators.goal_accuracy import GoalAccuracy, GoalAccuracySettings
from evaluators.goal_accuracy.answer import GoalAnswer, reference_answer
from evaluators.judge.question import Answer, JudgeAnswer, Question
from evaluators.verdict import Status, Verdict
from tests.evaluators.runs import call, run_of

WISH = "Book a table for two at Roma on Friday, and tell me the price."
RUN = run_of(
    call("book_table", {"place": "Roma", "people": 2, "day": "Fri"}, {"id": "b1", "price": 40}),
    user=WISH,
    answer="Booked for two on Friday. It costs $40.",
)


class _Finds:
    """A judge that finds what it is told to, and remembers its questions."""

    model = "m"

    def __init__(self, content: Mapping[str, Any], *, cut: bool = False) -> None:
        self._content = content
        self._cut = cut
        self.asked: list[Question] = []

    async def ask(self, run: Run, questions: Sequence[Question]) -> list[Answer]:
        self.asked += questions
        content = questions[0].answer_type.model_validate({"explanation": "So it was.", **self._content})
        return [JudgeAnswer(content=content, model=self.model, evidence=("last",), input_cut=self._cut)]


def condition(quote: str, met: str = "yes", *evidence: str) -> dict[str, Any]:
    return {"quote": quote, "shown": "As seen.", "evidence": list(evidence), "met": met}


def finding(met: str = "yes") -> dict[str, Any]:
    return {"shown": "As seen.", "evidence": ["t0"], "met": met}


def judged(judge: _Finds, case: RunCase = RUN, **settings: Any) -> Verdict:
    (found,) = asyncio.run(evaluate([Item(GoalAccuracy(GoalAccuracySettings(**settings)), case, judge)]))
    return found


TABLE, PRICE = "Book a table for two at Roma on Friday", "tell me the price"


@pytest.mark.parametrize(
    ("met", "score", "status"),
    [
        (("yes", "yes"), 1.0, Status.OK),
        (("yes", "no"), 0.0, Status.OK),
        (("unknown", "no"), 0.0, Status.OK),
        (("yes", "unknown"), None, Status.MISSING_INPUT),
        (("unknown", "unknown"), None, Status.MISSING_INPUT),
    ],
)
def test_one_condition_missed_is_nought_and_one_unseen_is_no_score(
    met: tuple[str, str], score: float | None, status: Status
) -> None:
    found = judged(_Finds({"conditions": [condition(TABLE, met[0]), condition(PRICE, met[1])]}))
    assert (found.score, found.status) == (score, status)
    assert found.label == {1.0: "pass", 0.0: "fail", None: None}[score]


def test_the_verdict_shows_what_was_held_against_what_and_where() -> None:
    found = judged(_Finds({"conditions": [condition(TABLE, "yes", "t0"), condition(PRICE, "no", "last")]}))
    assert found.explanation == "1 of 2 conditions that the user named met. So it was."
    assert found.details["compared_with"] == "user"
    told = found.details["conditions"]
    assert isinstance(told, list)
    assert [(one["expected"], one["met"], one["quoted"]) for one in told] == [  # type: ignore[index, call-overload]
        (TABLE, "yes", True),
        (PRICE, "no", True),
    ]
    assert [str(one.code) for one in found.issues] == ["missing_requirement"]
    assert found.evidence == ("t0", "last")


@pytest.mark.parametrize(
    ("quote", "sure"),
    [
        (TABLE, True),
        ("book a table\nfor two at roma", True),
        ("Reserve somewhere nice", False),
        ("", False),
    ],
)
def test_a_condition_in_other_words_than_the_user_s_makes_the_verdict_less_sure(quote: str, sure: bool) -> None:
    found = judged(_Finds({"conditions": [condition(quote)]}))
    assert found.confidence == (0.8 if sure else 0.6)


def test_what_the_judge_could_not_see_makes_the_verdict_less_sure() -> None:
    assert judged(_Finds({"conditions": [condition(TABLE)]}, cut=True)).confidence == 0.6


def test_an_answer_without_conditions_is_no_answer() -> None:
    with pytest.raises(ValidationError):
        GoalAnswer.model_validate({"conditions": [], "explanation": "All fine."})


def against(**reference: Any) -> RunCase:
    return replace(RUN, reference=Reference(**reference))


def test_a_stated_outcome_is_the_one_expectation() -> None:
    judge = _Finds({"r1": finding("no")})
    case = against(outcome="A table for two is booked.", required_outputs=("40",), tool_calls=())
    found = judged(judge, case)
    assert "r1, expected from outside the run: A table for two is booked." in judge.asked[0].subject
    assert "r2" not in judge.asked[0].subject
    assert (found.score, [str(one.code) for one in found.issues]) == (0.0, ["wrong_answer"])
    assert found.details["compared_with"] == "reference"
    assert found.details["reference"] == "case"


def test_without_an_outcome_outputs_and_calls_are_expected_one_by_one() -> None:
    case = against(
        required_outputs=("40", "Friday"),
        tool_calls=(ReferenceCall(name="book_table", arguments={"people": 2, "place": "Roma", "day": "Fri"}),),
    )
    found = judged(_Finds({"r1": finding(), "r2": finding(), "r3": finding("no")}), case)
    assert found.score == 0.0
    assert [str(one.code) for one in found.issues] == ["missing_call"]
    assert found.explanation.startswith("2 of 3 expectations of the reference met.")


def test_every_expectation_has_to_be_answered_and_no_other() -> None:
    wanted = reference_answer(("r1", "r2"))
    with pytest.raises(ValidationError):
        wanted.model_validate({"r1": finding(), "explanation": "Fine."})
    assert list(wanted.model_json_schema()["required"]) == ["explanation", "r1", "r2"]


CALLED = ReferenceCall(name="book_table", arguments={"place": "Roma", "people": 2, "day": "Fri"})


@pytest.mark.parametrize(
    ("reference", "seen"),
    [
        ({"required_outputs": ("$40",)}, "yes"),
        ({"required_outputs": ("４０",)}, "yes"),
        ({"required_outputs": ("40.00",)}, "yes"),
        ({"required_outputs": ("45",)}, "no"),
        ({"required_outputs": ("BOOKED for two",)}, "yes"),
        ({"tool_calls": (CALLED,)}, "yes"),
        ({"tool_calls": (replace(CALLED, arguments={"place": "Roma", "people": 2.0, "day": "Fri"}),)}, "yes"),
        ({"tool_calls": (replace(CALLED, arguments=None),)}, "yes"),
        ({"tool_calls": (replace(CALLED, arguments={"place": "Roma", "people": 3, "day": "Fri"}),)}, "other"),
        ({"tool_calls": (ReferenceCall(name="send_mail"),)}, "no"),
        ({"tool_calls": ()}, "no"),
    ],
)
def test_what_code_can_see_of_an_expectation_is_told_to_the_judge_and_shown(
    reference: dict[str, Any], seen: str
) -> None:
    judge = _Finds({"r1": finding()})
    found = judged(judge, against(**reference))
    told = found.details["conditions"]
    assert isinstance(told, list)
    assert told[0]["by_code"] == seen  # type: ignore[index, call-overload]
    assert len(judge.asked[0].findings) == 1
    assert found.score == 1.0, "a search by code decides nothing"


def test_a_call_that_was_made_and_failed_is_told_as_such() -> None:
    failed = run_of(call("book_table", {"place": "Roma"}, {"error": "full"}), user=WISH)
    judge = _Finds({"r1": finding("no")})
    wanted = ReferenceCall(name="book_table", arguments={"place": "Roma"})
    judged(judge, replace(failed, reference=Reference(tool_calls=(wanted,))))
    assert judge.asked[0].findings == ("r1: call ‹c1› made it with these arguments and failed",)


def test_more_expectations_than_can_be_asked_about_are_not_cut_to_some() -> None:
    many = replace(RUN, reference=Reference(required_outputs=tuple(map(str, range(41)))))
    assert judge_by_rules(GoalAccuracy(), many).status is Status.TOO_LARGE


def test_a_reference_that_says_nothing_of_the_outcome_leaves_the_user_s_words() -> None:
    judge = _Finds({"conditions": [condition("for three")]})
    found = judged(judge, against(task="Book a table for three."))
    assert "The task, as given from outside the run: Book a table for three." in judge.asked[0].subject
    assert found.confidence == 0.8
    assert found.details["compared_with"] == "user"


@pytest.mark.parametrize(
    ("case", "status", "score"),
    [
        (RUN, Status.NEEDS_JUDGE, None),
        (run_of(answer=None, aborted=True), Status.OK, 0.0),
        (run_of(answer=None, answered=None), Status.MISSING_INPUT, None),
        (run_of(user_inputs=None), Status.MISSING_INPUT, None),
        (run_of(partial=True), Status.MISSING_INPUT, None),
        (run_of(call("pay", awaiting_approval=True), answer=None, answered=None), Status.NOT_APPLICABLE, None),
    ],
    ids=["whole", "crashed", "no answer captured", "no wish captured", "in part", "waits"],
)
def test_rules_alone_only_know_a_run_that_broke_off(case: RunCase, status: Status, score: float | None) -> None:
    found = judge_by_rules(GoalAccuracy(), case)
    assert (found.status, found.score) == (status, score)


def test_half_a_goal_never_passes_whatever_the_threshold() -> None:
    half = {"conditions": [condition(TABLE), condition(PRICE, "no")]}
    assert judged(_Finds(half), threshold=0.5).passed is False
