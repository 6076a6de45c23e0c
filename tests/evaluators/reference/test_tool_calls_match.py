"""tool_calls_match: what is counted, what is told of it, and that nothing hangs on the order of lists."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.cases import JsonValue, RunCase
from evaluators.evaluation import judge_by_rules
from evaluators.issues import IssueCode
from evaluators.reference import ToolCallsMatch, ToolCallsMatchSettings
from evaluators.verdict import Method, Status, Verdict
from tests.evaluators.reference.calls_of import Spec, case_of, expected, judged, made

FIND: Spec = ("find", {"city": "Lima", "stars": 4})
BOOK: Spec = ("book", {"hotel": "Aurora"})
PAY: Spec = ("pay", {"amount": 20})


def matched(calls: Sequence[Spec], reference: Sequence[Spec], **settings: Any) -> Verdict:
    return judged(ToolCallsMatch(ToolCallsMatchSettings(**settings)), calls, reference)


def codes(verdict: Verdict) -> list[tuple[str, str | None]]:
    return [(str(one.code), one.call_id) for one in verdict.issues]


SCORES: list[tuple[str, list[Spec], list[Spec], float]] = [
    ("what was expected", [FIND, BOOK], [FIND, BOOK], 1.0),
    ("in another order", [BOOK, FIND], [FIND, BOOK], 1.0),
    ("one too many", [FIND, PAY, BOOK], [FIND, BOOK], 0.8),
    ("one too few", [FIND], [FIND, BOOK], 2 / 3),
    ("half of the arguments", [("find", {"city": "Lima", "stars": 3})], [FIND], 0.5),
    ("twice what was expected twice", [BOOK, BOOK], [BOOK, BOOK], 1.0),
    ("ten times what was expected once", [BOOK] * 10, [BOOK], 2 / 11),
    ("a greedy pairing would take the wrong one", [("m", {"x": 1, "y": 2, "z": 2}), ("m", {"x": 1, "y": 1, "z": 1})],
     [("m", {"x": 1, "y": 1, "z": 2}), ("m", {"x": 1, "y": 1, "z": 1})], 5 / 6),
    ("any arguments will do", [FIND], [("find", None)], 1.0),
    ("nothing, as expected", [], [], 1.0),
    ("nothing", [], [FIND], 0.0),
    ("something, where nothing was expected", [FIND], [], 0.0),
]  # fmt: skip


@pytest.mark.parametrize(("calls", "reference", "score"), [row[1:] for row in SCORES], ids=[row[0] for row in SCORES])
def test_the_score_is_f1_over_the_best_pairs(calls: list[Spec], reference: list[Spec], score: float) -> None:
    verdict = matched(calls, reference)
    assert (verdict.status, verdict.method) == (Status.OK, Method.REFERENCE)
    assert verdict.score == pytest.approx(score, abs=1e-4)
    assert (verdict.label, verdict.passed) == (None, None)


def test_with_a_threshold_it_passes_or_fails() -> None:
    assert matched([FIND], [FIND, BOOK], threshold=0.5).label == "pass"
    assert matched([FIND], [FIND, BOOK], threshold=0.7).passed is False


def test_precision_and_recall_are_told_apart_and_either_can_be_the_score() -> None:
    verdict = matched([FIND, PAY, BOOK], [FIND, BOOK])
    assert (verdict.details["precision"], verdict.details["recall"]) == (0.6667, 1.0)
    assert matched([FIND, PAY, BOOK], [FIND, BOOK], measure="recall").score == 1.0
    assert matched([FIND, PAY, BOOK], [FIND, BOOK], measure="precision").score == 0.6667


def test_issues_name_calls_and_fields_and_never_values() -> None:
    verdict = matched([("find", {"city": "Quito", "stars": 4}), PAY], [FIND, BOOK])
    assert codes(verdict) == [("missing_call", None), ("wrong_arguments", "c0"), ("extra_call", "c1")]
    assert [one.detail for one in verdict.issues] == [
        "book was expected and not called.",
        "find: city has another value.",
        "pay was called and not expected.",
    ]
    assert "Quito" not in repr(verdict)
    assert verdict.explanation.startswith(
        "0 of 2 expected calls were made; 1 with other arguments; 1 missing; 1 extra."
    )


def test_order_is_a_number_of_its_own_unless_it_counts() -> None:
    unordered = matched([PAY, FIND, BOOK], [FIND, BOOK, PAY])
    assert (unordered.score, unordered.details["order"], unordered.issues) == (1.0, 0.6667, ())
    ordered = matched([PAY, FIND, BOOK], [FIND, BOOK, PAY], order="in_order")
    assert ordered.score == 0.6667
    assert codes(ordered) == [("wrong_order", "c0")]


def test_a_call_with_all_arguments_wrong_is_not_a_missing_one() -> None:
    verdict = matched([("pay", {"amount": 21})], [PAY])
    assert (verdict.score, codes(verdict)) == (0.0, [("wrong_arguments", "c0")])


def test_arguments_can_be_left_out_of_it_and_so_can_tools() -> None:
    assert matched([("pay", {"amount": 21})], [PAY], compare_arguments=False).score == 1.0
    assert matched([FIND, ("think_hard", {})], [FIND], ignore_tools=["think*"]).score == 1.0


def test_fields_can_be_compared_in_another_way() -> None:
    fields = [{"tool": "pay", "field": "amount", "tolerance": 2}]
    assert matched([("pay", {"amount": 21})], [PAY], fields=fields).score == 1.0


def test_arguments_that_nobody_saw_in_full_are_not_held_against_it() -> None:
    reference = expected(FIND)
    for calls in (made(("find", None)), made(FIND, truncated=True)):
        verdict = judge_by_rules(ToolCallsMatch(), case_of(calls, reference))
        assert (verdict.status, verdict.score) == (Status.MISSING_INPUT, None)
    names = ToolCallsMatch(ToolCallsMatchSettings(compare_arguments=False))
    assert judge_by_rules(names, case_of(made(("find", None)), reference)).score == 1.0


def test_what_frameworks_add_on_a_tool_s_own_span_is_no_difference() -> None:
    calls = made(("find", {"city": "Lima", "stars": 4, "config": {}}), from_model=False)
    assert judge_by_rules(ToolCallsMatch(), case_of(calls, expected(FIND))).score == 1.0


def test_hand_offs_count_only_if_the_reference_names_them() -> None:
    hand_off = made(("transfer_to_billing", {}), is_handoff=True)
    assert judge_by_rules(ToolCallsMatch(), case_of(hand_off, ())).score == 1.0
    assert judge_by_rules(ToolCallsMatch(), case_of(hand_off, expected(("transfer_to_billing", None)))).score == 1.0


def test_more_than_can_be_aligned_is_too_large_and_no_guess() -> None:
    many = made(*(("find", {"page": at}) for at in range(300)))
    verdict = judge_by_rules(ToolCallsMatch(), case_of(many, expected(*(("find", {"page": -at}) for at in range(300)))))
    assert (verdict.status, verdict.score) == (Status.TOO_LARGE, None)


def test_nesting_that_would_break_a_comparison_is_too_large() -> None:
    deep: JsonValue = 1
    for _ in range(2_000):
        deep = [deep]
    verdict = judge_by_rules(ToolCallsMatch(), case_of(made(("find", {"x": deep})), expected(("find", {"x": deep}))))
    assert verdict.status is Status.TOO_LARGE


def test_a_pattern_that_hangs_is_a_status() -> None:
    settings = ToolCallsMatchSettings.model_validate({"fields": [{"field": "x", "regex": r"(.*a){20}"}]})
    call: Spec = ("find", {"x": "a" * 3_000 + "!"})
    verdict = judged(ToolCallsMatch(settings), [call], [call])
    assert (verdict.status, verdict.score) == (Status.MISSING_INPUT, None)
    assert "fields" in verdict.explanation


def test_secrets_in_names_are_not_repeated() -> None:
    verdict = matched([("sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH", {})], [])
    assert codes(verdict) == [("extra_call", "c0")]
    assert "abcdefghijklmnopqrstuvwxyz" not in repr(verdict)


specs = st.tuples(
    st.sampled_from(["a", "b", "café"]),
    st.dictionaries(
        st.sampled_from("xyz"), st.integers(0, 2) | st.booleans() | st.sampled_from(["1", "é"]), max_size=3
    ),
)
lists = st.lists(specs, max_size=6)


@given(lists, lists, st.sampled_from(["any", "in_order"]))
def test_all_numbers_are_shares(calls: list[Any], reference: list[Any], order: str) -> None:
    verdict = matched(calls, reference, order=order)
    assert verdict.score is not None
    told = [verdict.details[name] for name in ("f1", "precision", "recall", "order")]
    assert all(isinstance(one, int | float) and 0 <= one <= 1 for one in told)
    assert (verdict.score == 1.0) == (not verdict.issues)


@given(lists)
def test_the_reference_itself_is_1(calls: list[Any]) -> None:
    assert matched(calls, calls).score == matched(calls, calls, order="in_order").score == 1.0


@given(lists, lists, st.integers(0, 99))
def test_no_order_of_the_lists_changes_the_score(calls: list[Any], reference: list[Any], seed: int) -> None:
    shuffled, other = calls[:], reference[:]
    Random(seed).shuffle(shuffled)
    Random(seed + 1).shuffle(other)
    assert matched(calls, reference).score == matched(shuffled, other).score


@given(lists, lists)
def test_order_never_makes_it_better(calls: list[Any], reference: list[Any]) -> None:
    any_order, in_order = matched(calls, reference).score, matched(calls, reference, order="in_order").score
    assert any_order is not None
    assert in_order is not None
    assert in_order <= any_order


@given(lists, lists)
def test_calls_and_reference_can_change_places(calls: list[Any], reference: list[Any]) -> None:
    there, back = matched(calls, reference), matched(reference, calls)
    assert there.score == back.score
    assert there.details["precision"] == back.details["recall"]


@given(lists, lists)
def test_every_call_is_told_of_once(calls: list[Any], reference: list[Any]) -> None:
    verdict = matched(calls, reference)
    named = [one.call_id for one in verdict.issues if one.call_id is not None]
    assert len(set(named)) == len(named)
    missing = sum(one.code is IssueCode.MISSING_CALL for one in verdict.issues)
    extra = sum(one.code is IssueCode.EXTRA_CALL for one in verdict.issues)
    assert len(reference) - missing == len(calls) - extra


def test_a_run_without_a_reference_has_no_score() -> None:
    for case in (case_of(made(FIND), None), RunCase(run=case_of((), ()).run)):
        assert judge_by_rules(ToolCallsMatch(), case).status is Status.MISSING_INPUT
