"""Traces of any size to measure with, each in a shape that production has: `SHAPES` names them, `build` makes one.

Size is the number of steps, spans, calls or records, whatever the shape is about.  Everything is serialised as it is
received.  Where a shape repeats its history, its bytes grow with the square of its steps; so costs are per byte.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.trace.v1.trace_pb2 import Span

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
Message: TypeAlias = dict[str, Json]
Raw: TypeAlias = tuple[bytes, bytes, bytes]

TRACE_ID = bytes(range(16))
_SCOPE = InstrumentationScope(name="bench").SerializeToString()
_STEP_NS = 1_000_000
_SYSTEM = "You look up places for travellers. " * 8
_TOOL: dict[str, Json] = {
    "type": "function",
    "function": {
        "name": "find_place",
        "description": "Finds a place by its number.",
        "parameters": {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]},
    },
}


@dataclass(slots=True)
class Trace:
    """A trace under construction; each span starts after the one before."""

    spans: list[Raw] = field(default_factory=list)
    logs: list[Raw] = field(default_factory=list)

    def span(
        self,
        attributes: Mapping[str, Json],
        *,
        parent: int | None = None,
        events: Iterable[tuple[str, Mapping[str, Json]]] = (),
        name: str = "",
    ) -> int:
        """Adds a span and returns its number, by which others name it as their parent; numbers may be foretold."""
        number = len(self.spans) + 1
        made = Span(
            trace_id=TRACE_ID,
            span_id=number.to_bytes(8, "big"),
            parent_span_id=b"" if parent is None else parent.to_bytes(8, "big"),
            name=name,
            start_time_unix_nano=number * _STEP_NS,
            end_time_unix_nano=number * _STEP_NS + _STEP_NS // 2,
            attributes=_pairs(attributes),
            events=[Span.Event(name=event, attributes=_pairs(content)) for event, content in events],
        )
        self.spans.append((b"", _SCOPE, made.SerializeToString()))
        return number

    def log(self, span: int, event_name: str, body: Json) -> None:
        """Adds a log record that names a span of the trace."""
        record = LogRecord(
            trace_id=TRACE_ID,
            span_id=span.to_bytes(8, "big"),
            event_name=event_name,
            body=_any(body),
            time_unix_nano=len(self.logs) + 1,
        )
        self.logs.append((b"", _SCOPE, record.SerializeToString()))

    @property
    def size_bytes(self) -> int:
        """The bytes of all spans and records."""
        return sum(len(item) for _, _, item in (*self.spans, *self.logs))


def _pairs(attributes: Mapping[str, Json]) -> list[KeyValue]:
    return [KeyValue(key=key, value=_any(value)) for key, value in attributes.items()]


def _any(value: Json) -> AnyValue:
    made = AnyValue()
    if isinstance(value, str):
        made.string_value = value
    elif isinstance(value, bool):
        made.bool_value = value
    elif isinstance(value, int):
        made.int_value = value
    elif isinstance(value, Mapping):
        made.kvlist_value.values.extend(_pairs(value))
    elif isinstance(value, Sequence):
        made.array_value.values.extend(_any(item) for item in value)
    return made


# What is said in a conversation of which each step asks for a call and is given its result.


def _said(role: str, text: str) -> Message:
    return {"role": role, "content": text}


def _asking(step: int, *, with_id: bool = True, calls: int = 1) -> Message:
    made = []
    for call in range(calls):
        number = step * calls + call
        function = {"name": "find_place", "arguments": json.dumps({"number": number})}
        made.append({**({"id": f"call_{number}"} if with_id else {}), "type": "function", "function": function})
    return {"role": "assistant", "content": "", "tool_calls": made}


def _answering(number: int, *, with_id: bool = True, about: str = "") -> Message:
    result = json.dumps({"place": f"place {number}", "stars": number % 5}) + about
    return {**_said("tool", result), **({"tool_call_id": f"call_{number}"} if with_id else {})}


def _conversation(steps: int, *, with_id: bool = True, about: str = "") -> list[tuple[list[Message], Message]]:
    """What each model call is given, and what it says; the last one says the answer."""
    opening = [_said("system", _SYSTEM), _said("user", f"Which of the places 0 to {steps} have four stars?")]
    made: list[tuple[list[Message], Message]] = []
    history = opening
    for step in range(steps):
        asked = _asking(step, with_id=with_id)
        made.append((history, asked))
        history = [*history, asked, _answering(step, with_id=with_id, about=about)]
    made.append((history, _said("assistant", "Those whose number ends in four or nine.")))
    return made


# The same in the form of each dialect.


def _flattened_call(prefix: str, call: Json) -> dict[str, Json]:
    assert isinstance(call, dict)
    named = {f"{prefix}.tool_call.id": call["id"]} if "id" in call else {}
    function = call["function"]
    assert isinstance(function, dict)
    return {
        **named,
        f"{prefix}.tool_call.function.name": function["name"],
        f"{prefix}.tool_call.function.arguments": function["arguments"],
    }


def _openinference(given: Sequence[Message], said: Message) -> dict[str, Json]:
    attributes: dict[str, Json] = {"openinference.span.kind": "LLM", "llm.tools.0.tool.json_schema": json.dumps(_TOOL)}
    for side, messages in (("llm.input_messages", given), ("llm.output_messages", [said])):
        for at, message in enumerate(messages):
            prefix = f"{side}.{at}.message"
            attributes[f"{prefix}.role"] = message["role"]
            attributes[f"{prefix}.content"] = message["content"]
            if "tool_call_id" in message:
                attributes[f"{prefix}.tool_call_id"] = message["tool_call_id"]
            for place, call in enumerate(message.get("tool_calls", ())):  # type: ignore[arg-type]
                attributes |= _flattened_call(f"{prefix}.tool_calls.{place}", call)
    return attributes


def _openinference_with_body(given: Sequence[Message], said: Message) -> dict[str, Json]:
    return {
        **_openinference(given, said),
        "input.value": json.dumps({"messages": given, "tools": [_TOOL]}),
        "output.value": json.dumps({"choices": [{"message": said}]}),
    }


def _parts(message: Message) -> Message:
    if message["role"] == "tool":
        part = {"type": "tool_call_response", "id": message.get("tool_call_id"), "response": message["content"]}
        return {"role": "tool", "parts": [part]}
    parts: list[Json] = [{"type": "text", "content": message["content"]}] if message["content"] else []
    for call in message.get("tool_calls", ()):  # type: ignore[union-attr]
        function = call["function"]  # type: ignore[index,call-overload]
        parts.append({"type": "tool_call", "id": call.get("id"), **function})  # type: ignore[dict-item,union-attr]
    return {"role": message["role"], "parts": parts}


def _genai(given: Sequence[Message], said: Message) -> dict[str, Json]:
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.tool.definitions": json.dumps([_TOOL]),
        "gen_ai.input.messages": json.dumps([_parts(message) for message in given]),
        "gen_ai.output.messages": json.dumps([_parts(said)]),
    }


def _traceloop(given: Sequence[Message], said: Message) -> dict[str, Json]:
    attributes: dict[str, Json] = {"llm.request.type": "chat", "gen_ai.system": "provider"}
    for side, messages in (("gen_ai.prompt", given), ("gen_ai.completion", [said])):
        for at, message in enumerate(messages):
            attributes |= {f"{side}.{at}.{key}": message[key] for key in message if key != "tool_calls"}
            for place, call in enumerate(message.get("tool_calls", ())):  # type: ignore[arg-type]
                prefix = f"{side}.{at}.tool_calls.{place}"
                attributes |= {f"{prefix}.id": call["id"], **{f"{prefix}.{k}": v for k, v in call["function"].items()}}
    return attributes


def _serialised(message: Message) -> Message:
    kinds = {"system": "SystemMessage", "user": "HumanMessage", "assistant": "AIMessage", "tool": "ToolMessage"}
    kwargs = {key: value for key, value in message.items() if key not in ("role", "tool_calls")}
    calls = [
        {"name": call["function"]["name"], "args": json.loads(call["function"]["arguments"]), "id": call["id"]}  # type: ignore[index,call-overload]
        for call in message.get("tool_calls", ())  # type: ignore[union-attr]
    ]
    path = ["langchain", "schema", "messages", kinds[str(message["role"])]]
    if calls:
        kwargs["tool_calls"] = calls
    return {"lc": 1, "type": "constructor", "id": path, "kwargs": kwargs}


def _event(message: Message) -> tuple[str, Message]:
    if message["role"] == "tool":
        return "gen_ai.tool.message", {"id": message.get("tool_call_id"), "content": message["content"]}
    return f"gen_ai.{message['role']}.message", message


Form: TypeAlias = Callable[[Sequence[Message], Message], dict[str, Json]]


def _steps(conversation: Iterable[tuple[Sequence[Message], Message]], form: Form) -> Trace:
    """An agent's span with one model call per step below it."""
    trace = Trace()
    run = trace.span({"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "guide"})
    for given, said in conversation:
        trace.span(form(given, said), parent=run)
    return trace


def _langchain(size: int) -> Trace:
    """Every step is a chain that carries the state, with a model call that carries it again."""
    trace = Trace()
    run = trace.span({"openinference.span.kind": "CHAIN"}, name="graph")
    for given, said in _conversation(size):
        state = json.dumps({"messages": [_serialised(message) for message in given]})
        after = json.dumps({"messages": [_serialised(said)]})
        chain = trace.span(
            {"openinference.span.kind": "CHAIN", "input.value": state, "output.value": after}, parent=run
        )
        batch = json.dumps({"messages": [[_serialised(message) for message in given]]})
        trace.span({**_openinference(given, said), "input.value": batch}, parent=chain)
    return trace


def _span_events(size: int) -> Trace:
    trace = Trace()
    run = trace.span({"gen_ai.operation.name": "invoke_agent"})
    for given, said in _conversation(size):
        events = [
            (name, {key: value if isinstance(value, str) else json.dumps(value) for key, value in content.items()})
            for name, content in map(_event, given)
        ]
        choice = ("gen_ai.choice", {"index": 0, "message": json.dumps(said)})
        trace.span({"gen_ai.operation.name": "chat"}, parent=run, events=[*events, choice])
    return trace


def _records(size: int) -> Trace:
    """The messages of each model call as log records of their own."""
    trace = Trace()
    run = trace.span({"gen_ai.operation.name": "invoke_agent"})
    for given, said in _conversation(size):
        call = trace.span({"gen_ai.operation.name": "chat"}, parent=run)
        for message in given:
            trace.log(call, *_event(message))
        trace.log(call, "gen_ai.choice", {"index": 0, "message": said})
    return trace


def _windowed(size: int) -> Trace:
    """Only the latest of the history is sent along, without ids."""
    opening, latest = 2, 24
    return _steps(
        (([*given[:opening], *given[opening:][-latest:]], said) for given, said in _conversation(size, with_id=False)),
        _genai,
    )


def _changed_front(size: int) -> Trace:
    """The instructions say the time, so that no history begins like another."""

    def with_time(step: int, given: list[Message]) -> list[Message]:
        return [_said("system", f"It is {step} seconds past noon. {_SYSTEM}"), *given[1:]]

    return _steps(((with_time(step, given), said) for step, (given, said) in enumerate(_conversation(size))), _genai)


def _large_results(size: int) -> Trace:
    """Results of `size` kB, each of which stands in the trace four times."""
    about = " Quiet, near the river; 12 rooms from 80 EUR." * (size * 1000 // 45)
    return _steps(_conversation(2, about=about), _openinference_with_body)


# Traces of very many spans, records or calls.


def _executed(trace: Trace, number: int, parent: int | None) -> int:
    return trace.span(
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "find_place",
            "gen_ai.tool.call.id": f"call_{number}",
            "gen_ai.tool.call.arguments": json.dumps({"number": number}),
            "gen_ai.tool.call.result": json.dumps({"place": f"place {number}", "stars": number % 5}),
        },
        parent=parent,
    )


def _short_call(trace: Trace, number: int, parent: int | None) -> int:
    given = [_said("user", f"Find place {number}.")]
    return trace.span(_genai(given, _asking(number)), parent=parent)


def _wide(size: int) -> Trace:
    trace = Trace()
    run = trace.span({"gen_ai.operation.name": "invoke_agent"})
    for number in range(size // 2):
        _short_call(trace, number, run)
        _executed(trace, number, run)
    return trace


def _deep(size: int) -> Trace:
    trace = Trace()
    above = trace.span({"openinference.span.kind": "CHAIN"})
    for _ in range(size - 2):
        above = trace.span({"openinference.span.kind": "CHAIN"}, parent=above)
    _short_call(trace, 0, above)
    return trace


def _deep_agents(size: int) -> Trace:
    trace = Trace()
    above: int | None = None
    for number in range(size // 2):
        above = trace.span({"gen_ai.operation.name": "invoke_agent"}, parent=above)
        _short_call(trace, number, above)
    return trace


def _many_agents(size: int) -> Trace:
    trace = Trace()
    run = trace.span({"gen_ai.operation.name": "invoke_agent"})
    for number in range(size // 3):
        agent = trace.span(
            {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": f"guide {number}"}, parent=run
        )
        _short_call(trace, number, agent)
        _executed(trace, number, agent)
    return trace


def _tools_alone(size: int) -> Trace:
    trace = Trace()
    run = trace.span({"gen_ai.operation.name": "invoke_agent"})
    for number in range(size):
        _executed(trace, number, run)
    return trace


def _many_runs(size: int) -> Trace:
    """Runs without a common root, each a conversation of its own."""
    trace = Trace()
    for number in range(size // 3):
        run = trace.span({"gen_ai.operation.name": "invoke_agent", "gen_ai.conversation.id": f"session {number}"})
        _short_call(trace, number, run)
        _executed(trace, number, run)
    return trace


def _bare(size: int) -> Trace:
    """Model calls alone, none below another."""
    trace = Trace()
    for number in range(size):
        _short_call(trace, number, None)
    return trace


def _dangling(size: int) -> Trace:
    """Every span is below another that never arrives."""
    trace = Trace()
    for number in range(size // 2):
        _short_call(trace, number, 10**9 + number)
        _executed(trace, number, 10**9 + number)
    return trace


def _circle(size: int) -> Trace:
    trace = Trace()
    for number in range(size):
        _short_call(trace, number, (number + 1) % size + 1)
    return trace


def _turns_in_one(size: int) -> Trace:
    """One span with a whole loop of calls and results as its output."""
    trace = Trace()
    output = [message for step in range(size) for message in (_parts(_asking(step)), _parts(_answering(step)))]
    attributes = _genai([_said("user", "Look at all places.")], _said("assistant", "Done."))
    trace.span({**attributes, "gen_ai.output.messages": json.dumps([*output, _parts(_said("assistant", "Done."))])})
    return trace


def _without_ids(size: int) -> Trace:
    """One model call whose history has all calls and results without ids."""
    given, said = _conversation(size, with_id=False)[-1]
    return _steps([(given[:2], _asking(0, with_id=False)), (given, said)], _genai)


def _parallel(size: int) -> Trace:
    asked = _asking(0, calls=size)
    opening = [_said("user", "Find all places.")]
    answered = [_answering(number) for number in range(size)]
    trace = _steps([(opening, asked), ([*opening, asked, *answered], _said("assistant", "All found."))], _genai)
    for number in range(size):
        _executed(trace, number, 1)
    return trace


def _flat_places(size: int) -> Trace:
    """One conversation of very many messages in flattened form."""
    messages = [_said("user" if at % 2 else "assistant", f"word {at}") for at in range(size)]
    return _steps([(messages, _said("assistant", "Yes."))], _openinference)


def _many_attributes(size: int) -> Trace:
    trace = Trace()
    told = _openinference([_said("user", "Hello")], _said("assistant", "Yes."))
    trace.span({**told, **dict.fromkeys(map(str, range(size)), 1)})
    return trace


def _nested_json(size: int) -> Trace:
    """JSON in JSON, each level a string in the next; strings double with each level, so there are few levels."""
    text: Json = {"query": "place " * size}
    for _ in range(4):
        text = json.dumps({"input": text})
    trace = Trace()
    both = {"input.value": text, "output.value": text}
    run = trace.span({"openinference.span.kind": "AGENT", **both})
    trace.span({"openinference.span.kind": "TOOL", "tool.name": "find", **both}, parent=run)
    return trace


def _python_reprs(size: int) -> Trace:
    """Results and messages as the reprs of Python objects."""
    trace = Trace()
    run = trace.span({"openinference.span.kind": "AGENT"})
    for number in range(size):
        place = {"number": number, "name": "it's a place", "tags": ["quiet"] * 20}
        trace.span(
            {
                "openinference.span.kind": "TOOL",
                "tool.name": "find_place",
                "input.value": repr({"number": number}),
                "output.value": f"ToolResult(content={place!r}, state=<State.DONE: 'done'>)",
            },
            parent=run,
        )
    return trace


@dataclass(frozen=True, slots=True)
class Shape:
    """A kind of trace. `size` is the smaller one to measure; the larger one is four times as large.

    `by_bytes`: what grows is the text of a step, and not the number of steps.
    """

    build: Callable[[int], Trace]
    size: int
    about: str
    by_bytes: bool = False


SHAPES: Mapping[str, Shape] = {
    "large results": Shape(_large_results, 58, "two results of 58 and 232 kB, four times each", by_bytes=True),
    "openinference": Shape(lambda size: _steps(_conversation(size), _openinference), 125, "steps, history flattened"),
    "with bodies": Shape(
        lambda size: _steps(_conversation(size), _openinference_with_body), 125, "steps, history flattened and as JSON"
    ),
    "genai": Shape(lambda size: _steps(_conversation(size), _genai), 125, "steps, history as a JSON text"),
    "traceloop": Shape(lambda size: _steps(_conversation(size), _traceloop), 125, "steps, history flattened"),
    "langchain": Shape(_langchain, 125, "steps, history in every chain and model span"),
    "span events": Shape(_span_events, 125, "steps, history as events"),
    "log records": Shape(_records, 50, "steps, history as records; the larger has 40,000"),
    "windowed": Shape(_windowed, 500, "steps, the latest 24 messages without ids"),
    "changed front": Shape(_changed_front, 125, "steps, no history begins like another"),
    "wide": Shape(_wide, 12_500, "spans below one"),
    "deep": Shape(_deep, 12_500, "chains below each other"),
    "deep agents": Shape(_deep_agents, 12_500, "agents below each other"),
    "many agents": Shape(_many_agents, 12_500, "spans of agents side by side"),
    "tools alone": Shape(_tools_alone, 12_500, "executions that no model call asked for"),
    "many runs": Shape(_many_runs, 12_500, "spans of runs without a common root"),
    "bare calls": Shape(_bare, 12_500, "model calls without a span around them"),
    "dangling": Shape(_dangling, 12_500, "spans whose parents never arrive"),
    "circle": Shape(_circle, 12_500, "spans that are each other's parents"),
    "turns in one": Shape(_turns_in_one, 1_000, "turns in the output of one span"),
    "without ids": Shape(_without_ids, 1_000, "calls in one history", by_bytes=True),
    "parallel": Shape(_parallel, 250, "calls in one turn"),
    "flat places": Shape(_flat_places, 25_000, "flattened messages on one span", by_bytes=True),
    "attributes": Shape(_many_attributes, 250_000, "attributes on one span", by_bytes=True),
    "nested json": Shape(_nested_json, 5_000, "words in a text in four texts", by_bytes=True),
    "reprs": Shape(_python_reprs, 500, "spans with Python reprs"),
}
