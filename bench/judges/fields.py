"""What each system is given of a case: the one place where an `input` becomes the fields of another library.

All get the same words: the conversation, the tools on offer with their schemas, the calls, the results, the answer.
What a library has no field for, it isn't given:

- DeepEval's argument_correctness has none for the schemas of tools, only for their descriptions.
- Ragas has none for system prompts or tools on offer.
- Neither DeepEval nor Ragas has an evaluator of how results are handled, nor Phoenix one of whole runs.

In: the `input` of a case.  Out: fields by the names that the library has for them, as JSON values.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

Given = Mapping[str, Any]
Fields = dict[str, Any]

_SPEAKERS = {"system": "System", "developer": "System", "user": "User", "assistant": "Assistant"}


def conversation(given: Given, *, with_tools: bool = True) -> str:
    """The messages as lines of a dialogue; without tools only what was said."""
    lines = []
    for message in given.get("messages") or ():
        role, text = message.get("role"), _text(message.get("content"))
        if role == "tool":
            if with_tools:
                lines.append(f"Tool result: {text}")
            continue
        if text:
            lines.append(f"{_SPEAKERS.get(role, role)}: {text}")
        if with_tools:
            lines += [f"Tool call: {_written(name, arguments)}" for name, arguments in _calls_of(message)]
    return "\n".join(lines)


def calls_as_text(given: Given) -> str:
    """The judged calls, one a line; what was said instead where nothing was called."""
    calls = given.get("tool_calls") or ()
    if not calls:
        return f"No tool was called. The assistant said: {given.get('output') or '(nothing)'}"
    return "\n".join(_written(call["name"], call.get("arguments")) for call in calls)


def results_as_text(given: Given) -> str:
    """The results, one a line, errors named as such."""
    return "\n".join(
        f"{result.get('name') or result['id']}{' (error)' if result.get('error') else ''}: "
        f"{_text(result.get('content'))}"
        for result in given.get("tool_results") or ()
    )


def _phoenix_calls(given: Given) -> Fields:
    return {
        "input": conversation(given),
        "available_tools": _json(given.get("available_tools") or []),
        "tool_selection": calls_as_text(given),
    }


def _phoenix_response(given: Given) -> Fields:
    return {
        "input": conversation(given),
        "tool_call": calls_as_text(given),
        "tool_result": results_as_text(given),
        "output": given.get("output") or "",
    }


def _deepeval_selection(given: Given) -> Fields:
    return {
        "input": conversation(given),
        "tools_called": _deepeval_calls(given),
        "available_tools": [
            {
                "name": tool["name"],
                "description": tool.get("description"),
                "input_parameters": tool.get("parameters") or {},
            }
            for tool in given.get("available_tools") or ()
        ],
    }


def _deepeval_arguments(given: Given) -> Fields:
    return {"input": conversation(given), "tools_called": _deepeval_calls(given)}


def _deepeval_run(given: Given) -> Fields:
    results = {result["id"]: _text(result.get("content")) for result in given.get("tool_results") or ()}
    return {
        "input": conversation(given, with_tools=False),
        "actual_output": given.get("output") or "",
        "tools_called": _deepeval_calls(given, results),
    }


def _deepeval_calls(given: Given, results: Mapping[str, str] | None = None) -> list[Fields]:
    described = {tool["name"]: tool.get("description") for tool in given.get("available_tools") or ()}
    return [
        {
            "name": call["name"],
            "description": described.get(call["name"]),
            "input_parameters": _arguments(call.get("arguments")),
            "output": (results or {}).get(call["id"]),
        }
        for call in given.get("tool_calls") or ()
    ]


def _ragas_run(given: Given) -> Fields:
    messages: list[Fields] = []
    for message in given.get("messages") or ():
        text = _text(message.get("content"))
        match message.get("role"):
            case "user":
                messages.append({"type": "human", "content": text})
            case "tool":
                messages.append({"type": "tool", "content": text})
            case "assistant":
                calls = [{"name": name, "args": _arguments(arguments)} for name, arguments in _calls_of(message)]
                messages.append({"type": "ai", "content": text, "tool_calls": calls})
    return {"user_input": messages}


FIELDS: Mapping[tuple[str, str], Callable[[Given], Fields]] = {
    ("phoenix", "tool_selection"): _phoenix_calls,
    ("phoenix", "tool_invocation"): _phoenix_calls,
    ("phoenix", "tool_response_handling"): _phoenix_response,
    ("deepeval", "tool_selection"): _deepeval_selection,
    ("deepeval", "tool_invocation"): _deepeval_arguments,
    ("deepeval", "task_completion"): _deepeval_run,
    ("ragas", "task_completion"): _ragas_run,
}
"""By library and the evaluator of ours that its own is comparable to."""


def _calls_of(message: Given) -> Iterable[tuple[str, Any]]:
    for call in message.get("tool_calls") or ():
        function = call.get("function") or call
        yield function["name"], function.get("arguments")


def _written(name: str, arguments: Any) -> str:
    return f"{name}({arguments if isinstance(arguments, str) else _json(arguments)})"


def _arguments(arguments: Any) -> Fields:
    """Arguments as an object; what isn't one stands under a key of its own, as libraries take nothing else."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            return {"arguments": arguments}
    return arguments if isinstance(arguments, dict) else {"arguments": arguments}


def _text(content: Any) -> str:
    if content is None:
        return ""
    return content if isinstance(content, str) else _json(content)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
