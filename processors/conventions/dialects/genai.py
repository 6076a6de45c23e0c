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
from processors.conventions.decoding.bodies import text_of_parts, tool_choice_of
from processors.conventions.decoding.cut import is_cut, whole_json, whole_of
from processors.conventions.decoding.definitions import as_schema, tools_of
from processors.conventions.decoding.folded import unfolded
from processors.conventions.decoding.message_events import CHOICE_EVENT, MESSAGE_EVENTS, TOOL_EVENT, told_in
from processors.conventions.decoding.messages import Messages
from processors.conventions.decoding.numbered import COMPLETION, PROMPT, completion_in, functions_in, prompt_in
from processors.conventions.decoding.values import as_list, first_at, parsed, text_at
from processors.conventions.executions import execution_on
from processors.conventions.facts import Kind, MessageFacts, SpanFacts, ToolFacts
from processors.conventions.failures import ERROR_TYPE, error_of, is_cancelled, is_pending
from processors.conventions.reader import Reader
from processors.otlp import Span

PREFIX = "gen_ai."
OPERATION = "gen_ai.operation.name"
INPUT_MESSAGES = "gen_ai.input.messages"
OUTPUT_MESSAGES = "gen_ai.output.messages"
AGENT_INSTRUCTIONS = "system_prompt"
SYSTEM_INSTRUCTIONS = ("gen_ai.system_instructions", AGENT_INSTRUCTIONS)
TOOL_DEFINITIONS = ("gen_ai.tool.definitions", "gen_ai.agent.tool.definitions")
AGENT_TOOLS = "gen_ai.agent.tools"
LOOP_CYCLE = "event_loop.cycle_id"
AGENT_INPUT = ("gen_ai.agent.invocation_input", "gen_ai.input.messages")
AGENT_OUTPUT = ("gen_ai.agent.invocation_output", "gen_ai.output.messages")
TOOL_NAME = "gen_ai.tool.name"
TOOL_CALL_ID = "gen_ai.tool.call.id"
TOOL_DESCRIPTION = "gen_ai.tool.description"
TOOL_SCHEMA = "gen_ai.tool.json_schema"
TOOL_ARGUMENTS = "gen_ai.tool.call.arguments"
TOOL_RESULT = "gen_ai.tool.call.result"
TOOL_STATUS = "gen_ai.tool.status"
TOOL_CHOICE = ("gen_ai.request.tool_choice", "gen_ai.openai.request.tool_choice", "gen_ai.tool.choice")
AGENT_NAME = "gen_ai.agent.name"
CONVERSATION = "gen_ai.conversation.id"
SESSION = "session.id"
RESPONSE_ID = "gen_ai.response.id"
RESPONSE_MODEL = "gen_ai.response.model"
REQUEST_MODEL = "gen_ai.request.model"
FINISH_REASONS = ("gen_ai.response.finish_reasons", "gen_ai.response.finish_reason")
DETAILS_EVENT = "gen_ai.client.inference.operation.details"
EVALUATION = "evaluation"

EXECUTE_TOOL = "execute_tool"
_OPERATIONS = {
    "chat": Kind.LLM,
    "chat.completions": Kind.LLM,
    "chat.streaming_completions": Kind.LLM,
    "text_completion": Kind.LLM,
    "text.completions": Kind.LLM,
    "generate_content": Kind.LLM,
    "responses": Kind.LLM,
    EXECUTE_TOOL: Kind.TOOL,
    "invoke_agent": Kind.AGENT,
    "invoke_workflow": Kind.WORKFLOW,
    "execute_task": Kind.CHAIN,
    "agent_step": Kind.CHAIN,
    "chain": Kind.CHAIN,
    EVALUATION: Kind.EVALUATION,
}


class GenAI(Reader):
    """The reader of the GenAI conventions."""

    name = "genai"
    marks: tuple[bytes, ...] = (b"gen_ai.",)

    def __init__(self, messages: Messages, limit: int | None = None) -> None:
        super().__init__(messages, limit)
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
        error = error_of(span)
        if kind is Kind.TOOL:
            if error is None and _says_failed(attributes) and not is_pending(span):
                error = ""
            return self._common(span, attributes, kind, error, tool=self._tool(span, attributes, error))
        given, answered = told_in(span.events, self._messages)
        given = self._listed(first_at(attributes, *AGENT_INPUT), Role.USER) or given
        answered = self._listed(first_at(attributes, *AGENT_OUTPUT), Role.ASSISTANT) or answered
        return self._common(
            span,
            attributes,
            kind,
            error,
            given=given or prompt_in(attributes, self._messages, whole=not span.dropped_attributes),
            answered=answered if _says_something(answered) else completion_in(attributes, self._messages) or answered,
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
        system = text_of_parts(first_at(attributes, *SYSTEM_INSTRUCTIONS))
        choice = first_at(attributes, *TOOL_CHOICE)
        return SpanFacts(
            kind=kind,
            dialect=self.name,
            input=given,
            output=answered,
            system=(system,) if system else None,
            tools=self._offered(span) if kind is not Kind.TOOL else _described(attributes),
            tool_choice=tool_choice_of({"tool_choice": parsed(choice)}) if choice is not None else None,
            tool=tool,
            agent_name=text_at(attributes, AGENT_NAME),
            session_id=text_at(attributes, CONVERSATION, SESSION),
            response_id=text_at(attributes, RESPONSE_ID),
            model=text_at(attributes, RESPONSE_MODEL, REQUEST_MODEL),
            finish_reasons=_reasons(first_at(attributes, *FINISH_REASONS)),
            error=error,
            truncated=any(is_cut(attributes.get(key), self._limit) for key in (INPUT_MESSAGES, OUTPUT_MESSAGES)),
            tools_cut=is_cut(first_at(attributes, *TOOL_DEFINITIONS), self._limit),
            partial=is_cancelled(span),
        )

    def _listed(self, value: JsonValue, role: Role) -> tuple[MessageFacts, ...] | None:
        if value is None:
            return None
        if not isinstance(value, str):
            return self._messages.read(value, role)
        if (value, role) not in self._lists:
            found = self._messages.read(whole_of(value, self._limit), role)
            self._lists[value, role] = unfolded(found, self._messages)
        return self._lists[value, role]

    def _offered(self, span: Span) -> tuple[Tool, ...] | None:
        """The definitions that say most: spans and their events may give the same tools with and without schemas."""
        sources = [span.attributes, *(event.attributes for event in span.events if event.name == DETAILS_EVENT)]
        found = [self._defined(first_at(source, *TOOL_DEFINITIONS)) for source in sources]
        fullest = max((tools for tools in found if tools is not None), key=_schemas, default=None)
        if fullest is None:
            fullest = functions_in(span.attributes)
        if fullest is None and AGENT_TOOLS in span.attributes:
            fullest = tools_of(span.attributes[AGENT_TOOLS])
        return fullest

    def _defined(self, definitions: JsonValue) -> tuple[Tool, ...] | None:
        if not isinstance(definitions, str):
            return tools_of(definitions)
        if definitions not in self._tools:
            self._tools[definitions] = tools_of(whole_json(definitions))
        return self._tools[definitions]

    def _tool(self, span: Span, attributes: Mapping[str, JsonValue], error: str | None) -> ToolFacts:
        arguments = first_at(attributes, TOOL_ARGUMENTS, PROMPT)
        output = first_at(attributes, TOOL_RESULT, COMPLETION)
        for event in span.events:
            content = first_at(event.attributes, "content", "message")
            if event.name == TOOL_EVENT and arguments is None:
                arguments = content
            elif event.name == CHOICE_EVENT and output is None:
                output = content
        return execution_on(
            span,
            name=text_at(attributes, TOOL_NAME) or _named_by(span),
            call_id=text_at(attributes, TOOL_CALL_ID),
            given=arguments,
            answered=output,
            error=error,
            description=text_at(attributes, TOOL_DESCRIPTION),
            limit=self._limit,
        )


def _named_by(span: Span) -> str | None:
    """The tool that a span's name tells of, as the conventions have it."""
    operation, _, name = span.name.partition(" ")
    return name if operation == EXECUTE_TOOL and name else None


def _kind(attributes: Mapping[str, JsonValue], span: Span) -> Kind:
    operation = attributes.get(OPERATION)
    if isinstance(operation, str) and operation:
        # Graphs, swarms and the like are invoked under their own names.
        team = Kind.WORKFLOW if operation.startswith("invoke_") else Kind.OTHER
        return _OPERATIONS.get(operation.lower(), team)
    if TOOL_ARGUMENTS in attributes or TOOL_RESULT in attributes:
        return Kind.TOOL
    if TOOL_NAME in attributes and TOOL_CALL_ID in attributes and REQUEST_MODEL not in attributes:
        return Kind.TOOL
    if LOOP_CYCLE in attributes:
        return Kind.CHAIN
    if AGENT_TOOLS in attributes or AGENT_INSTRUCTIONS in attributes:
        return Kind.AGENT
    if any(key in attributes for key in (INPUT_MESSAGES, OUTPUT_MESSAGES, PROMPT, COMPLETION)):
        return Kind.LLM
    if any(key in attributes for key in (*FINISH_REASONS, RESPONSE_ID, f"{PROMPT}.0.role")):
        return Kind.LLM
    if any(event.name in MESSAGE_EVENTS or event.name == DETAILS_EVENT for event in span.events):
        return Kind.LLM
    return Kind.OTHER


def _says_something(messages: tuple[MessageFacts, ...] | None) -> bool:
    return any(message.text or message.calls for message in messages or ())


def _says_failed(attributes: Mapping[str, JsonValue]) -> bool:
    return bool(attributes.get(ERROR_TYPE)) or attributes.get(TOOL_STATUS) == "error"


def _with_details(span: Span) -> Mapping[str, JsonValue]:
    """The span's attributes, completed by those of its details events; several of them complete each other."""
    details = [event.attributes for event in span.events if event.name == DETAILS_EVENT]
    if not details:
        return span.attributes
    found: dict[str, JsonValue] = {}
    for attributes in (*details, span.attributes):
        found.update({key: value for key, value in attributes.items() if value is not None})
    return found


def _described(attributes: Mapping[str, JsonValue]) -> tuple[Tool, ...] | None:
    """What the span of an execution says about the tool itself."""
    name, schema = text_at(attributes, TOOL_NAME), as_schema(attributes.get(TOOL_SCHEMA))
    if name is None or schema is None:
        return None
    return (Tool(name=name, description=text_at(attributes, TOOL_DESCRIPTION), parameters=schema),)


def _schemas(tools: tuple[Tool, ...]) -> int:
    return sum(tool.parameters is not None for tool in tools)


def _reasons(value: JsonValue) -> tuple[str, ...] | None:
    """Reasons to finish, as a list, a JSON text of one, or a single word."""
    listed = as_list(value)
    if not listed and isinstance(value, str) and value:
        listed = [value]
    return tuple(str(reason).rpartition("FinishReason.")[2] for reason in listed) or None
