"""LangSmith's OpenTelemetry export: `langsmith.span.kind`, `langsmith.metadata.*`.

Only kind, session and name are its own; content stands in `gen_ai.prompt` and `gen_ai.completion`, and messages are
read from them with the GenAI conventions.

Things seen in the wild that this reader knows: `langsmith.trace.session_name` is the project, not a session; the thread
is in the metadata; a client that was wrapped gives its whole request as the prompt, tools included; a function that was
made traceable without a type is a chain, whatever it is.
"""

from __future__ import annotations

from processors.conventions.decoding.bodies import request_definitions
from processors.conventions.decoding.values import text_at
from processors.conventions.facts import Kind
from processors.conventions.steps import Step, StepReader
from processors.otlp import Span

SPAN_KIND = "langsmith.span.kind"
TRACE_NAME = "langsmith.trace.name"
PROMPT = "gen_ai.prompt"
COMPLETION = "gen_ai.completion"
METHOD = "langsmith.metadata.ls_method"
FUNCTION = "traceable"

_KINDS = {
    "llm": Kind.LLM,
    "tool": Kind.TOOL,
    "chain": Kind.CHAIN,
}


class LangSmith(StepReader):
    """The reader of LangSmith's own attributes."""

    name = "langsmith"
    marks: tuple[bytes, ...] = (b"langsmith.",)
    keys = (SPAN_KIND,)

    def step(self, span: Span) -> Step:
        """The step that the span is of."""
        attributes = span.attributes
        kind = _KINDS.get((text_at(attributes, SPAN_KIND) or "").lower(), Kind.OTHER)
        is_function = kind is Kind.CHAIN and attributes.get(METHOD) == FUNCTION
        is_own = kind is Kind.TOOL or is_function
        prompt = attributes.get(PROMPT)
        return Step(
            kind=kind,
            name=text_at(attributes, TRACE_NAME) or span.name,
            given=prompt if is_own else None,
            answered=attributes.get(COMPLETION) if is_own else None,
            definitions=request_definitions(prompt) if kind is Kind.LLM else None,
            is_function=is_function,
        )
