"""The first form of the GenAI conventions: messages flattened into numbered attributes, `gen_ai.prompt.N.*`.

The same keys without a number hold a whole request or response, or plain text.
"""

from __future__ import annotations

from collections.abc import Mapping

from evaluators.cases import JsonValue, Role, Tool
from processors.conventions.decoding.bodies import request_messages, response_messages
from processors.conventions.decoding.cut import is_cut, whole_of
from processors.conventions.decoding.definitions import tools_of
from processors.conventions.decoding.message_events import content_of
from processors.conventions.decoding.messages import Messages
from processors.conventions.decoding.nested import nested
from processors.conventions.decoding.values import flattened
from processors.conventions.facts import MessageFacts

PROMPT = "gen_ai.prompt"
COMPLETION = "gen_ai.completion"
_EMPTY = '""'
"""An empty text, as it is written for answers of LangChain's models."""
FUNCTIONS = ("llm.request.functions.", "gen_ai.request.functions.")


def prompt_in(
    attributes: Mapping[str, JsonValue], messages: Messages, *, whole: bool = True
) -> tuple[MessageFacts, ...] | None:
    """What a model was given; None when the attributes don't say.

    Without `whole`, attributes were left out: then a message without its role is nobody's.
    """
    items = flattened(attributes, PROMPT + ".")
    if items:
        items = items if whole else [item for item in items if "role" in item]
        return messages.read([_message(item) for item in items], Role.USER)
    prompt = whole_of(attributes.get(PROMPT), None)
    return request_messages(prompt, messages) if prompt is not None else None


def completion_in(attributes: Mapping[str, JsonValue], messages: Messages) -> tuple[MessageFacts, ...] | None:
    """What a model gave; None when the attributes don't say."""
    items = flattened(attributes, COMPLETION + ".")
    if items:
        return messages.read([_message(item) for item in items], Role.ASSISTANT)
    completion = whole_of(attributes.get(COMPLETION), None)
    found = response_messages(completion, messages) if completion is not None else None
    if is_cut(attributes.get(COMPLETION), None) and not any(message.text or message.calls for message in found or ()):
        return None
    return found


def functions_in(attributes: Mapping[str, JsonValue]) -> tuple[Tool, ...] | None:
    """The tools that a model was offered; None when the attributes don't say."""
    functions = next((found for prefix in FUNCTIONS if (found := flattened(attributes, prefix))), [])
    if not functions:
        return None
    definitions: list[JsonValue] = [{**item} for item in functions]
    return tools_of(definitions)


def _message(item: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """A numbered message as the nested one it was made from; its content may be a JSON text of parts."""
    message = nested(item)
    content = message.get("content")
    return {**message, "content": content_of("" if content == _EMPTY else content)} if "content" in message else message
