"""Bedrock's Converse, without streaming."""

from __future__ import annotations

from typing import Any

from tests.recorder.model.exchange import Answer, Asked, Reply, plain


def asked(body: dict[str, Any], model: str) -> Asked:
    """Read a request; the model is in the path."""
    specs = [tool["toolSpec"] for tool in (body.get("toolConfig") or {}).get("tools") or [] if "toolSpec" in tool]
    results = [
        part["toolResult"] for message in body["messages"] for part in message["content"] if "toolResult" in part
    ]
    return Asked(
        model=model,
        stream=False,
        tools={spec["name"]: spec["inputSchema"]["json"] for spec in specs},
        results={result["toolUseId"]: plain(result["content"]) for result in results},
    )


def answer(reply: Reply, to: Asked, body: dict[str, Any]) -> Answer:
    """Write a reply."""
    content: list[dict[str, Any]] = [] if reply.text is None else [{"text": reply.text}]
    content += [
        {"toolUse": {"toolUseId": call.call_id, "name": call.name, "input": call.values}} for call in reply.calls
    ]
    prompt = sum(len(plain(message["content"])) for message in body["messages"]) // 4
    return Answer.of(
        {
            "output": {"message": {"role": "assistant", "content": content}},
            "stopReason": "tool_use" if reply.calls else "end_turn",
            "usage": {
                "inputTokens": prompt,
                "outputTokens": reply.output_tokens,
                "totalTokens": prompt + reply.output_tokens,
            },
            "metrics": {"latencyMs": 12},
        }
    )
