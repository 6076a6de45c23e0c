"""The forms that are read. A new one is a module with a `Form`, and a line here."""

from __future__ import annotations

from collector.receivers.formats.jaeger import JAEGER
from collector.receivers.formats.langfuse import LANGFUSE
from collector.receivers.formats.langsmith import LANGSMITH
from collector.receivers.formats.mlflow import MLFLOW
from collector.receivers.formats.otlp import OTLP
from collector.receivers.formats.phoenix import PHOENIX_FRAMES
from collector.receivers.formats.shape import Fields, Form
from collector.receivers.formats.span_trees import SPAN_TREES
from collector.receivers.formats.zipkin import ZIPKIN

FORMS = (OTLP, JAEGER, ZIPKIN, PHOENIX_FRAMES, MLFLOW, LANGFUSE, LANGSMITH, SPAN_TREES)
"""From the most particular to the most general."""


def form_of(item: Fields) -> Form | None:
    """The form of an object; None when it is none that is read."""
    return next((form for form in FORMS if form.recognises(item)), None)
