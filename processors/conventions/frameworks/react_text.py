"""Calls that are written in words: `Thought:`, `Action:`, `Action Input:`, `Observation:`, `Answer:`.

Agents that ask for tools this way (LlamaIndex's ReAct agent, CrewAI and LangChain with models that call no functions)
have neither calls nor results in their messages; both are text, results in the user's role.  It is only read so where
the instructions that the model was given ask for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import islice

from evaluators.cases import Role
from processors.conventions.decoding.messages import Messages
from processors.conventions.decoding.values import data
from processors.conventions.facts import CallFacts, Kind, MessageFacts, SpanFacts
from processors.conventions.frameworks.framework import Framework
from processors.otlp import Span

INSTRUCTION = "Action Input:"
_INSTRUCTIONS = 3
"""Messages at the beginning of a conversation among which the instructions are."""
_ACTION = re.compile(
    r"^[ \t]*Action[ \t]*:[ \t]*(?P<name>[^\n]+)\n\s*Action Input[ \t]*:[ \t]*(?P<input>.*)", re.M | re.S
)
_OBSERVATION = re.compile(r"\s*Observation[ \t]*:[ \t]*")
_INVENTED = re.compile(r"\n[ \t]*Observation[ \t]*:")
_ANSWER = re.compile(r"^[ \t]*(?:Final )?Answer[ \t]*:[ \t]*(?P<text>.*)", re.M | re.S)
_THOUGHT = re.compile(r"\s*Thought[ \t]*:[ \t]*")
_FENCE = re.compile(r"^```\w*\n?|\n?```\s*$")


class ReActText(Framework):
    """What agents write that call tools in words."""

    def __init__(self, messages: Messages) -> None:
        super().__init__(messages)
        self._read: dict[str, MessageFacts] = {}

    def knows(self, span: Span, facts: SpanFacts) -> bool:
        """Whether the model was told to ask for tools in words."""
        return facts.kind is Kind.LLM and any(
            message.role is not Role.ASSISTANT and INSTRUCTION in (message.text or "")
            for message in islice(facts.input or (), _INSTRUCTIONS)
        )

    def refined(self, span: Span, facts: SpanFacts) -> SpanFacts:
        """The facts with words told apart into thoughts, calls, results and answers."""
        return replace(
            facts,
            input=tuple(self._conversation(facts.input or ())),
            output=tuple(self._said(message) for message in facts.output) if facts.output is not None else None,
        )

    def _conversation(self, messages: Iterable[MessageFacts]) -> Iterable[MessageFacts]:
        called: str | None = None
        for message in messages:
            text = message.text or ""
            if message.role is Role.ASSISTANT:
                message = self._said(message)
                called = message.calls[0].name if message.calls else None
            elif called is not None and message.role is Role.USER and _OBSERVATION.match(text):
                message = replace(message, role=Role.TOOL, text=_OBSERVATION.sub("", text, count=1), tool_name=called)
                called = None
            yield message

    def _said(self, message: MessageFacts) -> MessageFacts:
        text = message.text
        if not text or message.calls or message.role is not Role.ASSISTANT:
            return message
        known = self._read.get(text)
        if known is None:
            known = self._read[text] = _told(message, text)
        return known


def _told(message: MessageFacts, text: str) -> MessageFacts:
    action = _ACTION.search(text)
    if action is not None:
        asked = _FENCE.sub("", _INVENTED.split(action["input"], maxsplit=1)[0].strip()).strip()
        arguments = data(asked)
        call = CallFacts(
            name=action["name"].strip(" `*"),
            arguments=arguments if isinstance(arguments, dict) else asked,
            truncated=message.truncated and not isinstance(arguments, dict),
        )
        return replace(message, text=_thought(text[: action.start()]), calls=(call,))
    answer = _ANSWER.search(text)
    if answer is not None:
        return replace(message, text=answer["text"].strip())
    return message


def _thought(text: str) -> str:
    return _THOUGHT.sub("", text, count=1).strip()
