"""What to do where a fact wasn't captured, by the instrumentation that would have had to record it.

In: the scopes of a trace's spans and the dialects they speak.  Out: for a missing fact the attribute that would carry
it, and the switch.  The scope says best who wrote a span; where nobody knows it, the dialect says what is usual there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from processors.conventions.fact_names import ARGUMENTS, TOOL_RESULTS
from processors.conventions.instrumentations import INSTRUMENTATIONS, OI_HIDES, TRACELOOP, Instrumentation, Remedy
from processors.conventions.places import GENAI

_UNKNOWN = Instrumentation(
    name="", where=GENAI, switch="switch on the capture of message content in the instrumentation"
)
_UNRECORDED = "use a newer version of the instrumentation, or another one: content is captured, but not this"


def remedies(
    facts: Iterable[str],
    *,
    model_scopes: Iterable[str],
    tool_scopes: Iterable[str],
    dialects: Iterable[str],
    captured: Collection[str],
) -> dict[str, Remedy]:
    """What there is to say about each missing fact.

    Args:
        facts: those that are missing.
        model_scopes: names of the scopes of model calls, and of agents, the most telling first.
        tool_scopes: the same for executions of tools.
        dialects: the dialects that the spans speak.
        captured: the facts of which the trace has some all the same, or has what the same switch governs, so that it
            isn't off.
    """
    spoken = tuple(dialects)
    models = [one for scope in model_scopes if (one := _by_scope(scope, spoken)) is not None]
    tools = [one for scope in tool_scopes if (one := _by_scope(scope, spoken)) is not None]
    usual = [one for one in INSTRUMENTATIONS if not set(spoken).isdisjoint(one.dialects)]
    found: dict[str, Remedy] = {}
    for fact in dict.fromkeys(facts):
        known = (*tools, *models) if fact in (ARGUMENTS, TOOL_RESULTS) else (*models, *tools)
        one = next(iter((*known, *usual)), _UNKNOWN)
        is_left_out = fact in captured and one.instead.get(fact) in (None, OI_HIDES[fact])
        found[fact] = one.remedy(fact) if not is_left_out else Remedy(one.where[fact], _UNRECORDED)
    return found


def _by_scope(scope: str, dialects: Iterable[str]) -> Instrumentation | None:
    """The instrumentation that has scopes of this name; Traceloop's bear the names of others."""
    fitting = [
        (len(start), one)
        for one in INSTRUMENTATIONS
        for start in one.scopes
        if scope.startswith(start) and (start[-1] in _BOUNDARIES or scope[len(start) :][:1] in _AT_BOUNDARY)
    ]
    best = max(fitting, key=lambda pair: pair[0], default=(0, None))[1]
    if best is not None and TRACELOOP in dialects and scope == _SHARED_SCOPE:
        return next(one for one in INSTRUMENTATIONS if TRACELOOP in one.dialects)
    return best


_SHARED_SCOPE = "opentelemetry.instrumentation.openai_agents"
_BOUNDARIES = ".-/ "
_AT_BOUNDARY = ("", *_BOUNDARIES)
