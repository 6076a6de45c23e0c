"""The Agent Development Kit's own attributes, `gcp.vertex.agent.*`, of its versions before the GenAI conventions.

`call_llm` spans hold the request and the response as JSON in Gemini's shapes, whichever model is behind them;
`execute_tool` spans hold arguments and response.  What stands in `gen_ai.*` beside them is the GenAI reader's.  Spans
round a whole invocation, and in the first versions round an agent, have a name and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping

from evaluators.cases import JsonValue, Role
from processors.conventions.decoding.bodies import request_messages, request_tools
from processors.conventions.decoding.cut import is_cut, whole_of
from processors.conventions.decoding.values import as_object, text_at
from processors.conventions.executions import execution_on
from processors.conventions.facts import Kind, MessageFacts, SpanFacts, ToolFacts
from processors.conventions.failures import error_of, is_cancelled
from processors.conventions.reader import Reader
from processors.otlp import Span

PREFIX = "gcp.vertex.agent."
REQUEST = PREFIX + "llm_request"
RESPONSE = PREFIX + "llm_response"
ARGUMENTS = PREFIX + "tool_call_args"
TOOL_RESPONSE = PREFIX + "tool_response"
SESSION = PREFIX + "session_id"
TOOL_NAME = "gen_ai.tool.name"
CALL_ID = "gen_ai.tool.call.id"
SCOPE = "gcp.vertex.agent"
INVOCATION = "invocation"
AGENT_RUN = "agent_run ["
MERGED = "(merged tools)"
"""A span for the web interface alone: it repeats what came of calls that were made at once."""

_UNSPECIFIED = "<not specified>"
_NOTHING = frozenset({_UNSPECIFIED, "<not serializable>", "N/A"})


class Adk(Reader):
    """The reader of `gcp.vertex.agent.*`."""

    name = "adk"
    marks: tuple[bytes, ...] = (b"gcp.vertex.agent.",)
    scopes: tuple[bytes, ...] = (b"\x0a\x10gcp.vertex.agent",)

    def reads(self, span: Span) -> bool:
        """Whether the span has a request, a response, or a tool's arguments or response, or is an invocation's."""
        if span.scope_name == SCOPE and span.name.startswith((INVOCATION, AGENT_RUN)):
            return True
        return any(key in span.attributes for key in (REQUEST, RESPONSE, ARGUMENTS, TOOL_RESPONSE))

    def read(self, span: Span) -> SpanFacts:
        """What the span says."""
        attributes = span.attributes
        kind = _kind(span)
        error = error_of(span)
        is_model = kind is Kind.LLM
        request = as_object(whole_of(attributes.get(REQUEST), self._limit)) if is_model else {}
        response = as_object(whole_of(attributes.get(RESPONSE), self._limit)) if is_model else {}
        if error is None and is_model:
            error = text_at(response, "error_message", "error_code")
        config = as_object(request.get("config"))
        return SpanFacts(
            kind=kind,
            dialect=self.name,
            input=self._given(request, config),
            output=self._answered(response),
            tools=request_tools(config),
            tool=self._tool(span) if kind is Kind.TOOL else None,
            agent_name=span.name[len(AGENT_RUN) : -1] if kind is Kind.AGENT else None,
            session_id=text_at(attributes, SESSION),
            model=text_at(response, "model_version") or text_at(request, "model"),
            error=error,
            truncated=any(is_cut(attributes.get(key), self._limit) for key in (REQUEST, RESPONSE)),
            partial=is_cancelled(span),
        )

    def _given(
        self, request: Mapping[str, JsonValue], config: Mapping[str, JsonValue]
    ) -> tuple[MessageFacts, ...] | None:
        contents = request.get("contents")
        if not isinstance(contents, list):
            return None
        return request_messages(
            {"contents": contents, "system_instruction": config.get("system_instruction")}, self._messages
        )

    def _answered(self, response: Mapping[str, JsonValue]) -> tuple[MessageFacts, ...] | None:
        content = response.get("content")
        return self._messages.read(content, Role.ASSISTANT) if isinstance(content, dict) else None

    def _tool(self, span: Span) -> ToolFacts:
        # Where content is off, these are empty maps in place of JSON texts.
        given, answered = span.attributes.get(ARGUMENTS), span.attributes.get(TOOL_RESPONSE)
        is_told = isinstance(answered, str) and answered not in _NOTHING and _UNSPECIFIED not in answered
        call_id = text_at(span.attributes, CALL_ID)
        return execution_on(
            span,
            name=text_at(span.attributes, TOOL_NAME),
            call_id=call_id if call_id not in _NOTHING else None,
            given=given if isinstance(given, str) and given not in _NOTHING else None,
            answered=answered if is_told else None,
            limit=self._limit,
        )


def _kind(span: Span) -> Kind:
    attributes = span.attributes
    if attributes.get(TOOL_NAME) == MERGED:
        return Kind.BOOKKEEPING
    if ARGUMENTS in attributes or TOOL_RESPONSE in attributes:
        return Kind.TOOL
    if REQUEST in attributes or RESPONSE in attributes:
        return Kind.LLM
    return Kind.WORKFLOW if span.name.startswith(INVOCATION) else Kind.AGENT
