"""An error that an exporter writes on every span after the one that failed."""

from __future__ import annotations

from processors.otlp import Event
from tests.processors.spans_of import Trace, asks, returns, says, user

_ASKED = user("How is it in Oslo?")
_ERROR = "No town is called Olso."
_EXCEPTION = Event(name="exception", attributes={"exception.type": "Error", "exception.message": _ERROR})


def _carried_on(*, again: bool) -> Trace:
    """A run whose first call fails; the error stands on all spans after it, `again`: which say that they raised it."""
    first, second = asks("c1", "get_weather", {"city": "Olso"}), asks("c2", "get_weather", {"city": "Oslo"})
    trace = Trace()
    trace.agent()
    trace.llm("m1", [_ASKED], first)
    trace.tool("t1", "get_weather", {"city": "Olso"}, error=_ERROR, events=[_EXCEPTION])
    trace.llm("m2", [_ASKED, first, returns("c1", _ERROR)], second, error=_ERROR)
    trace.tool(
        "t2",
        "get_weather",
        {"city": "Oslo"},
        "cold",
        error=_ERROR,
        events=[_EXCEPTION] if again else [],
    )
    trace.llm("m3", [_ASKED, first, returns("c1", _ERROR), second, returns("c2", "cold")], says("Cold."), error=_ERROR)
    return trace


def test_an_error_is_that_of_the_span_that_raised_it() -> None:
    run = _carried_on(again=False).run()
    assert [turn.error for turn in run.turns] == [None, None, None]
    assert [call.result and call.result.error for call in run.calls] == [_ERROR, None]


def test_a_span_that_raised_the_same_error_failed_too() -> None:
    assert [call.result and call.result.error for call in _carried_on(again=True).run().calls] == [_ERROR, _ERROR]


def test_an_error_that_nobody_raised_before_is_the_spans_own() -> None:
    trace = Trace()
    trace.agent()
    trace.llm("m1", [_ASKED], says("It is"), error="stream broke")
    assert trace.run().turns[0].error == "stream broke"
