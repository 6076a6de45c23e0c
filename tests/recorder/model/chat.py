"""OpenAI chat completions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.recorder.model.exchange import CREATED, Answer, Asked, Reply, pieces, plain


def asked(body: dict[str, Any]) -> Asked:
    """Read a request."""
    functions = [tool["function"] for tool in body.get("tools") or [] if "function" in tool]
    return Asked(
        model=body["model"],
        stream=bool(body.get("stream")),
        tools={function["name"]: function.get("parameters") for function in functions},
        results={
            message["tool_call_id"]: plain(message.get("content"))
            for message in body["messages"]
            if message["role"] == "tool"
        },
    )


def answer(reply: Reply, to: Asked, body: dict[str, Any]) -> Answer:
    """Write a reply."""
    head = {"id": reply.made_up_id("chatcmpl-"), "created": CREATED, "model": f"{to.model}-2025-04-14"}
    if to.stream:
        options = body.get("stream_options") or {}
        chunks = _chunks(reply, usage=_usage(reply, body) if options.get("include_usage") else None)
        return Answer.events(
            ({**head, "object": "chat.completion.chunk", **chunk} for chunk in chunks), named=False, last="[DONE]"
        )
    message: dict[str, Any] = {"role": "assistant", "content": reply.text, "refusal": None}
    if reply.calls:
        message["tool_calls"] = [_call(call.call_id, call.name, call.arguments) for call in reply.calls]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish(reply)}
    return Answer.of({**head, "object": "chat.completion", "choices": [choice], "usage": _usage(reply, body)})


def _chunks(reply: Reply, usage: dict[str, int] | None) -> Iterator[dict[str, Any]]:
    yield _chunk({"role": "assistant", "content": "" if reply.text else None})
    for piece in pieces(reply.text or ""):
        yield _chunk({"content": piece})
    for index, call in enumerate(reply.calls):
        yield _chunk({"tool_calls": [{"index": index, **_call(call.call_id, call.name, "")}]})
        for piece in pieces(call.arguments):
            yield _chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield _chunk({}, _finish(reply))
    if usage is not None:
        yield {"choices": [], "usage": usage}


def _chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]}


def _call(call_id: str, name: str, arguments: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _finish(reply: Reply) -> str:
    return "tool_calls" if reply.calls else "stop"


def _usage(reply: Reply, body: dict[str, Any]) -> dict[str, int]:
    prompt = sum(len(plain(message.get("content"))) for message in body["messages"]) // 4
    return {
        "prompt_tokens": prompt,
        "completion_tokens": reply.output_tokens,
        "total_tokens": prompt + reply.output_tokens,
    }
