"""What one span says, in neutral words: the output of every reader and the input of the transcript's builder.

None means "this span doesn't say"; an empty tuple or string means "it says there was none".
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from enum import StrEnum

from evaluators.cases import JsonValue, Role, Tool


class Kind(StrEnum):
    """What a span stands for. `BOOKKEEPING`: a framework's own span about work that other spans tell of."""

    LLM = "llm"
    TOOL = "tool"
    AGENT = "agent"
    WORKFLOW = "workflow"
    CHAIN = "chain"
    HANDOFF = "handoff"
    EVALUATION = "evaluation"
    BOOKKEEPING = "bookkeeping"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFacts:
    """A call that a model asked for. `arguments` is an object where they could be decoded, else the text as it was.

    None: no arguments were captured.  `truncated`: a length limit cut them.
    """

    name: str
    id: str | None = None
    arguments: JsonValue = None
    truncated: bool = False
    provider_executed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageFacts:
    """One message. Results of tools are messages of role tool of their own, whatever message they came in.

    `text` None: not captured.  `failed`: the message says that the call failed (None: it doesn't say).
    `media`: kinds of content that isn't text (image, audio, file).
    """

    role: Role
    text: str | None = None
    calls: tuple[CallFacts, ...] = ()
    call_id: str | None = None
    tool_name: str | None = None
    failed: bool | None = None
    media: tuple[str, ...] = ()
    truncated: bool = False
    unreadable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFacts:
    """One execution of a tool. `result` is the text that came back, `error` the error's text ("" when unknown)."""

    name: str | None = None
    call_id: str | None = None
    arguments: JsonValue = None
    result: str | None = None
    error: str | None = None
    description: str | None = None
    truncated: bool = False
    pending: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanFacts:
    """Everything one span says.

    `dialect`  of the account that stands first, `also` of those that completed it.
    `input`, `output`  the messages a model (or an agent) was given and gave.
    `input_text`, `output_text`  plain text in and out of an agent or workflow.
    `whole`  input and output are all that was said, calls and results included.
    `error`  the error's text when the span failed ("" when it has none).
    `tools_cut`  more tools may have been offered than are told.
    `in_code`  tools were called by programs that the model wrote, so that its answers name no calls.
    """

    kind: Kind
    dialect: str
    input: tuple[MessageFacts, ...] | None = None
    output: tuple[MessageFacts, ...] | None = None
    input_text: str | None = None
    output_text: str | None = None
    system: tuple[str, ...] | None = None
    tools: tuple[Tool, ...] | None = None
    tool_choice: str | None = None
    tool: ToolFacts | None = None
    agent_name: str | None = None
    session_id: str | None = None
    response_id: str | None = None
    model: str | None = None
    finish_reasons: tuple[str, ...] | None = None
    error: str | None = None
    truncated: bool = False
    tools_cut: bool = False
    partial: bool = False
    hidden: bool = False
    whole: bool = False
    in_code: bool = False
    also: tuple[str, ...] = ()

    @property
    def dialects(self) -> tuple[str, ...]:
        """All dialects that the span speaks."""
        return (self.dialect, *self.also)


def merged(first: SpanFacts, second: SpanFacts) -> SpanFacts:
    """One account of a span that two readers understood: the first one's word, completed by the second one's."""
    changes: dict[str, object] = {}
    for each in fields(SpanFacts):
        ours, theirs = getattr(first, each.name), getattr(second, each.name)
        if ours is None and theirs is not None:
            changes[each.name] = theirs
    if first.kind in (Kind.CHAIN, Kind.OTHER) and second.kind not in (Kind.CHAIN, Kind.OTHER):
        changes["kind"] = second.kind
    if _weight(second.output) > _weight(first.output):
        changes["output"] = second.output
    if first.input and second.input and _legible(second.input) > _legible(first.input):
        changes["input"] = second.input
    if first.tools and second.tools and _offer(second) > _offer(first):
        changes["tools"] = second.tools
    if "tools" in changes:
        changes["tools_cut"] = second.tools_cut
    if first.tool is not None and second.tool is not None:
        changes["tool"] = merged_tool(first.tool, second.tool)
    changes["also"] = tuple(dict.fromkeys((*first.also, second.dialect, *second.also)))
    changes["truncated"] = first.truncated or second.truncated
    changes["partial"] = first.partial or second.partial
    return replace(first, **changes)  # type: ignore[arg-type]


def merged_tool(first: ToolFacts, second: ToolFacts) -> ToolFacts:
    """One account of an execution that was seen twice."""
    return ToolFacts(
        name=first.name or second.name,
        call_id=first.call_id or second.call_id,
        arguments=second.arguments if first.arguments is None else first.arguments,
        result=second.result if first.result is None else first.result,
        error=first.error or second.error or (first.error if first.error is not None else second.error),
        description=first.description or second.description,
        truncated=first.truncated or (first.result is None and second.truncated),
        pending=first.pending or second.pending,
    )


def _weight(messages: tuple[MessageFacts, ...] | None) -> tuple[int, bool]:
    if messages is None:
        return (-1, False)
    return (sum(len(message.calls) for message in messages), any(message.text for message in messages))


def _legible(messages: tuple[MessageFacts, ...]) -> tuple[bool, int]:
    """Of two accounts of a history: whether all of it could be read, and how many results it tells apart."""
    answered = {message.call_id for message in messages if message.call_id is not None}
    return (not any(message.unreadable for message in messages), len(answered))


def _offer(facts: SpanFacts) -> tuple[bool, int]:
    """How much is told of the tools on offer: all of them, and how many schemas."""
    return (not facts.tools_cut, sum(tool.parameters is not None for tool in facts.tools or ()))
