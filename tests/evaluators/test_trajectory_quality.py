"""A run's trajectory: the weighted mean of what is known, and never anything for what isn't."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from evaluators.cases import Reference, RunCase, SourceVerdict
from evaluators.evaluation import Item, derive
from evaluators.trajectory_quality import TrajectoryQuality, TrajectoryQualitySettings
from evaluators.verdict import Status, Verdict
from tests.evaluators.runs import call, run_of

RUN = run_of(
    call("find_flight", {}, [1], ref="s1"), call("pay", {}, error="no money", id="c2"), call("pay", {}, [1], id="c3")
)
FLIGHTS_AND_PAY = ("find_flight", "pay")


def said(evaluator: str, score: float | None, status: Status = Status.OK, **more: Any) -> SourceVerdict:
    return SourceVerdict(evaluator=evaluator, status=status, score=score, **more)


def selections(*scores: float) -> list[SourceVerdict]:
    return [said("tool_selection", score, ref=f"t{at}", confidence=0.8) for at, score in enumerate(scores)]


def efficiency(score: float) -> SourceVerdict:
    return said("step_efficiency", score, ref="run", confidence=0.9)


def verdict(sources: Sequence[SourceVerdict], *, case: RunCase = RUN, **settings: Any) -> Verdict:
    return derive(Item(TrajectoryQuality(TrajectoryQualitySettings(**settings)), case), sources)


def test_all_parts_weigh_what_was_published_with_efficiency_high_for_good() -> None:
    found = verdict([*selections(1.0, 0.0), efficiency(0.75)], key_actions=("find_flight", "pay", "send_ticket", "log"))
    assert found.score == pytest.approx(0.45 * 0.5 + 0.35 * 0.5 + 0.20 * 0.75, abs=1e-4)


@pytest.mark.parametrize(
    ("sources", "key_actions", "score"),
    [
        ([*selections(1.0), efficiency(0.5)], (), (0.35 * 1 + 0.2 * 0.5) / 0.55),
        ([efficiency(0.5)], FLIGHTS_AND_PAY, (0.45 * 1 + 0.2 * 0.5) / 0.65),
        (selections(0.0), FLIGHTS_AND_PAY, 0.45 / 0.80),
        ([efficiency(0.5)], (), 0.5),
        (selections(0.25), (), 0.25),
        ([], ("find_flight", "send_ticket"), 0.5),
    ],
)
def test_a_part_of_which_nothing_is_known_gives_its_weight_to_the_rest(
    sources: list[SourceVerdict], key_actions: tuple[str, ...], score: float
) -> None:
    found = verdict(sources, key_actions=key_actions)
    assert found.score == pytest.approx(score, abs=1e-4)
    assert "Left out: " in found.explanation


def test_selections_without_a_score_are_no_part_of_the_mean() -> None:
    found = verdict([*selections(1.0, 0.5), said("tool_selection", None, Status.JUDGE_ERROR)])
    assert found.details["parts"]["tool_choice"] == {"score": 0.75, "weight": 0.35, "of": 2}  # type: ignore[index, call-overload]


@pytest.mark.parametrize(
    ("sources", "status"),
    [
        ([], Status.NOT_APPLICABLE),
        ([said("step_efficiency", None, Status.NOT_APPLICABLE)], Status.NOT_APPLICABLE),
        ([said("tool_selection", None, Status.NEEDS_JUDGE)], Status.NEEDS_JUDGE),
        (
            [said("tool_selection", None, Status.NEEDS_JUDGE), said("tool_selection", None, Status.JUDGE_ERROR)],
            Status.JUDGE_ERROR,
        ),
        ([said("step_efficiency", None, Status.MISSING_INPUT)], Status.MISSING_INPUT),
        ([said("task_completion", 1.0)], Status.NOT_APPLICABLE),
    ],
)
def test_where_nothing_is_known_the_status_says_why(sources: list[SourceVerdict], status: Status) -> None:
    found = verdict(sources)
    assert (found.status, found.score, found.passed) == (status, None, None)
    assert found.explanation.startswith("Nothing is known of the trajectory")


def test_the_actions_of_a_reference_go_before_the_configured_ones() -> None:
    case = replace(RUN, reference=Reference(key_actions=("send_ticket",)))
    found = verdict([], case=case, key_actions=("find_flight",))
    assert found.score == 0.0
    assert [(str(one.code), one.detail) for one in found.issues] == [
        ("missing_key_action", "The key action send_ticket was not taken.")
    ]


def test_an_action_that_was_only_tried_is_not_taken() -> None:
    case = run_of(call("pay", {}, error="no money"))
    found = verdict([], case=case, key_actions=("pay",))
    assert (found.score, found.issues[0].detail) == (0.0, "The key action pay was tried without success.")


@pytest.mark.parametrize("name", ["find_flight", "find_*", "findFlight"])
def test_a_key_action_may_be_a_pattern_or_spelled_in_another_way(name: str) -> None:
    assert verdict([], key_actions=(name,)).score == 1.0


@pytest.mark.parametrize("more", [{"partial": True}, {"missing": ("tool_calls",)}])
def test_actions_that_may_only_not_have_been_seen_are_not_missed(more: dict[str, Any]) -> None:
    found = verdict([], case=run_of(**more), key_actions=("pay",))
    assert (found.status, found.issues) == (Status.MISSING_INPUT, ())


def test_it_is_no_surer_than_what_it_is_made_of_and_less_sure_without_a_part() -> None:
    sources = [*selections(1.0), efficiency(1.0)]
    assert verdict(sources, key_actions=("pay",)).confidence == 0.8
    assert verdict(sources).confidence == 0.6


def test_the_evidence_is_where_its_sources_stand() -> None:
    found = verdict([*selections(1.0, 1.0), efficiency(1.0)], key_actions=("find_flight",))
    assert found.evidence == ("s1", "t0", "t1", "run")


def test_its_revision_changes_with_those_of_its_sources() -> None:
    assert verdict([said("step_efficiency", 1.0, revision="a")]).revision != (
        verdict([said("step_efficiency", 1.0, revision="b")]).revision
    )
