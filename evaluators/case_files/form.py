"""The form of a case in a file, checked: messages as in OpenAI's chat API, tools, calls and results.

In: parsed JSON.  Out: pydantic models that know how to become the vocabulary of `evaluators.cases`.  Older and
neighbouring forms are understood (content as a list of parts, the roles `developer` and `function`, `function_call`,
tools and calls wrapped in `function`); what isn't one of them is an error that names the key.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Literal

import orjson
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, model_validator

from evaluators.cases import Message, Reference, Role, ToolCall, ToolResult
from evaluators.reference.form import ReferenceCallForm, ReferenceForm

Json = dict[str, JsonValue]

_ROLES = {
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
    "tool": Role.TOOL,
}


def _text(content: object) -> object:
    """The text of a message's content: of its text parts, where it is a list of parts."""
    if isinstance(content, list):
        parts = [
            part if isinstance(part, str) else part.get("text") for part in content if isinstance(part, str | dict)
        ]
        return "\n".join(part for part in parts if isinstance(part, str))
    if isinstance(content, dict):
        inner = content.get("text")
        return inner if isinstance(inner, str) else orjson.dumps(content).decode()
    return content


def _as_text(content: object) -> object:
    """A result's content as the model saw it: structured content is its JSON."""
    if content is None or isinstance(content, str):
        return content
    return orjson.dumps(content).decode()


def _as_written(arguments: object) -> object:
    """Arguments as they can be judged: what is no object, as its JSON."""
    return arguments if arguments is None or isinstance(arguments, str | dict) else orjson.dumps(arguments).decode()


def _object_or_text(arguments: object) -> object:
    """Arguments of a call: a model may emit a list or a number where an object belongs, and that is its text."""
    return arguments if isinstance(arguments, dict) else _as_text(arguments)


def _in_today_s_form(messages: list[object]) -> Iterator[object]:
    """Messages with `function_call` and the role `function` as calls with ids and their results."""
    called = 0
    for message in messages:
        if isinstance(message, dict) and isinstance(older := message.get("function_call"), dict):
            called += 1
            yield {**message, "tool_calls": [{**older, "id": f"function_call_{called}"}]}
        elif isinstance(message, dict) and message.get("role") == "function":
            yield {**message, "role": "tool", "tool_call_id": f"function_call_{called}"}
        else:
            yield message


Text = Annotated[str | None, BeforeValidator(_text)]


class _Form(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class ToolForm(_Form):
    """A tool on offer."""

    name: str
    description: str | None = None
    parameters: Json | None = None

    @model_validator(mode="before")
    @classmethod
    def _unwrapped(cls, value: object) -> object:
        if isinstance(value, dict) and isinstance(value.get("function"), dict):
            return value["function"]
        return value


class CallForm(_Form):
    """A call, with its arguments as an object or as the text that the model wrote, and perhaps what came of it.

    Arguments of any other type are no fault of the line but the model's: they become their JSON.
    """

    id: str
    name: str
    arguments: Annotated[Json | str | None, BeforeValidator(_as_written)] = None
    output: JsonValue = None

    @model_validator(mode="before")
    @classmethod
    def _unwrapped(cls, value: object) -> object:
        if isinstance(value, dict) and isinstance(value.get("function"), dict):
            return {**value["function"], "id": value.get("id")}
        return value

    def as_call(self, results: Mapping[str, ToolResult]) -> ToolCall:
        """The call with its result, if there is one."""
        arguments: Json | str | None = self.arguments
        if isinstance(arguments, str):
            try:
                parsed = orjson.loads(arguments)
            except orjson.JSONDecodeError:
                parsed = None
            arguments = parsed if isinstance(parsed, dict) else arguments
        result = results.get(self.id)
        if result is None and self.output is not None:
            result = ToolResult(
                content=orjson.dumps(self.output).decode() if not isinstance(self.output, str) else self.output
            )
        return ToolCall(id=self.id, name=self.name, arguments=arguments, result=result)


class MessageForm(_Form):
    """A message of the conversation."""

    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: Text = None
    tool_calls: list[CallForm] | None = None
    tool_call_id: str | None = None
    has_media: bool = False

    @model_validator(mode="before")
    @classmethod
    def _sees_media(cls, value: object) -> object:
        parts = value.get("content") if isinstance(value, dict) else None
        if not isinstance(value, dict) or not isinstance(parts, list):
            return value
        return {**value, "has_media": any(isinstance(part, dict) and "text" not in part for part in parts)}

    @property
    def is_result(self) -> bool:
        """Whether it brings the result of a call."""
        return _ROLES[self.role] is Role.TOOL

    def as_message(self, ref: str, results: Mapping[str, ToolResult]) -> Message:
        """The message in our vocabulary."""
        return Message(
            role=_ROLES[self.role],
            text=self.content,
            calls=tuple(call.as_call(results) for call in self.tool_calls or ()),
            call_id=self.tool_call_id,
            # what a picture or a file says is known to the model and to nobody here
            truncated=self.has_media,
            ref=ref,
        )


class ResultForm(_Form):
    """What came back from a call. `error`: true where it failed, or the error's own text."""

    id: str
    content: Annotated[str | None, BeforeValidator(_as_text)] = None
    error: bool | str | None = None

    def as_result(self) -> ToolResult:
        """The result in our vocabulary."""
        if isinstance(self.error, str):
            return ToolResult(content=self.content, error=self.error)
        return ToolResult(content=self.content, error=(self.content or "") if self.error else None)


class CaseInput(_Form):
    """The input of a case.

    What is left out was not captured; an empty list says that there was none. `trace` is a trace in the nested form of
    `loop_detection`.
    """

    messages: list[MessageForm] | None = None
    available_tools: list[ToolForm] | None = None
    tool_calls: list[CallForm] | None = None
    tool_results: list[ResultForm] = Field(default_factory=list)
    output: Text = None
    reference_tool_calls: list[ReferenceCallForm] | None = None
    trace: JsonValue = None
    options: Json = Field(default_factory=dict)
    reference: ReferenceForm | None = Field(default=None, alias="options.reference")

    @model_validator(mode="before")
    @classmethod
    def _nulls_are_absent(cls, value: object) -> object:
        if not isinstance(value, dict):
            return value
        present = {key: one for key, one in value.items() if one is not None}
        if isinstance(messages := present.get("messages"), list):
            present["messages"] = list(_in_today_s_form(messages))
        if isinstance(options := present.get("options"), dict) and options.get("reference") is not None:
            present["options"] = {key: one for key, one in options.items() if key != "reference"}
            present["options.reference"] = options["reference"]
        return present

    def known(self) -> Reference | None:
        """What should have come of the run, as far as the case says."""
        given = self.reference.as_reference("case") if self.reference is not None else None
        if self.reference_tool_calls is None:
            return given
        calls = tuple(call.as_call() for call in self.reference_tool_calls)
        return replace(given or Reference(), tool_calls=calls)


class CaseLine(_Form):
    """A line of a file of cases."""

    id: str = Field(min_length=1)
    evaluator: str
    input: CaseInput
