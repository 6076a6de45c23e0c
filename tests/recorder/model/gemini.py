"""Google's generateContent; calls have no ids there, results are matched by their order."""

from __future__ import annotations

from typing import Any

from tests.recorder.model.exchange import Answer, Asked, Reply, plain


def asked(body: dict[str, Any], model: str, *, stream: bool) -> Asked:
    """Read a request; the model and whether to stream are in the path. Results are numbered in order."""
    declarations = [
        declaration for tool in body.get("tools") or [] for declaration in tool.get("functionDeclarations") or []
    ]
    responses = [
        part["functionResponse"]
        for content in body["contents"]
        for part in content.get("parts") or []
        if "functionResponse" in part
    ]
    return Asked(
        model=model,
        stream=stream,
        tools={each["name"]: _schema(each) for each in declarations},
        results={str(number): plain(response.get("response")) for number, response in enumerate(responses)},
    )


def _schema(declaration: dict[str, Any]) -> Any:
    """A schema, whatever a version of the SDK calls it."""
    keys = ("parameters", "parametersJsonSchema", "parameters_json_schema")
    return next((declaration[key] for key in keys if declaration.get(key)), None)


def answer(reply: Reply, to: Asked, body: dict[str, Any]) -> Answer:
    """Write a reply; a stream has one chunk per part."""
    parts: list[dict[str, Any]] = [] if reply.text is None else [{"text": reply.text}]
    parts += [{"functionCall": {"name": call.name, "args": call.values}} for call in reply.calls]
    prompt = sum(len(plain(content.get("parts"))) for content in body["contents"]) // 4
    usage = {
        "promptTokenCount": prompt,
        "candidatesTokenCount": reply.output_tokens,
        "totalTokenCount": prompt + reply.output_tokens,
    }
    head = {"modelVersion": to.model, "responseId": reply.made_up_id(""), "usageMetadata": usage}

    def candidate(some: list[dict[str, Any]], *, last: bool) -> dict[str, Any]:
        content = {"role": "model", "parts": some}
        return {**head, "candidates": [{"index": 0, "content": content, **({"finishReason": "STOP"} if last else {})}]}

    if not to.stream:
        return Answer.of(candidate(parts, last=True))
    return Answer.events((candidate([part], last=part is parts[-1]) for part in parts), named=False)
