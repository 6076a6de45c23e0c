"""The events `gen_ai.content.prompt` and `gen_ai.content.completion`, of the conventions' second form.

Their content is JSON by the conventions.  Older versions of OpenLIT write the conversation as lines of text instead,
each message beginning with its role, and the calls that the model asked for as the repr of a list, in
`gen_ai.response.tool_calls`; of streamed answers they leave out the calls.  Langtrace lists the tools that are offered
in `gen_ai.request.tools`, as JSON of a list in a list.
"""

from __future__ import annotations

import re

from evaluators.cases import JsonValue, Role
from processors.conventions.decoding.bodies import request_messages, response_messages
from processors.conventions.decoding.definitions import tools_of
from processors.conventions.decoding.values import data, parsed, text_at
from processors.conventions.facts import Kind, MessageFacts, SpanFacts
from processors.conventions.reader import Reader
from processors.otlp import Span

PROMPT_EVENT = "gen_ai.content.prompt"
COMPLETION_EVENT = "gen_ai.content.completion"
PROMPT = "gen_ai.prompt"
COMPLETION = "gen_ai.completion"
TOOL_CALLS = "gen_ai.response.tool_calls"
TOOLS = "gen_ai.request.tools"

_NOTHING = "None"
_MESSAGE = re.compile(r"^(system|developer|user|assistant|tool|function): ", re.MULTILINE)


class ContentEvents(Reader):
    """The reader of these events."""

    name = "genai"
    marks: tuple[bytes, ...] = (b"gen_ai.content.",)

    def reads(self, span: Span) -> bool:
        """Whether the span has one of the events."""
        return any(event.name in (PROMPT_EVENT, COMPLETION_EVENT) for event in span.events)

    def read(self, span: Span) -> SpanFacts:
        """What the events say, and the calls beside them."""
        prompt, completion = (
            next((text_at(event.attributes, key) for event in span.events if event.name == name), None)
            for name, key in ((PROMPT_EVENT, PROMPT), (COMPLETION_EVENT, COMPLETION))
        )
        return SpanFacts(
            kind=Kind.LLM,
            dialect=self.name,
            input=self._given(prompt) if prompt is not None else None,
            output=self._answered(completion, data(span.attributes.get(TOOL_CALLS))),
            tools=tools_of(_lists_of(span.attributes.get(TOOLS))),
        )

    def _given(self, prompt: str) -> tuple[MessageFacts, ...] | None:
        decoded = parsed(prompt)
        if isinstance(decoded, list | dict):
            return request_messages(decoded, self._messages)
        starts = [*_MESSAGE.finditer(prompt)]
        if not starts or starts[0].start() > 0:
            return self._messages.read(prompt, Role.USER)
        ends = [*(start.start() - 1 for start in starts[1:]), len(prompt)]
        lines: list[JsonValue] = [
            {"role": start[1], "content": _words(prompt[start.end() : end])}
            for start, end in zip(starts, ends, strict=True)
        ]
        return self._messages.read(lines, Role.USER)

    def _answered(self, completion: str | None, calls: JsonValue) -> tuple[MessageFacts, ...] | None:
        decoded = parsed(completion)
        if isinstance(decoded, list | dict):
            return response_messages(decoded, self._messages)
        listed: list[JsonValue] = calls if isinstance(calls, list) else [calls] if isinstance(calls, dict) else []
        if completion is None and not listed:
            return None
        answer: JsonValue = {"role": "assistant", "content": _words(completion or ""), "tool_calls": listed}
        return self._messages.read(answer, Role.ASSISTANT)


def _words(text: str) -> str:
    return "" if text == _NOTHING else text


def _lists_of(definitions: JsonValue) -> JsonValue:
    """Definitions of tools, out of the lists round them."""
    decoded = parsed(definitions)
    if isinstance(decoded, list) and len(decoded) == 1 and isinstance(inner := parsed(decoded[0]), list):
        return inner
    return decoded
