"""What should have come of the runs of a trace: from a file of references, and from attributes where that is allowed.

In: a run and the spans of its trace.  Out: its `Reference`, or None.  What attributes say is data of the side that is
judged: the reference tells that it is from there, and what can't be read in them is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import orjson
from pydantic import ValidationError

from evaluators.cases import Reference, Run
from evaluators.reference.calls import is_deep
from evaluators.reference.form import ReferenceForm
from evaluators.reference.lookup import References
from evaluators.reference.metric import FROM_ATTRIBUTES
from processors.otlp import Attributes, Span

PREFIX = "eval.reference."
_LISTS = ("tool_calls", "required_outputs")
_TEXTS = ("task", "outcome")
_MOST_LEVELS = 1_000


class RunReferences:
    """Finds the references of runs.

    Args:
        references: those of a file.
        from_attributes: whether attributes count where the file says nothing of a run.
    """

    def __init__(self, references: References, *, from_attributes: bool = False) -> None:
        self._references = references
        self._from_attributes = from_attributes

    def find(self, run: Run, spans: Mapping[str, Span]) -> Reference | None:
        """The reference for a run. Never raises for what spans say.

        Args:
            run: a run of the trace.
            spans: the trace's, by id.
        """
        around = list(_around(run.ref, spans))
        resource = [around[0].resource] if around else []
        found = self._references.find(run, [*(span.attributes for span in around), *resource])
        if found is not None or not self._from_attributes:
            return found
        return next((told for span in around if (told := _told(span.attributes)) is not None), None)


def _around(span_id: str | None, spans: Mapping[str, Span]) -> Iterator[Span]:
    """The span itself and those above it, nearest first."""
    for _ in range(_MOST_LEVELS):
        span = spans.get(span_id or "")
        if span is None:
            return
        yield span
        span_id = span.parent_id


def _told(attributes: Attributes) -> Reference | None:
    """What one span says of what should have come of the run; None when it says nothing that can be read."""
    given: dict[str, object] = {key: attributes.get(PREFIX + key) for key in _TEXTS}
    given |= {key: _listed(attributes.get(PREFIX + key)) for key in _LISTS}
    told = {key: value for key, value in given.items() if value is not None and _is_readable(key, value)}
    return ReferenceForm.model_validate(told).as_reference(FROM_ATTRIBUTES) if told else None


def _is_readable(key: str, value: object) -> bool:
    if is_deep(value):
        return False
    try:
        ReferenceForm.model_validate({key: value})
    except ValidationError:
        return False
    return True


def _listed(value: object) -> object:
    """A list that an attribute holds, as JSON text, as an array, or as an array of JSON texts."""
    if isinstance(value, str):
        return _parsed(value)
    if isinstance(value, list):
        return [_object(one) for one in value]
    return value


def _object(one: object) -> object:
    parsed = _parsed(one) if isinstance(one, str) else one
    return parsed if isinstance(parsed, dict) else one


def _parsed(text: str) -> object:
    try:
        return orjson.loads(text)
    except ValueError:
        return text
