"""An execution of a tool, from the values that the tool's own span has of it.

Every dialect has its keys for the same few values; what they may be wrapped in is the same everywhere.
"""

from __future__ import annotations

from evaluators.cases import JsonValue
from processors.conventions.decoding.calls import executed_arguments
from processors.conventions.decoding.cut import is_cut, whole_of
from processors.conventions.decoding.parts import is_hidden
from processors.conventions.decoding.results import output_of
from processors.conventions.facts import ToolFacts
from processors.conventions.failures import error_of, is_pending
from processors.otlp import Span

_NOTHING = ("{}", "")
"""What is written as the output of a tool that failed."""


def execution_on(
    span: Span,
    *,
    name: str | None,
    given: JsonValue,
    answered: JsonValue,
    call_id: str | None = None,
    error: str | None = None,
    description: str | None = None,
    limit: int | None = None,
) -> ToolFacts:
    """The execution that a span is of.

    Args:
        span: the tool's span.
        name: of the tool, unless a message wrapped round the output names it.
        given: the value of its arguments, `answered` that of its output; None where the span has none.
        answered: see `given`.
        call_id: which call it executes; else a message wrapped round the output may say.
        error: the error's text where the dialect has a key for it; else the span's status or the output may say.
        description: of the tool.
        limit: the length at which attribute values are cut in this trace.
    """
    pending = is_pending(span)
    is_quoted = isinstance(answered, str) and answered.startswith('"')
    result = output_of(None if is_hidden(answered) else whole_of(answered, limit) if is_quoted else answered)
    failure = error if error is not None else error_of(span)
    if failure is None and result.failed:
        failure = result.text or ""
    gave_nothing = pending or (failure is not None and answered in _NOTHING)
    return ToolFacts(
        name=result.tool_name or name,
        call_id=call_id or result.call_id,
        arguments=executed_arguments(None if is_hidden(given) else given, name),
        result=None if gave_nothing else result.text,
        error=None if pending else failure,
        description=description,
        truncated=is_cut(answered, limit),
        pending=pending,
    )
