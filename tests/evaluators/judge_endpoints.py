"""Endpoints of OpenAI's form as they are met: each refuses, ignores and answers as a real one was seen to.

They are behaviours of a `JudgeServer`, put together from rules; a rule answers or lets the next one.  The words of the
refusals are those of the servers they are named for.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

from tests.evaluators.judge_server import Behaviour, Received, Response, answers_for, completion, nodes, well

Rule: TypeAlias = Callable[[Received], Response | None]


def endpoint(*rules: Rule, answer: Behaviour = well) -> Behaviour:
    """Refuses by the first rule that has something against the request, else answers."""

    def behave(received: Received) -> Response:
        for rule in rules:
            if (refused := rule(received)) is not None:
                return refused
        return answer(received)

    return behave


def refusal(message: str, *, status: int = 400, **fields: Any) -> Response:
    """A refusal in OpenAI's form."""
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": None, **fields}
    return Response(status=status, body=json.dumps({"error": error}).encode())


def refuses(parameter: str, message: str, *, status: int = 400, **fields: Any) -> Rule:
    """Refuses every request with this parameter in its body."""
    return lambda received: refusal(message, status=status, **fields) if parameter in received.body else None


def refuses_form(form: str, message: str, *, status: int = 400, **fields: Any) -> Rule:
    """Refuses every request that asks for the form of its answer in this way."""
    return lambda received: refusal(message, status=status, **fields) if received.form == form else None


def refuses_role(role: str, message: str, **fields: Any) -> Rule:
    """Refuses every request with a message in this role."""

    def rule(received: Received) -> Response | None:
        used = {message["role"] for message in received.body["messages"]}
        return refusal(message, **fields) if role in used else None

    return rule


def refuses_keywords(*keywords: str, message: str) -> Rule:
    """Refuses schemas that use one of these keywords."""

    def rule(received: Received) -> Response | None:
        if received.form not in ("json_schema", "tool"):
            return None
        used = {keyword for node in nodes(received.schema) for keyword in node}
        return refusal(message) if used & set(keywords) else None

    return rule


def only_streams(received: Received) -> Response | None:
    """DashScope with models that think."""
    if received.body.get("stream"):
        return None
    return refusal("This model only support stream mode, please enable the stream parameter to access the model. ")


# -- ways to answer


def prose(received: Received) -> Response:
    """Ignores every form but that of a tool, as Anthropic's endpoint did; without a schema nobody knows the form."""
    if received.form == "tool":
        return well(received)
    return Response(body=completion("I'd be glad to help! The agent did well on the whole."))


def streamed(received: Received) -> Response:
    """A valid answer as a stream of events, as vLLM and OpenAI write them."""
    whole = json.loads(well(received).body)
    message = whole["choices"][0]["message"]
    text: str = message["content"] or message["tool_calls"][0]["function"]["arguments"]
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    for piece in (text[start : start + 40] for start in range(0, len(text), 40)):
        if message["content"]:
            deltas.append({"content": piece})
        else:
            deltas.append({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})
    events = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    events.append({"choices": [], "usage": whole["usage"]})
    lines = [": ping", *(f"data: {json.dumps(event | {'model': 'fake-1-2026'})}" for event in events), "data: [DONE]"]
    return Response(
        body="".join(f"{line}\r\n\r\n" for line in lines).encode(),
        headers={"content-type": "text/event-stream"},
        chunked=True,
    )


def message_of(received: Received, **fields: Any) -> Response:
    """A completion with these fields in its message."""
    whole = json.loads(completion(None))
    whole["choices"][0]["message"] |= fields
    return Response(body=json.dumps(whole).encode())


def thinks_aloud(received: Received) -> Response:
    """A local reasoning model without a parser for its marks: drafts, then the answer in a code fence."""
    answer = json.dumps(answers_for(received), indent=1)
    return Response(
        body=completion(f'<think>Perhaps {{"q1": {{}}}}? No.</think>\n\nHere it is:\n```json\n{answer}\n```\n')
    )


def thinks_apart(received: Received) -> Response:
    """vLLM and DeepSeek with a parser for it."""
    return message_of(received, content=json.dumps(answers_for(received)), reasoning_content="Let me see {...}")


def answer_among_reasoning(received: Received) -> Response:
    """LM Studio and vLLM when a model that might think doesn't: the answer is taken for reasoning."""
    return message_of(received, content="", reasoning_content=json.dumps(answers_for(received)))


def thinks_too_long(received: Received) -> Response:
    """A reasoning model whose thoughts count against the limit of the answer."""
    if "max_tokens" not in received.body:
        return thinks_apart(received)
    whole = json.loads(completion(None, finish_reason="length"))
    whole["usage"]["completion_tokens_details"] = {"reasoning_tokens": received.body["max_tokens"]}
    return Response(body=json.dumps(whole).encode())


def has_bounds(received: Received) -> bool:
    """Whether the schema says how long lists may be."""
    return any("maxItems" in node for node in nodes(received.schema))


def runs_on(received: Received) -> Response:
    """A small local model, which ends a list only when it has to."""
    if has_bounds(received):
        return well(received)
    return Response(body=completion('{"q1": {"evidence": ["e1", "e1", "e1", ', finish_reason="length"))


def arguments_as_object(received: Received) -> Response:
    """Servers that send a tool call's arguments as an object."""
    whole = json.loads(well(received).body)
    function = whole["choices"][0]["message"]["tool_calls"][0]["function"]
    function["arguments"] = json.loads(function["arguments"])
    return Response(body=json.dumps(whole).encode())


def zipped(received: Received) -> Response:
    """A valid answer, compressed, in chunks."""
    answer = well(received)
    return replace(answer, body=gzip.compress(answer.body), headers={"content-encoding": "gzip"}, chunked=True)


def deflated(received: Received) -> Response:
    """A valid answer in the other encoding that clients are offered."""
    answer = well(received)
    return replace(answer, body=zlib.compress(answer.body), headers={"content-encoding": "deflate"})


# -- whole endpoints

_LIMIT_NAME = (
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
)

openai_reasoning = endpoint(
    refuses("max_tokens", _LIMIT_NAME, param="max_tokens", code="unsupported_parameter"),
    refuses(
        "temperature",
        "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",
        param="temperature",
        code="unsupported_value",
    ),
)
openai_o1_mini = endpoint(
    refuses("max_tokens", _LIMIT_NAME, param="max_tokens", code="unsupported_parameter"),
    refuses_role(
        "system",
        "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
        param="messages[0].role",
        code="unsupported_value",
    ),
    refuses_form(
        "json_schema",
        "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
        param="response_format",
    ),
    refuses("tools", "Unsupported parameter: 'tools' is not supported with this model.", param="tools"),
    refuses_form("json_object", "Unsupported value: 'response_format'", param="response_format"),
)
azure_of_old = endpoint(
    refuses_form(
        "json_schema",
        "response_format value as json_schema is enabled only for api versions 2024-08-01-preview and later",
    ),
)
gemini = endpoint(
    refuses_keywords(
        "additionalProperties",
        "$ref",
        "$defs",
        message='Invalid JSON payload received. Unknown name "additionalProperties" at '
        "'generation_config.response_schema': Cannot find field.",
    )
)
anthropic = endpoint(answer=prose)
deepseek = endpoint(
    refuses_form("json_schema", "This response_format type is unavailable now", code="invalid_request_error"),
    refuses_form("tool", "Thinking mode does not support this tool_choice"),
    answer=thinks_apart,
)
mistral = endpoint(
    lambda received: (
        Response(
            status=422,
            body=json.dumps(
                {
                    "object": "error",
                    "message": {
                        "detail": [
                            {
                                "type": "extra_forbidden",
                                "loc": ["body", "seed"],
                                "msg": "Extra inputs are not permitted",
                            }
                        ]
                    },
                    "type": "invalid_request_error",
                    "code": 3001,
                }
            ).encode(),
        )
        if "seed" in received.body
        else None
    )
)
openrouter = endpoint(
    refuses_form("json_schema", "No endpoints found that can handle the requested parameters.", status=404, code=404),
    refuses_form("tool", "No endpoints found that support the provided 'tool_choice' value.", status=404, code=404),
)
litellm = endpoint(
    refuses(
        "response_format",
        "litellm.UnsupportedParamsError: bedrock does not support parameters: ['response_format'], for model=x. "
        "To drop these, set `litellm.drop_params=True`",
    )
)
llama_cpp = endpoint(
    refuses_keywords("$ref", message="Failed to initialize samplers: failed to parse grammar"),
)
ollama_without_tools = endpoint(
    refuses_form("json_schema", "unsupported response_format"),
    refuses("tools", "registry.ollama.ai/library/gemma:2b does not support tools"),
    answer=thinks_aloud,
)
lm_studio_of_old = endpoint(
    refuses_form("json_schema", "'response_format.type' must be 'text'"),
    refuses_form("json_object", "'response_format.type' must be 'text'"),
    refuses("tools", "tools are not supported"),
    answer=thinks_aloud,
)
vllm_gemma = endpoint(refuses_role("system", "System role not supported", type="BadRequestError", code=400))
dashscope = endpoint(only_streams, answer=streamed)
dashscope_without_usage = endpoint(
    only_streams, refuses("stream_options", "Unknown parameter: stream_options"), answer=streamed
)
