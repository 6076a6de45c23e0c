"""OpenAI responses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.recorder.model.exchange import CREATED, Answer, Asked, Reply, pieces, plain


def asked(body: dict[str, Any]) -> Asked:
    """Read a request."""
    items = body["input"] if isinstance(body["input"], list) else []
    return Asked(
        model=body["model"],
        stream=bool(body.get("stream")),
        tools={tool["name"]: tool.get("parameters") for tool in body.get("tools") or [] if tool["type"] == "function"},
        results={
            item["call_id"]: plain(item.get("output")) for item in items if item.get("type") == "function_call_output"
        },
    )


def answer(reply: Reply, to: Asked, body: dict[str, Any]) -> Answer:
    """Write a reply."""
    output = _output(reply)
    response = {
        "id": reply.made_up_id("resp_"),
        "object": "response",
        "created_at": CREATED,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "instructions": body.get("instructions"),
        "max_output_tokens": None,
        "metadata": {},
        "model": f"{to.model}-2025-04-14",
        "output": output,
        "parallel_tool_calls": True,
        "previous_response_id": body.get("previous_response_id"),
        "temperature": 1.0,
        "text": {"format": {"type": "text"}},
        "tool_choice": body.get("tool_choice", "auto"),
        "tools": body.get("tools") or [],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": _usage(reply, body),
    }
    if not to.stream:
        return Answer.of(response)
    numbered = ({**event, "sequence_number": number} for number, event in enumerate(_events(response, output)))
    return Answer.events(numbered, named=True)


def _output(reply: Reply) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if reply.text is not None:
        text = {"type": "output_text", "text": reply.text, "annotations": [], "logprobs": []}
        items.append(
            {
                "type": "message",
                "id": reply.made_up_id("msg_"),
                "status": "completed",
                "role": "assistant",
                "content": [text],
            }
        )
    items.extend(
        {
            "type": "function_call",
            "id": reply.made_up_id("fc_", call.call_id),
            "status": "completed",
            "call_id": call.call_id,
            "name": call.name,
            "arguments": call.arguments,
        }
        for call in reply.calls
    )
    return items


def _events(response: dict[str, Any], output: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    begun = {**response, "status": "in_progress", "output": [], "usage": None}
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    for index, item in enumerate(output):
        place = {"output_index": index, "item_id": item["id"]}
        if item["type"] == "message":
            yield from _message_events(item, place)
        else:
            yield from _call_events(item, place)
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": "response.completed", "response": response}


def _message_events(item: dict[str, Any], place: dict[str, Any]) -> Iterator[dict[str, Any]]:
    part = item["content"][0]
    inside = {**place, "content_index": 0}
    begun = {**item, "status": "in_progress", "content": []}
    yield {"type": "response.output_item.added", "output_index": place["output_index"], "item": begun}
    yield {"type": "response.content_part.added", **inside, "part": {**part, "text": ""}}
    for piece in pieces(part["text"]):
        yield {"type": "response.output_text.delta", **inside, "delta": piece, "logprobs": []}
    yield {"type": "response.output_text.done", **inside, "text": part["text"], "logprobs": []}
    yield {"type": "response.content_part.done", **inside, "part": part}


def _call_events(item: dict[str, Any], place: dict[str, Any]) -> Iterator[dict[str, Any]]:
    begun = {**item, "status": "in_progress", "arguments": ""}
    yield {"type": "response.output_item.added", "output_index": place["output_index"], "item": begun}
    for piece in pieces(item["arguments"]):
        yield {"type": "response.function_call_arguments.delta", **place, "delta": piece}
    done = {"name": item["name"], "arguments": item["arguments"]}
    yield {"type": "response.function_call_arguments.done", **place, **done}


def _usage(reply: Reply, body: dict[str, Any]) -> dict[str, Any]:
    prompt = (len(plain(body["input"])) + len(body.get("instructions") or "")) // 4
    return {
        "input_tokens": prompt,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": reply.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": prompt + reply.output_tokens,
    }
