"""DSPy's own shapes: fields between marks (`[[ ## question ## ]]`) in the texts of prompts and answers.

DSPy asks for no function calls.  A ReAct agent writes the tool's name and arguments into fields of its answer, and
finds its earlier steps in a field of the prompt; a last step extracts the answer from them.  Where a model answers in
JSON, the fields are its keys, and where it answers in XML, its tags.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice

from evaluators.cases import JsonValue, Role
from processors.conventions.decoding.calls import arguments_of
from processors.conventions.decoding.messages import Messages
from processors.conventions.decoding.values import as_object, as_text, from_json
from processors.conventions.dialects.openinference import INPUT, OUTPUT
from processors.conventions.facts import CallFacts, Kind, MessageFacts, SpanFacts
from processors.conventions.frameworks.framework import Framework
from processors.otlp import Span

THOUGHT, TOOL_NAME, TOOL_ARGUMENTS = "next_thought", "next_tool_name", "next_tool_args"
TRAJECTORY = "trajectory"
INPUT_ARGUMENTS = "input_args"
_MARK = re.compile(r"^\[\[ ## (\w+) ## \]\][ \t]*\n?", re.MULTILINE)
_TAGGED = re.compile(r"<(\w+)>\s*(.*?)\s*</\1>", re.DOTALL)
_OPENING = "Your input fields are:"
_STEP = re.compile(r"(thought|tool_name|tool_args|observation)_(\d+)")
_REQUEST = re.compile(
    r"(?<!\n)\n++(Respond with the corresponding output fields|Respond with a JSON object in the following order)"
)
_EXECUTION_ERROR = "Execution error in "
_HIDDEN_FIELDS = frozenset({"completed", "reasoning", TRAJECTORY, THOUGHT, TOOL_NAME, TOOL_ARGUMENTS})


class DSPy(Framework):
    """What DSPy writes in shapes of its own."""

    def __init__(self, messages: Messages) -> None:
        super().__init__(messages)
        self._read: dict[tuple[str, Role], tuple[MessageFacts, ...]] = {}

    def knows(self, span: Span, facts: SpanFacts) -> bool:
        """Whether the span is a model call with such fields in its messages, or a module's with fields in and out."""
        if facts.kind is Kind.LLM:
            messages = (*islice(facts.input or (), 2), *(facts.output or ()))
            return any(
                (message.text or "").startswith(_OPENING) or _MARK.search(message.text or "") for message in messages
            )
        given = span.attributes.get(INPUT)
        return facts.kind is Kind.CHAIN and isinstance(given, str) and given.startswith(f'{{"{INPUT_ARGUMENTS}"')

    def refined(self, span: Span, facts: SpanFacts) -> SpanFacts:
        """The facts with fields told apart."""
        if facts.kind is not Kind.LLM:
            asked = as_object(as_object(span.attributes.get(INPUT)).get(INPUT_ARGUMENTS))
            answered = as_object(span.attributes.get(OUTPUT))
            return replace(
                facts,
                input_text=_told(asked) or facts.input_text,
                output_text=_told(answered) if answered else facts.output_text,
            )
        given = tuple(part for message in facts.input or () for part in self._parts(message))
        said = tuple(part for message in facts.output or () for part in self._parts(message))
        return replace(
            facts,
            input=given if facts.input is not None else None,
            output=said if facts.output is not None else None,
        )

    def _parts(self, message: MessageFacts) -> tuple[MessageFacts, ...]:
        """A message as those that its fields stand for."""
        text = message.text
        if not text or message.role not in (Role.USER, Role.ASSISTANT) or message.calls:
            return (message,)
        known = self._read.get((text, message.role))
        if known is None:
            known = _asked(message, text) if message.role is Role.USER else (_answered(message, text),)
            self._read[text, message.role] = known
        return known


def _fields(text: str) -> dict[str, str]:
    """The fields of a text in order, by name; what stands before the first mark is none."""
    marks = list(_MARK.finditer(text))
    if not marks:
        return dict(_TAGGED.findall(text)) if text.lstrip().startswith("<") else {}
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    return {mark.group(1): text[mark.end() : end].strip() for mark, end in zip(marks, ends, strict=True)}


def _asked(message: MessageFacts, text: str) -> tuple[MessageFacts, ...]:
    """The user's words in a prompt, then the steps that its trajectory tells of."""
    requests = [found.start() for found in _REQUEST.finditer(text)]
    fields = _fields(text[: requests[-1]] if requests else text)
    if not fields:
        return (message,)
    steps: dict[int, dict[str, str]] = {}
    words: dict[str, JsonValue] = {}
    for name, value in fields.items():
        step = _STEP.fullmatch(name)
        if step is not None:
            steps.setdefault(int(step.group(2)), {})[step.group(1)] = value
        elif name != TRAJECTORY:
            words[name] = value
    asked = replace(message, text=_told(words)) if words else message
    return (asked, *(part for number in sorted(steps) for part in _stepped(steps[number])))


def _stepped(step: Mapping[str, str]) -> tuple[MessageFacts, ...]:
    name = step.get("tool_name")
    calls = (CallFacts(name=name, arguments=arguments_of(step.get("tool_args"))),) if name else ()
    asked = MessageFacts(role=Role.ASSISTANT, text=step.get("thought", ""), calls=calls)
    observed = step.get("observation")
    if observed is None:
        return (asked,)
    failed = True if observed.startswith(_EXECUTION_ERROR) else None
    return (asked, MessageFacts(role=Role.TOOL, text=observed, tool_name=name, failed=failed))


def _answered(message: MessageFacts, text: str) -> MessageFacts:
    fields: Mapping[str, JsonValue] = dict(_fields(text))
    if not fields:
        decoded = from_json(text.strip()) if text.lstrip().startswith("{") else None
        if not isinstance(decoded, dict) or not decoded:
            return message
        fields = decoded
    name = fields.get(TOOL_NAME)
    if isinstance(name, str) and name:
        arguments = arguments_of(fields.get(TOOL_ARGUMENTS))
        cut = message.truncated and isinstance(arguments, str)
        call = CallFacts(name=name, arguments=arguments, truncated=cut)
        return replace(message, text=as_text(fields.get(THOUGHT)) or "", calls=(call,))
    told = _told(fields)
    return replace(message, text=told) if told is not None else message


def _told(fields: Mapping[str, JsonValue]) -> str | None:
    """The fields that are somebody's words: the only one's text, or all of them with their names."""
    told = {name: as_text(value) or "" for name, value in fields.items() if name not in _HIDDEN_FIELDS}
    if len(told) <= 1:
        return next(iter(told.values()), None)
    return "\n".join(f"{name}: {value}" for name, value in told.items())
