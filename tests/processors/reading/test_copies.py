"""Model calls that several instrumentations recorded."""

from __future__ import annotations

from dataclasses import replace

from tests.processors.spans_of import Trace, user

REFUSED = "the context is too long"


def test_a_failed_call_that_the_providers_own_library_recorded_as_well_is_one_turn() -> None:
    trace = Trace()
    trace.agent()
    trace.llm("m1", [user("weather?")], None, error=REFUSED, start_ns=2_000_000_000)
    trace.llm("sdk", None, None, error="", start_ns=2_000_000_100)
    trace.spans[-1] = replace(trace.spans[-1], scope_name="of.the.provider")

    assert [(turn.ref, turn.error) for turn in trace.run().turns] == [("m1", REFUSED)]


def test_two_failed_calls_of_one_instrumentation_are_two_turns() -> None:
    trace = Trace()
    trace.agent()
    trace.llm("m1", [user("weather?")], None, error=REFUSED, start_ns=2_000_000_000)
    trace.llm("m2", None, None, error=REFUSED, start_ns=2_000_000_100)

    assert len(trace.run().turns) == 2
