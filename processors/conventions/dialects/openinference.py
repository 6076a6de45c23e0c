"""OpenInference: `openinference.span.kind`, `llm.*`, `tool.*`, `input.value`, `output.value`.

Things seen in the wild that this reader knows: the kind is a guess by name in some instrumentations, so `tool.name`
decides; `tool.parameters` is the tool's schema, or in some its arguments, so the arguments are `input.value`; messages
carry their text in `content` or in `contents`; the decoded messages may lack what the raw body still has.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from evaluators.cases import JsonValue, Role, Tool
from processors.conventions.decoding.bodies import request_messages, request_tools, response_messages, tool_choice_of
from processors.conventions.decoding.cut import cut_json, is_cut, whole_json, whole_of
from processors.conventions.decoding.definitions import as_schema, distinct, tools_of
from processors.conventions.decoding.glued import unglued
from processors.conventions.decoding.messages import Messages
from processors.conventions.decoding.nested import nested
from processors.conventions.decoding.restored import instructed, lacks_ids, lacks_something, restored
from processors.conventions.decoding.values import REDACTED, as_object, flattened, parsed, text_at
from processors.conventions.executions import execution_on
from processors.conventions.facts import Kind, MessageFacts, SpanFacts
from processors.conventions.failures import error_of, is_cancelled
from processors.conventions.reader import Reader
from processors.otlp import Span

SPAN_KIND = "openinference.span.kind"
INPUT = "input.value"
OUTPUT = "output.value"
INPUT_MESSAGES = "llm.input_messages."
OUTPUT_MESSAGES = "llm.output_messages."
TOOLS = "llm.tools."
INVOCATION = "llm.invocation_parameters"
MODEL = "llm.model_name"
FINISH_REASON = "llm.finish_reason"
TOOL_NAME = "tool.name"
TOOL_DESCRIPTION = "tool.description"
TOOL_PARAMETERS = "tool.parameters"
TOOL_CALL_ID = "tool_call.id"
TOOL_CALL_ID_KEYS = (TOOL_CALL_ID, "tool.call_id", "tool.id")
AGENT_NAME = "agent.name"
NODE_ID = "graph.node.id"
SESSION = "session.id"
OPERATION, CREATE_AGENT = "gen_ai.operation.name", "create_agent"

_KINDS = {
    "LLM": Kind.LLM,
    "TOOL": Kind.TOOL,
    "AGENT": Kind.AGENT,
    "CHAIN": Kind.CHAIN,
    "EVALUATOR": Kind.EVALUATION,
}
_NOTHING = frozenset({"", "None", "null"})
_WORDS = ("task", "raw", "question", "query")
"""Where the state of an agent or chain has the words that it is about."""
_HANDOFF = re.compile(r"hand ?-?off\b|transfer_to_", re.IGNORECASE)
"""How spans of hand-offs are named: they are of kind TOOL, and have nothing on them, not even `tool.name`."""
_CALL_KEYS = ('"tool_calls":', '"tool_use"', '"function_call"', '"functionCall"')

Flat = tuple[tuple[str, JsonValue], ...]


class OpenInference(Reader):
    """The reader of OpenInference."""

    name = "openinference"
    marks: tuple[bytes, ...] = (b"openinference.span.kind", b"llm.input_messages", b"llm.output_messages")

    def __init__(self, messages: Messages, limit: int | None = None) -> None:
        super().__init__(messages, limit)
        self._tools: dict[str, tuple[Tool, ...]] = {}
        self._flat: dict[tuple[Flat, Role], tuple[MessageFacts, ...]] = {}

    def reads(self, span: Span) -> bool:
        """Whether the span has a kind of OpenInference or messages in its form."""
        attributes = span.attributes
        return SPAN_KIND in attributes or any(key.startswith((INPUT_MESSAGES, OUTPUT_MESSAGES)) for key in attributes)

    def read(self, span: Span) -> SpanFacts:
        """What the span says."""
        attributes = span.attributes
        kind = self._kind(span)
        common = SpanFacts(
            kind=kind,
            dialect=self.name,
            agent_name=text_at(attributes, AGENT_NAME, NODE_ID) if kind is not Kind.CHAIN else None,
            session_id=text_at(attributes, SESSION),
            error=error_of(span),
            hidden=REDACTED in (attributes.get(INPUT), attributes.get(OUTPUT)),
            partial=is_cancelled(span),
        )
        if kind is Kind.LLM:
            return self._llm(span, common)
        if kind is Kind.TOOL:
            return self._tool(span, common)
        return self._other(span, common)

    def _kind(self, span: Span) -> Kind:
        attributes = span.attributes
        if attributes.get(OPERATION) == CREATE_AGENT:
            # Backends that convert spans take the making of an agent for its work.
            return Kind.OTHER
        named = attributes.get(SPAN_KIND)
        kind = _KINDS.get(named.upper(), Kind.OTHER) if isinstance(named, str) else Kind.LLM
        if named is None and span.dropped_attributes and not _is_model_call(attributes):
            kind = Kind.CHAIN
        if TOOL_NAME in attributes and kind is not Kind.LLM:
            return Kind.TOOL
        if kind is Kind.TOOL and _HANDOFF.match(span.name):
            return Kind.HANDOFF
        return kind

    def _llm(self, span: Span, common: SpanFacts) -> SpanFacts:
        attributes = span.attributes
        request, response = _shown(attributes.get(INPUT)), _shown(attributes.get(OUTPUT))
        whole = not span.dropped_attributes
        given = self._listed(attributes, INPUT_MESSAGES, Role.USER, whole)
        if not given or not whole or lacks_something(given):
            given = restored(given or (), self._request(request) or ())
        answered = self._listed(attributes, OUTPUT_MESSAGES, Role.ASSISTANT)
        if _says_nothing(answered):
            answered = self._response(response) or answered
        elif answered and _lacks_calls(answered, response):
            raw_answered = self._response(response)
            answered = raw_answered if raw_answered and any(message.calls for message in raw_answered) else answered
        elif answered and lacks_ids(answered):
            raw_answered = self._response(response) or ()
            answered = restored(answered, raw_answered) if len(raw_answered) == len(answered) else answered
        invocation = attributes.get(INVOCATION)
        tools = self._offered(attributes, invocation, request)
        if answered and tools:
            answered = unglued(answered, [tool.name for tool in tools])
        body = request if isinstance(request, str) and "tool_choice" in request else None
        reason = text_at(attributes, FINISH_REASON)
        return replace(
            common,
            input=instructed(given, invocation, request) if given else None,
            output=answered,
            tools=tools,
            tools_cut=is_cut(invocation, self._limit) or is_cut(request, self._limit),
            tool_choice=tool_choice_of(invocation) or tool_choice_of(body),
            response_id=_response_id(response),
            model=text_at(attributes, MODEL),
            finish_reasons=(reason,) if reason else None,
            truncated=is_cut(request, self._limit)
            or is_cut(response, self._limit)
            or any(message.truncated for message in (*given, *(answered or ()))),
        )

    def _tool(self, span: Span, common: SpanFacts) -> SpanFacts:
        attributes = span.attributes
        given = attributes.get(INPUT)
        tool = execution_on(
            span,
            name=text_at(attributes, TOOL_NAME) or _bare_name(span.name),
            call_id=text_at(attributes, *TOOL_CALL_ID_KEYS),
            given=given,
            answered=attributes.get(OUTPUT),
            description=text_at(attributes, TOOL_DESCRIPTION),
            limit=self._limit,
        )
        return replace(common, tool=replace(tool, call_id=tool.call_id or _wrapped_call_id(given)))

    def _other(self, span: Span, common: SpanFacts) -> SpanFacts:
        attributes = span.attributes
        given, answered = _shown(attributes.get(INPUT)), _shown(attributes.get(OUTPUT))
        listed = self._listed(attributes, INPUT_MESSAGES, Role.USER, not span.dropped_attributes)
        return replace(
            common,
            input=listed or self._request(given),
            output=self._listed(attributes, OUTPUT_MESSAGES, Role.ASSISTANT),
            input_text=_plain(given),
            output_text=_plain(answered),
        )

    def _listed(
        self, attributes: Mapping[str, JsonValue], prefix: str, role: Role, whole: bool = True
    ) -> tuple[MessageFacts, ...] | None:
        """The flattened messages below a prefix; None when there are none.

        Without `whole`, attributes were left out: then a message without its role is nobody's.
        """
        found: list[MessageFacts] = []
        items = flattened(attributes, prefix)
        for item in items:
            if not whole and "message.role" not in item:
                continue
            found += self._message(tuple(item.items()), role)
        return tuple(found) if items else None

    def _message(self, item: Flat, role: Role) -> tuple[MessageFacts, ...]:
        try:
            known = self._flat.get((item, role))
        except TypeError:  # values that are lists
            return self._messages.read(nested(dict(item)), role) or ()
        if known is None:
            known = self._flat[item, role] = self._messages.read(nested(dict(item)), role) or ()
        return known

    def _request(self, body: JsonValue) -> tuple[MessageFacts, ...] | None:
        return request_messages(whole_of(body, self._limit), self._messages)

    def _response(self, body: JsonValue) -> tuple[MessageFacts, ...] | None:
        decoded = parsed(body)
        return response_messages(decoded, self._messages) if isinstance(decoded, dict | list) else None

    def _offered(
        self, attributes: Mapping[str, JsonValue], invocation: JsonValue, request: JsonValue
    ) -> tuple[Tool, ...] | None:
        items = flattened(attributes, TOOLS)
        if not items:
            return next((found for body in (invocation, request) if (found := request_tools(body))), None)
        if not _is_whole(attributes, len(items)):
            # Some instrumentations leave out tools that they can't describe: who was offered more isn't known.
            return None
        return distinct(tool for item in items for tool in self._described(item))

    def _described(self, item: Mapping[str, JsonValue]) -> tuple[Tool, ...]:
        definition = item.get("tool.json_schema")
        defined: tuple[Tool, ...] = ()
        if isinstance(definition, str):
            if definition not in self._tools:
                self._tools[definition] = tools_of(whole_json(definition)) or ()
            defined = self._tools[definition]
        elif definition is not None:
            defined = tools_of(definition) or ()
        name = text_at(item, "tool.name")
        if defined or name is None:
            return defined
        # What is beside the name may be the schema alone.
        return (Tool(name=name, description=text_at(item, "tool.description"), parameters=as_schema(definition)),)


def _shown(value: JsonValue) -> JsonValue:
    """A value unless it was hidden by the instrumentation, then None."""
    return None if value == REDACTED else value


def _is_model_call(attributes: Mapping[str, JsonValue]) -> bool:
    """Whether a span whose kind was left out is a model call by what else is on it: chains are given messages too."""
    return any(key in attributes for key in (MODEL, INVOCATION)) or any(
        key.startswith((OUTPUT_MESSAGES, "llm.token_count.")) for key in attributes
    )


def _is_whole(attributes: Mapping[str, JsonValue], count: int) -> bool:
    """Whether the flattened list of tools has no gaps."""
    return any(key.startswith(f"{TOOLS}{count - 1}.") for key in attributes)


def _says_nothing(messages: tuple[MessageFacts, ...] | None) -> bool:
    return not messages or not any(message.text or message.calls or message.media for message in messages)


def _lacks_calls(messages: tuple[MessageFacts, ...], body: JsonValue) -> bool:
    """Whether the flattened answer has no calls while the body looks as if it had some."""
    if any(message.calls for message in messages) or not isinstance(body, str):
        return False
    return any(key in body for key in _CALL_KEYS)


def _plain(value: JsonValue) -> str | None:
    """Text that a person wrote or was told; None for serialised state."""
    if not isinstance(value, str) or value in _NOTHING:
        return None
    decoded = parsed(value)
    if decoded is value and value[:2] in ('{"', "[{"):
        # Serialised state that a length limit cut is no more anybody's words than whole state is.
        decoded = cut_json(value)
    if isinstance(decoded, str):
        return decoded
    if isinstance(decoded, dict):
        kwargs = decoded.get("kwargs")
        if isinstance(kwargs, dict) and len(kwargs) == 1:
            decoded = kwargs
        return text_at(decoded, *_WORDS)
    return None


def _bare_name(name: str) -> str:
    return name.removesuffix(".__call__").removesuffix(".run").rpartition(".")[2] or name


def _response_id(body: JsonValue) -> str | None:
    if not isinstance(body, str) or '"id"' not in body:
        return None
    found = as_object(body).get("id")
    return found if isinstance(found, str) else None


def _wrapped_call_id(arguments: JsonValue) -> str | None:
    if isinstance(arguments, str) and "tool_call" in arguments:
        return text_at(as_object(arguments), "tool_call_id", "call_id")
    return None
