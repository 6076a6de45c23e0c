"""Runs as cases."""

from __future__ import annotations

from evaluators.cases import Reference, Run, RunCase
from evaluators.verdict import Level
from processors.cases.traces import place_runs
from processors.transcript import Transcript


def test_every_run_of_a_trace_is_a_case_on_its_own_span() -> None:
    transcript = Transcript(trace_id="", runs=(Run(ref="a", user_inputs=("Hi",)), Run(ref="b", final_answer="Ho")))
    cases = list(place_runs(transcript, "task_completion"))
    assert [(one.span_id, one.level, one.case.run.ref) for one in cases] == [
        ("a", Level.TRACE, "a"),
        ("b", Level.TRACE, "b"),
    ]


def test_a_span_round_nothing_that_says_nothing_is_no_run() -> None:
    assert list(place_runs(Transcript(trace_id="", runs=(Run(ref="a"),)), "task_completion")) == []


def test_a_run_that_was_seen_on_no_span_has_no_place_for_a_verdict() -> None:
    assert list(place_runs(Transcript(trace_id="", runs=(Run(final_answer="Ho"),)), "task_completion")) == []


def test_what_should_have_come_of_a_run_is_part_of_its_case() -> None:
    transcript = Transcript(trace_id="", runs=(Run(ref="a", final_answer="Hi"), Run(ref="b", final_answer="Ho")))
    cases = [one.case for one in place_runs(transcript, "x", {"b": Reference(outcome="Ho")})]
    assert [isinstance(case, RunCase) and case.reference for case in cases] == [None, Reference(outcome="Ho")]
