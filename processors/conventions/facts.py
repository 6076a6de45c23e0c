"""What one span says, in neutral words: the output of every reader and the input of the transcript's builder.

None means "this span doesn't say"; an empty tuple or string means "it says there was none".
"""

from __future__ import annotations

from dataclasses import dataclass, field
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
    `reasoning`: what the model thought beside it, as far as that was recorded.  Histories leave it out, so that a
    message with it and the same one without are equal.
    """

    role: Role
    text: str | None = None
    calls: tuple[CallFacts, ...] = ()
    call_id: str | None = None
    tool_name: str | None = None
    failed: bool | None = None
    media: tuple[str, ...] = ()
    truncated: bool = False
    reasoning: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFacts:
    """One execution of a tool. `result` is the text that came back, `error` the error's text ("" when unknown).

    `name` "": what stands for a name on the span is none of a tool.
    """

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
    `finish_reasons`  why the model stopped, in its provider's words.
    `error`  the error's text when the span failed ("" when it has none); None when it didn't, or waits for an approval.
    `truncated`  a limit of the SDK cut some of this, or left some of it out; `partial`  the work was cancelled.
    `hidden`  the instrumentation was told not to record content.
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
