"""Limits of SDKs: attribute values that were cut to a length, and attributes and events that were left out by count.

In go spans as they were sent; out comes the length at which their values are cut, and what of a span's facts can't be
relied on to be whole.  What is left is always read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from evaluators.cases import JsonValue
from processors.conventions.decoding.cut import MEASURES, cut_json, has_length
from processors.conventions.decoding.values import from_json
from processors.conventions.facts import MessageFacts, SpanFacts
from processors.otlp import Span

_COMMON_LIMITS = frozenset({128, 250, 255, 256, 500, 512, 1000, 1024, 1028, 2000, 2048, 4000, 4095, 4096, 5000})
_LARGE_LIMIT_STEPS = (1000, 1024)
_SHORTEST = 32
_MOST_LOOKED_AT = 20
_ENOUGH_ALIKE = 3
_JSON = re.compile(r"\s*(?:\{\s*\"|\[\s*[\[{\"])")


def length_limit(spans: Iterable[Span]) -> int | None:
    """The length at which the sender's SDK cuts attribute values; None when nothing points to one.

    A limit shows in values that all have the greatest length there is: one of them is cut inside its JSON, or several
    of them differ and their length is one that is usually set.  That a value has a round length alone says nothing.
    """
    values = [value for span in spans for value in span.attributes.values() if isinstance(value, str)]
    units = MEASURES if not all(map(str.isascii, values)) else MEASURES[:1]
    found = (_limit(values, measure, slack) for measure, slack in units)
    return next((limit for limit in found if limit is not None), None)


def incomplete(facts: SpanFacts, span: Span, limit: int | None) -> SpanFacts:
    """The facts, marked where the span isn't whole: attributes or events were left out of it, or values were cut."""
    left_out = bool(span.dropped_attributes or span.dropped_events)
    cut = left_out or (limit is not None and _has_cut(span, limit))
    if not cut:
        return facts
    return replace(
        facts,
        output=tuple(map(_without_silence, facts.output)) if left_out and facts.output else facts.output,
        truncated=facts.truncated or left_out,
        tools_cut=facts.tools_cut or facts.tools is not None,
    )


def _without_silence(message: MessageFacts) -> MessageFacts:
    """A message that may have had words: where attributes were left out, having none isn't having said nothing."""
    return message if message.text or message.calls else replace(message, text=None)


def _has_cut(span: Span, limit: int) -> bool:
    values: list[JsonValue] = [*span.attributes.values()]
    values += [value for event in span.events for value in event.attributes.values()]
    listed = [item for value in values if isinstance(value, list) for item in value]
    return any(isinstance(value, str) and has_length(value, limit) for value in (*values, *listed))


def _limit(values: Sequence[str], measure: Callable[[str], int], slack: int) -> int | None:
    sizes = list(map(measure, values))
    longest = max(sizes, default=0)
    if longest < _SHORTEST:
        return None
    alike = [value for value, size in zip(values, sizes, strict=True) if size > longest - slack]
    usual = max(filter(_is_usual, range(longest, longest + slack)), default=None)
    if any(map(_is_cut_json, alike[:_MOST_LOOKED_AT])):
        return usual or (longest if len(set(alike)) > 1 else None)
    return usual if len(set(alike)) >= _ENOUGH_ALIKE else None


def _is_usual(limit: int) -> bool:
    return limit in _COMMON_LIMITS or any(limit % step == 0 for step in _LARGE_LIMIT_STEPS)


def _is_cut_json(text: str) -> bool:
    return _JSON.match(text) is not None and from_json(text) is None and cut_json(text) is not None
