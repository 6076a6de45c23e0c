"""The GenAI semantic conventions of OpenTelemetry: `gen_ai.*`, in the forms of several years.

Content stands in attributes (as JSON text or structured), in the event or log record
`gen_ai.client.inference.operation.details`, in message events (`gen_ai.user.message`, `gen_ai.choice` and so on, as
span events or log records), or in the first form's `gen_ai.prompt` and `gen_ai.completion`.  Log records have been
joined to their spans as events before a reader sees them.

`gen_ai.operation.name` decides what a span is: `gen_ai.tool.name` alone also stands on model calls that ask for a tool.
"""

from __future__ import annotations

from collections.abc import Mapping

from evaluators.cases import JsonValue, Role, Tool
from processors.conventions.bodies import (
    call_arguments,
    request_messages,
    response_messages,
    text_of_parts,
    tool_choice_of,
)
from processors.conventions.definitions import as_schema, tools_of
from processors.conventions.facts import Kind, MessageFacts, SpanFacts, ToolFacts
from processors.conventions.messages import ROLES, Messages
from processors.conventions.parts import output_of
from processors.conventions.reader import ERROR_TYPE, error_of, is_cancelled, is_cut, is_pending
from processors.conventions.values import as_list, cut_json, data, first_at, flattened, is_place, parsed, text_at
from processors.otlp import Event, Span

PREFIX = "gen_ai."
OPERATION = "gen_ai.operation.name"
INPUT_MESSAGES = "gen_ai.input.messages"
OUTPUT_MESSAGES = "gen_ai.output.messages"
SYSTEM_INSTRUCTIONS = "gen_ai.system_instructions"
TOOL_DEFINITIONS = "gen_ai.tool.definitions"
AGENT_TOOLS = "gen_ai.agent.tools"
TOOL_NAME = "gen_ai.tool.name"
TOOL_CALL_ID = "gen_ai.tool.call.id"
TOOL_DESCRIPTION = "gen_ai.tool.description"
TOOL_ARGUMENTS = "gen_ai.tool.call.arguments"
TOOL_RESULT = "gen_ai.tool.call.result"
TOOL_CHOICE = ("gen_ai.request.tool_choice", "gen_ai.openai.request.tool_choice", "gen_ai.tool.choice")
AGENT_NAME = "gen_ai.agent.name"
CONVERSATION = "gen_ai.conversation.id"
SESSION = "session.id"
RESPONSE_ID = "gen_ai.response.id"
RESPONSE_MODEL = "gen_ai.response.model"
REQUEST_MODEL = "gen_ai.request.model"
FINISH_REASONS = "gen_ai.response.finish_reasons"
PROMPT = "gen_ai.prompt"
COMPLETION = "gen_ai.completion"
FUNCTIONS = "llm.request.functions."
DETAILS_EVENT = "gen_ai.client.inference.operation.details"
CHOICE_EVENT = "gen_ai.choice"
EVENT_LISTS = ("events", "all_messages_events")
"""Message events may stand in an attribute, as a JSON list of objects with the event's name among their keys."""
EVENT_NAME = "event.name"
MESSAGE_EVENTS = {
    "gen_ai.system.message": Role.SYSTEM,
    "gen_ai.user.message": Role.USER,
    "gen_ai.assistant.message": Role.ASSISTANT,
    "gen_ai.tool.message": Role.TOOL,
    CHOICE_EVENT: Role.ASSISTANT,
}
EVALUATION = "evaluation"

_PART_KEYS = frozenset({"type", "text", "toolUse", "toolResult", "image", "document"})
_OPERATIONS = {
    "chat": Kind.LLM,
    "text_completion": Kind.LLM,
    "generate_content": Kind.LLM,
    "responses": Kind.LLM,
    "execute_tool": Kind.TOOL,
    "invoke_agent": Kind.AGENT,
    "invoke_workflow": Kind.WORKFLOW,
    "execute_task": Kind.CHAIN,
    "agent_step": Kind.CHAIN,
    "chain": Kind.CHAIN,
    EVALUATION: Kind.EVALUATION,
}


class GenAI:
    """The reader of the GenAI conventions."""

    name = "genai"
    marks: tuple[bytes, ...] = (b"gen_ai.",)

    def __init__(self, messages: Messages, limit: int | None = None) -> None:
        self._messages = messages
        self._limit = limit
        self._lists: dict[tuple[str, Role], tuple[MessageFacts, ...] | None] = {}
        self._tools: dict[str, tuple[Tool, ...] | None] = {}

    def reads(self, span: Span) -> bool:
        """Whether the span has attributes or message events of these conventions."""
        return any(key.startswith(PREFIX) for key in span.attributes) or any(
            event.name == DETAILS_EVENT or event.name in MESSAGE_EVENTS for event in span.events
        )

    def read(self, span: Span) -> SpanFacts:
        """What the span, its events and the log records joined to it say."""
        attributes = _with_details(span)
        kind = _kind(attributes, span)
        pending = is_pending(span)
        error = error_of(span) if not pending else None
        if error is None and kind is Kind.TOOL and attributes.get(ERROR_TYPE) and not pending:
            error = ""
        given, answered = self._message_events((*span.events, *_listed_events(attributes)))
        if kind is Kind.TOOL:
            return self._common(span, attributes, kind, error, tool=self._tool(attributes, span.events, error, pending))
        given = self._listed(attributes, INPUT_MESSAGES, Role.USER) or given or self._prompt(attributes)
        answered = self._listed(attributes, OUTPUT_MESSAGES, Role.ASSISTANT) or answered
        return self._common(
            span,
            attributes,
            kind,
            error,
            given=given,
            answered=answered if answered is not None else self._completion(attributes),
        )

    def _common(
        self,
        span: Span,
        attributes: Mapping[str, JsonValue],
        kind: Kind,
        error: str | None,
        *,
        given: tuple[MessageFacts, ...] | None = None,
        answered: tuple[MessageFacts, ...] | None = None,
        tool: ToolFacts | None = None,
    ) -> SpanFacts:
        reasons = attributes.get(FINISH_REASONS)
        system = text_of_parts(attributes.get(SYSTEM_INSTRUCTIONS))
        choice = first_at(attributes, *TOOL_CHOICE)
        return SpanFacts(
            kind=kind,
            dialect=self.name,
            input=given,
            output=answered,
            system=(system,) if system else None,
            tools=self._offered(attributes) if kind is not Kind.TOOL else None,
            tool_choice=tool_choice_of({"tool_choice": parsed(choice)}) if choice is not None else None,
            tool=tool,
            agent_name=text_at(attributes, AGENT_NAME),
            session_id=text_at(attributes, CONVERSATION, SESSION),
            response_id=text_at(attributes, RESPONSE_ID),
            model=text_at(attributes, RESPONSE_MODEL, REQUEST_MODEL),
            finish_reasons=tuple(str(reason) for reason in reasons) if isinstance(reasons, list) else None,
            error=error,
            truncated=any(is_cut(attributes.get(key), self._limit) for key in (INPUT_MESSAGES, OUTPUT_MESSAGES)),
            partial=is_cancelled(span),
        )

    def _listed(self, attributes: Mapping[str, JsonValue], key: str, role: Role) -> tuple[MessageFacts, ...] | None:
        value = attributes.get(key)
        if value is None:
            return None
        if not isinstance(value, str):
            return self._messages.read(value, role)
        if (value, role) not in self._lists:
            decoded = parsed(value)
            if decoded is value and is_cut(value, self._limit):
                decoded = cut_json(value)
            self._lists[value, role] = self._messages.read(decoded, role)
        return self._lists[value, role]

    def _message_events(
        self, events: tuple[Event, ...]
    ) -> tuple[tuple[MessageFacts, ...] | None, tuple[MessageFacts, ...] | None]:
        given: list[MessageFacts] = []
        answered: list[MessageFacts] = []
        seen = False
        for event in events:
            role = MESSAGE_EVENTS.get(event.name)
            if role is None:
                continue
            seen = True
            found = self._messages.read(_event_message(event, role), role) or ()
            (answered if event.name == CHOICE_EVENT else given).extend(found)
        return (tuple(given), tuple(answered) or None) if seen else (None, None)

    def _prompt(self, attributes: Mapping[str, JsonValue]) -> tuple[MessageFacts, ...] | None:
        items = flattened(attributes, PROMPT + ".")
        if items:
            return self._messages.read([_flat_message(item) for item in items], Role.USER)
        prompt = parsed(attributes.get(PROMPT))
        return request_messages(prompt, self._messages) if prompt is not None else None

    def _completion(self, attributes: Mapping[str, JsonValue]) -> tuple[MessageFacts, ...] | None:
        items = flattened(attributes, COMPLETION + ".")
        if items:
            return self._messages.read([_flat_message(item) for item in items], Role.ASSISTANT)
        completion = parsed(attributes.get(COMPLETION))
        return response_messages(completion, self._messages) if completion is not None else None

    def _offered(self, attributes: Mapping[str, JsonValue]) -> tuple[Tool, ...] | None:
        definitions = attributes.get(TOOL_DEFINITIONS)
        if isinstance(definitions, str):
            if definitions not in self._tools:
                decoded = parsed(definitions)
                cut = cut_json(definitions) if decoded is definitions else None
                self._tools[definitions] = tools_of(cut if cut is not None else decoded)
            return self._tools[definitions]
        if definitions is not None:
            return tools_of(definitions)
        functions = flattened(attributes, FUNCTIONS)
        if functions:
            return tools_of([{**item, "parameters": as_schema(item.get("parameters"))} for item in functions])  # type: ignore[dict-item]
        names = attributes.get(AGENT_TOOLS)
        return tools_of(names) if names is not None else None

    def _tool(
        self, attributes: Mapping[str, JsonValue], events: tuple[Event, ...], error: str | None, pending: bool
    ) -> ToolFacts:
        arguments = first_at(attributes, TOOL_ARGUMENTS, PROMPT, "tool_arguments")
        output = first_at(attributes, TOOL_RESULT, COMPLETION, "tool_response")
        for event in events:
            content = first_at(event.attributes, "content", "message")
            if event.name == "gen_ai.tool.message" and arguments is None:
                arguments = content
            elif event.name == CHOICE_EVENT and output is None:
                output = content
        result = output_of(output)
        if error is None and result.failed and not pending:
            error = result.text or ""
        failed_empty = error is not None and output in ("{}", "")
        return ToolFacts(
            name=text_at(attributes, TOOL_NAME),
            call_id=text_at(attributes, TOOL_CALL_ID) or result.call_id,
            arguments=call_arguments(data(arguments)),
            result=None if pending or failed_empty else result.text,
            error=error,
            description=text_at(attributes, TOOL_DESCRIPTION),
            truncated=is_cut(output, self._limit),
            pending=pending,
        )


def _kind(attributes: Mapping[str, JsonValue], span: Span) -> Kind:
    operation = attributes.get(OPERATION)
    if isinstance(operation, str) and operation:
        return _OPERATIONS.get(operation, Kind.OTHER)
    if TOOL_ARGUMENTS in attributes or TOOL_RESULT in attributes:
        return Kind.TOOL
    if any(key in attributes for key in (INPUT_MESSAGES, OUTPUT_MESSAGES, PROMPT, COMPLETION)):
        return Kind.LLM
    if FINISH_REASONS in attributes or RESPONSE_ID in attributes or f"{PROMPT}.0.role" in attributes:
        return Kind.LLM
    if any(event.name in MESSAGE_EVENTS or event.name == DETAILS_EVENT for event in span.events):
        return Kind.LLM
    return Kind.OTHER


def _with_details(span: Span) -> Mapping[str, JsonValue]:
    """The span's attributes, completed by those of its details events; several of them complete each other."""
    details = [event.attributes for event in span.events if event.name == DETAILS_EVENT]
    if not details:
        return span.attributes
    found: dict[str, JsonValue] = {}
    for attributes in (*details, span.attributes):
        found.update({key: value for key, value in attributes.items() if value is not None})
    return found


def _listed_events(attributes: Mapping[str, JsonValue]) -> list[Event]:
    for key in EVENT_LISTS:
        value = attributes.get(key)
        if isinstance(value, str) and EVENT_NAME in value:
            return [
                Event(name=str(item[EVENT_NAME]), body={name: item[name] for name in item if name != EVENT_NAME})
                for item in as_list(value)
                if isinstance(item, dict) and EVENT_NAME in item
            ]
    return []


def _event_message(event: Event, role: Role) -> JsonValue:
    """A message event's body and attributes as one message."""
    body = event.body if isinstance(event.body, dict) else {"content": event.body} if event.body is not None else {}
    message: dict[str, JsonValue] = {**event.attributes, **body}
    inner = parsed(message.get("message"))
    if event.name == CHOICE_EVENT and inner is not None:
        calls = message.get("tool_calls")
        message = inner if isinstance(inner, dict) else {"content": inner}
        if calls is not None and "tool_calls" not in message:
            message = {**message, "tool_calls": calls}
    content = message.get("content")
    own_role = message.get("role")
    wanted = own_role if isinstance(own_role, str) and own_role.lower() in ROLES else role.value
    kept = {key: value for key, value in message.items() if not key.startswith(PREFIX) and key != "role"}
    return {**kept, "role": wanted, **({"content": _content(content)} if content is not None else {})}


def _content(value: JsonValue) -> JsonValue:
    """A content as its parts where it is a JSON text of parts; any other text, JSON or not, is the text itself."""
    decoded = parsed(value) if isinstance(value, str) and value.startswith("[{") else None
    if isinstance(decoded, list) and all(isinstance(item, dict) and _PART_KEYS & item.keys() for item in decoded):
        return decoded
    return value


def _flat_message(item: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """A message of the first form, `gen_ai.prompt.N.*`, as the nested one it was made from."""
    message: dict[str, JsonValue] = {}
    calls: dict[int, dict[str, JsonValue]] = {}
    for key, value in item.items():
        group, _, rest = key.partition(".")
        number, _, field = rest.partition(".")
        if group == "tool_calls" and is_place(number):
            calls.setdefault(int(number), {})[field] = value
        else:
            message[key] = _content(value) if key == "content" else value
    if calls:
        message["tool_calls"] = [calls[number] for number in sorted(calls)]
    return message
