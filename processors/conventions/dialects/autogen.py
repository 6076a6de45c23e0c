"""AutoGen's own spans of a team: the messages that its runtime carries between agents and their manager.

Each message begins a trace of its own.  What an agent did in its turn is told by its answer to the manager, with all
messages that came before it; the user's task is told by the message that starts the talk.  The spans of the turn itself
hold nothing.  Copies of messages that go to others are left out.
"""

from __future__ import annotations

from collections.abc import Iterable

from evaluators.cases import JsonValue, Role
from processors.conventions.decoding.calls import call_of
from processors.conventions.decoding.values import as_object, text_at
from processors.conventions.facts import Kind, MessageFacts, SpanFacts
from processors.conventions.failures import error_of
from processors.conventions.reader import Reader
from processors.otlp import Span

MESSAGE = "message"
RECIPIENT = "recipient_agent_class"
OPERATION = "messaging.operation"
_MANAGER = "GroupChatManager"
_USER = "user"


class AutoGen(Reader):
    """The reader of the messages of AutoGen's runtime."""

    name = "autogen"
    marks: tuple[bytes, ...] = (b"recipient_agent_class",)

    def reads(self, span: Span) -> bool:
        """Whether an agent, or the manager of a team, received a message."""
        return RECIPIENT in span.attributes and MESSAGE in span.attributes

    def read(self, span: Span) -> SpanFacts:
        """What the message says."""
        error = error_of(span)
        if not (text_at(span.attributes, RECIPIENT) or "").endswith(_MANAGER):
            return SpanFacts(kind=Kind.BOOKKEEPING, dialect=self.name, error=error)
        message = as_object(span.attributes.get(MESSAGE))
        answer = as_object(message.get("response"))
        if answer:
            inner = answer.get("inner_messages")
            said = _told([*(inner if isinstance(inner, list) else []), answer.get("chat_message")])
            name = text_at(message, "name")
            return SpanFacts(
                kind=Kind.AGENT, dialect=self.name, agent_name=name, output=tuple(said) or None, whole=True, error=error
            )
        started = message.get("messages")
        if isinstance(started, list):
            asked = tuple(one for one in _told(started) if one.role is Role.USER)
            return SpanFacts(kind=Kind.AGENT, dialect=self.name, input=asked or None, error=error)
        return SpanFacts(kind=Kind.BOOKKEEPING, dialect=self.name, error=error)


def _told(messages: Iterable[JsonValue]) -> Iterable[MessageFacts]:
    for message in messages:
        if not isinstance(message, dict):
            continue
        content = message.get("content")
        if isinstance(content, str):
            role = Role.USER if message.get("source") == _USER else Role.ASSISTANT
            yield MessageFacts(role=role, text=content)
            continue
        parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
        calls = tuple(call_of(part) for part in parts if "arguments" in part)
        if calls:
            yield MessageFacts(role=Role.ASSISTANT, text="", calls=calls)
        for part in parts:
            if "call_id" in part and "arguments" not in part:
                failed = part.get("is_error") is True or None
                yield MessageFacts(
                    role=Role.TOOL,
                    text=text_at(part, "content"),
                    call_id=text_at(part, "call_id"),
                    tool_name=text_at(part, "name"),
                    failed=failed,
                )
