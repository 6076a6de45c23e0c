"""What a reader makes of one span."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evaluators.cases import JsonValue
from processors.conventions.facts import SpanFacts
from processors.conventions.registry import Readers
from processors.otlp import Event, Span, StatusCode


def span(
    attributes: Mapping[str, JsonValue],
    *,
    name: str = "",
    error: str | None = None,
    events: Sequence[Event] = (),
    scope: str = "",
) -> Span:
    """A span with these attributes, failed if there is an error's text."""
    return Span(
        trace_id="t",
        span_id="s",
        name=name,
        attributes=dict(attributes),
        events=tuple(events),
        status=StatusCode.UNSET if error is None else StatusCode.ERROR,
        status_message=error or "",
        scope_name=scope,
    )


def told(attributes: Mapping[str, JsonValue], **more: str | None) -> SpanFacts:
    """All that the readers say of such a span, put together."""
    facts = Readers().read(span(attributes, **more))  # type: ignore[arg-type]
    assert facts is not None
    return facts


def texts(facts: SpanFacts) -> list[tuple[str, str | None]]:
    """Roles and texts of the messages that a model was given."""
    return [(message.role.value, message.text) for message in facts.input or ()]


def calls(facts: SpanFacts) -> list[tuple[str, str | None, JsonValue]]:
    """Names, ids and arguments of the calls that a model asked for."""
    return [(call.name, call.id, call.arguments) for message in facts.output or () for call in message.calls]
