"""The Langfuse SDK: `langfuse.observation.type`, `.input`, `.output`, `.level`.

Things seen in the wild that this reader knows: the LangChain handler appends the definitions of tools to the messages
of a generation, each as a message of role tool; the OpenAI client of JavaScript puts tools and instructions among the
metadata, and writes the calls of a streamed answer over each other; metadata are JSON texts, the call's id among them;
errors stand in `langfuse.observation.status_message`, and no event is written.
"""

from __future__ import annotations

from evaluators.cases import JsonValue
from processors.conventions.decoding.calls import call_of
from processors.conventions.decoding.cut import is_cut, whole_json
from processors.conventions.decoding.values import as_object, parsed, text_at
from processors.conventions.facts import Kind
from processors.conventions.steps import Step, StepReader
from processors.otlp import Span

TYPE = "langfuse.observation.type"
INPUT = "langfuse.observation.input"
OUTPUT = "langfuse.observation.output"
MODEL = "langfuse.observation.model.name"
LEVEL = "langfuse.observation.level"
STATUS_MESSAGE = "langfuse.observation.status_message"
CALL_ID = "langfuse.observation.metadata.tool_call_id"
TOOLS = "langfuse.observation.metadata.tools"
INSTRUCTIONS = "langfuse.observation.metadata.instructions"
FUNCTION = "span"
"""The type of whatever was given none, so of every function that is merely observed."""

_KINDS = {
    "agent": Kind.AGENT,
    "generation": Kind.LLM,
    "tool": Kind.TOOL,
    "chain": Kind.CHAIN,
    "evaluator": Kind.EVALUATION,
    FUNCTION: Kind.CHAIN,
}


class Langfuse(StepReader):
    """The reader of Langfuse's own attributes."""

    name = "langfuse"
    marks: tuple[bytes, ...] = (b"langfuse.",)
    keys = (TYPE, INPUT, OUTPUT)

    def step(self, span: Span) -> Step:
        """The step that the span is of."""
        attributes = span.attributes
        type_name = (text_at(attributes, TYPE) or FUNCTION).lower()
        kind = _KINDS.get(type_name, Kind.OTHER)
        given, definitions = attributes.get(INPUT), None
        if kind is Kind.LLM:
            given, definitions = _without_definitions(given)
        answered = attributes.get(OUTPUT)
        call_id = parsed(attributes.get(CALL_ID))
        failed = attributes.get(LEVEL) == "ERROR"
        return Step(
            kind=kind,
            name=span.name,
            given=given,
            answered=None if kind is Kind.LLM and _is_spoilt(answered) else answered,
            definitions=definitions or attributes.get(TOOLS),
            instructions=attributes.get(INSTRUCTIONS),
            truncated=is_cut(attributes.get(INPUT), self._limit),
            call_id=call_id if isinstance(call_id, str) else None,
            is_function=type_name == FUNCTION,
            model=text_at(attributes, MODEL),
            error=(text_at(attributes, STATUS_MESSAGE) or "") if failed else None,
        )


def _without_definitions(given: JsonValue) -> tuple[JsonValue, JsonValue]:
    """The messages of a generation, and the definitions of tools that stood among them."""
    body = whole_json(given)
    if not isinstance(body, list):
        return given, None
    definitions: list[JsonValue] = [content for item in body if (content := _definition(item)) is not None]
    if not definitions:
        return given, None
    messages: list[JsonValue] = [item for item in body if _definition(item) is None]
    return messages, definitions


def _definition(message: JsonValue) -> JsonValue:
    if not isinstance(message, dict) or message.get("role") != "tool" or "tool_call_id" in message:
        return None
    content = parsed(message.get("content"))
    if not isinstance(content, dict):
        return None
    is_definition = isinstance(content.get("function"), dict) or "input_schema" in content or "parameters" in content
    return content if is_definition else None


def _is_spoilt(answered: JsonValue) -> bool:
    """Whether several calls of a streamed answer became one, of the last one's name and with the arguments of all."""
    if not isinstance(answered, str) or "}{" not in answered:
        return False
    listed = as_object(answered).get("tool_calls")
    return isinstance(listed, list) and any(
        call.id is None and isinstance(call.arguments, str) and "}{" in call.arguments
        for call in (call_of(item) for item in listed if isinstance(item, dict))
    )
