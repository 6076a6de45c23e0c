"""Anthropic messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.recorder.model.exchange import Answer, Asked, Reply, Requested, pieces, plain


def asked(body: dict[str, Any]) -> Asked:
    """Read a request."""
    blocks = [
        block
        for message in body["messages"]
        if isinstance(message["content"], list)
        for block in message["content"]
        if block["type"] == "tool_result"
    ]
    return Asked(
        model=body["model"],
        stream=bool(body.get("stream")),
        tools={tool["name"]: tool.get("input_schema") for tool in body.get("tools") or []},
        results={block["tool_use_id"]: plain(block.get("content")) for block in blocks},
    )


def answer(reply: Reply, to: Asked, body: dict[str, Any]) -> Answer:
    """Write a reply."""
    prompt = sum(len(plain(message["content"])) for message in body["messages"]) // 4
    message = {
        "id": reply.made_up_id("msg_"),
        "type": "message",
        "role": "assistant",
        "model": to.model,
        "content": [*_text(reply), *(_tool_use(call, call.values) for call in reply.calls)],
        "stop_reason": "tool_use" if reply.calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": prompt, "output_tokens": reply.output_tokens},
    }
    return Answer.events(_events(reply, message), named=True) if to.stream else Answer.of(message)


def _text(reply: Reply) -> list[dict[str, Any]]:
    return [] if reply.text is None else [{"type": "text", "text": reply.text}]


def _tool_use(call: Requested, values: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call.call_id, "name": call.name, "input": values}


def _events(reply: Reply, message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    usage = {**message["usage"], "output_tokens": 1}
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None, "usage": usage}}
    blocks: list[tuple[dict[str, Any], str, str, str]] = []
    if reply.text is not None:
        blocks.append(({"type": "text", "text": ""}, "text_delta", "text", reply.text))
    blocks.extend((_tool_use(call, {}), "input_json_delta", "partial_json", call.arguments) for call in reply.calls)
    for index, (begun, kind, key, text) in enumerate(blocks):
        yield {"type": "content_block_start", "index": index, "content_block": begun}
        for piece in pieces(text):
            yield {"type": "content_block_delta", "index": index, "delta": {"type": kind, key: piece}}
        yield {"type": "content_block_stop", "index": index}
    stop = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": {"output_tokens": reply.output_tokens}}
    yield {"type": "message_stop"}
