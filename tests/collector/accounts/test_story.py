"""What is told of a trace: where every verdict stands, and why there is none."""

from __future__ import annotations

import pytest

from collector.accounts.accounts import Accounts
from collector.accounts.story import Known, Outgoing, Story, story_of
from collector.accounts.told import MissingInput, Told, ToldVerdict, seal, unseal
from collector.holding.ledger import Remembered
from collector.holding.live_trace import LiveTrace
from collector.holding.settings import Settings
from collector.holding.situation import situation_of

TRACE, SPAN = bytes(15) + b"\1", bytes(7) + b"\1"
NOTHING = Known(account=None, situation=None, job_at=None, passed_s=None, remembered=None, outgoing=())


def verdict(status: str, way: str = "span", why: str = "") -> ToldVerdict:
    return ToldVerdict(
        SPAN.hex(), "tool_selection", status, None, None, None, "rule", ("X",), None, "r", None, 0, way, why
    )


def told_of(*verdicts: ToldVerdict, too_late: frozenset[bytes] = frozenset(), rules_only: bool = False) -> Story:
    accounts = Accounts(lambda: 10.0)
    accounts.submitted(TRACE, complete=True, partial=False, rules_only=rules_only)
    told = Told(verdicts, (MissingInput("tools", "gen_ai.tool.definitions", "turn it on"),), ("genai",))
    accounts.answered(TRACE, seal(told), too_late, None, final=True)
    story = story_of(TRACE, NOTHING._replace(account=accounts.of(TRACE)), 12.0, 1000.0)
    assert story is not None
    return story


def test_what_is_sealed_is_the_same_when_it_is_opened() -> None:
    told = Told((verdict("ok"),), (MissingInput("a", "b", "c"),), ("genai", "openinference"))
    assert unseal(seal(told)) == told


@pytest.mark.parametrize(
    ("way", "too_late", "said"),
    [
        ("span", frozenset(), "span"),
        ("span", frozenset({SPAN}), "late_evaluation_span"),
        ("evaluation_span", frozenset({SPAN}), "evaluation_span"),
        ("", frozenset(), "nowhere"),
    ],
)
def test_a_verdict_says_where_it_stands(way: str, too_late: frozenset[bytes], said: str) -> None:
    [one] = told_of(verdict("ok", way), too_late=too_late)["verdicts"]
    assert one["way"] == said


@pytest.mark.parametrize(
    ("status", "rules_only", "why"),
    [
        ("needs_judge", False, "names no judge"),
        ("needs_judge", True, "could not keep up"),
        ("missing_input", False, "see missing_inputs"),
        ("not_applicable", False, ""),
    ],
)
def test_what_was_not_judged_says_why(status: str, rules_only: bool, why: str) -> None:
    story = told_of(verdict(status), rules_only=rules_only)
    assert why in story["verdicts"][0]["why"]
    assert story["missing_inputs"] == [
        {"fact": "tools", "attribute": "gen_ai.tool.definitions", "switch": "turn it on"}
    ]


def test_what_a_judge_said_of_its_failure_goes_before_general_words() -> None:
    assert told_of(verdict("judge_error", why="timed out"))["verdicts"][0]["why"] == "timed out"


def test_of_a_trace_of_which_nothing_is_known_there_is_no_story() -> None:
    assert story_of(TRACE, NOTHING, 1.0, 1.0) is None
    assert story_of(TRACE, NOTHING._replace(outgoing=[Outgoing("otlp", True, 0)]), 1.0, 1.0) is None


@pytest.mark.parametrize(
    ("known", "state"), [({"passed_s": 1.0}, "passed"), ({"remembered": Remembered(1.0, SPAN, b"sums")}, "finished")]
)
def test_a_trace_that_has_gone_says_how(known: dict[str, object], state: str) -> None:
    story = story_of(TRACE, NOTHING._replace(**known), 5.0, 1000.0)  # type: ignore[arg-type]
    assert story is not None
    assert story["state"] == state


def test_what_is_waited_for_is_told_soonest_first() -> None:
    trace = LiveTrace(0.0)
    trace.missing = {SPAN}
    waits = situation_of(trace, Settings(), 2.0).waits
    assert [(wait.what, wait.left_s) for wait in waits] == [
        ("quiet_period", 4.0),
        ("idle_timeout", 28.0),
        ("max_age", 598.0),
    ]
