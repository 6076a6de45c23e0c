"""Decoded spans in the shapes of the two big conventions, for tests that read as conversations."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from evaluators.cases import JsonValue, Run
from processors.otlp import Event, Span, StatusCode
from processors.reading.transcribe import transcribe

Message = dict[str, JsonValue]
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def system(text: str) -> Message:
    return {"role": "system", "content": text}


def says(text: str) -> Message:
    return {"role": "assistant", "content": text}


def asks(call_id: str | None, name: str, arguments: object, text: str = "") -> Message:
    """An assistant message with one call."""
    function: JsonValue = {
        "name": name,
        "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments),
    }
    call: dict[str, JsonValue] = {"function": function}
    if call_id is not None:
        call["id"] = call_id
    return {"role": "assistant", "content": text, "tool_calls": [call]}


def together(*messages: Message) -> Message:
    """Several calls in one assistant message."""
    calls = [call for message in messages for call in message["tool_calls"]]  # type: ignore[union-attr]
    return {"role": "assistant", "content": "", "tool_calls": calls}


def returns(call_id: str | None, text: str) -> Message:
    message: Message = {"role": "tool", "content": text}
    if call_id is not None:
        message["tool_call_id"] = call_id
    return message


class Trace:
    """Collects spans; each new one starts a millisecond after the one before."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self._clock_ns = 1_000_000_000

    def add(
        self,
        span_id: str,
        attributes: Mapping[str, JsonValue],
        *,
        under: str | None = None,
        name: str = "",
        error: str | None = None,
        events: Sequence[Event] = (),
        start_ns: int | None = None,
        end_ns: int | None = None,
    ) -> str:
        self._clock_ns += 1_000_000
        start = self._clock_ns if start_ns is None else start_ns
        self.spans.append(
            Span(
                trace_id="t",
                span_id=span_id,
                parent_id=under,
                name=name or span_id,
                start_ns=start,
                end_ns=start + 500_000 if end_ns is None else end_ns,
                attributes=dict(attributes),
                events=tuple(events),
                status=StatusCode.UNSET if error is None else StatusCode.ERROR,
                status_message=error or "",
            )
        )
        return span_id

    def agent(self, span_id: str = "agent", *, under: str | None = None, **more: JsonValue) -> str:
        attributes = {"openinference.span.kind": "AGENT", **{key.replace("__", "."): more[key] for key in more}}
        return self.add(span_id, attributes, under=under)

    def llm(
        self,
        span_id: str,
        given: Sequence[Message] | None,
        answer: Message | None,
        *,
        under: str | None = "agent",
        tools: Sequence[Mapping[str, JsonValue]] = (WEATHER,),
        error: str | None = None,
        start_ns: int | None = None,
        **more: JsonValue,
    ) -> str:
        attributes: dict[str, JsonValue] = {"openinference.span.kind": "LLM", "llm.finish_reason": "stop", **more}
        for prefix, messages in (("llm.input_messages", given), ("llm.output_messages", [answer] if answer else [])):
            for number, message in enumerate(messages or ()):
                attributes.update(_flat(f"{prefix}.{number}.message", message))
        for number, definition in enumerate(tools):
            attributes[f"llm.tools.{number}.tool.json_schema"] = json.dumps(definition)
        return self.add(span_id, attributes, under=under, error=error, start_ns=start_ns)

    def tool(
        self,
        span_id: str,
        name: str,
        arguments: object,
        result: str | None = None,
        *,
        under: str | None = "agent",
        error: str | None = None,
        events: Sequence[Event] = (),
        start_ns: int | None = None,
        **more: JsonValue,
    ) -> str:
        attributes: dict[str, JsonValue] = {
            "openinference.span.kind": "TOOL",
            "tool.name": name,
            "input.value": json.dumps(arguments),
            **more,
        }
        if result is not None:
            attributes["output.value"] = result
        return self.add(span_id, attributes, under=under, error=error, events=events, start_ns=start_ns)

    def run(self) -> Run:
        """The one run of the trace."""
        runs = self.runs()
        assert len(runs) == 1, runs
        return runs[0]

    def runs(self) -> tuple[Run, ...]:
        return transcribe("t", self.spans).runs


def _flat(prefix: str, message: Message) -> dict[str, JsonValue]:
    flat: dict[str, JsonValue] = {f"{prefix}.{key}": message[key] for key in message if key != "tool_calls"}
    calls = message.get("tool_calls")
    for number, call in enumerate(calls if isinstance(calls, list) else ()):
        assert isinstance(call, dict)
        start = f"{prefix}.tool_calls.{number}.tool_call"
        if "id" in call:
            flat[f"{start}.id"] = call["id"]
        function = call["function"]
        assert isinstance(function, dict)
        flat[f"{start}.function.name"] = function["name"]
        flat[f"{start}.function.arguments"] = function["arguments"]
    return flat
