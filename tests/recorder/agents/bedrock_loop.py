"""A tool loop over Bedrock's Converse, with OpenInference or OpenTelemetry (`DESK_INSTRUMENTATION`)."""

from __future__ import annotations

import json
import os
from typing import Any

import boto3
import desk
import telemetry
from loops import Call, answer, run_plainly
from opentelemetry import trace


class Converse:
    """A conversation over converse."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._system = [{"text": desk.system()}]
        self._messages: list[Any] = []
        self._tools = [
            {
                "toolSpec": {
                    "name": tool["name"],
                    "description": tool["description"],
                    "inputSchema": {"json": tool["parameters"]},
                }
            }
            for tool in desk.definitions()
        ]

    def say(self, text: str) -> None:
        self._messages.append({"role": "user", "content": [{"text": text}]})

    def ask(self) -> tuple[str, list[Call]]:
        message = self._client.converse(
            modelId=desk.MODEL, system=self._system, messages=self._messages, toolConfig={"tools": self._tools}
        )["output"]["message"]
        self._messages.append(message)
        text = "".join(block.get("text", "") for block in message["content"])
        uses = [block["toolUse"] for block in message["content"] if "toolUse" in block]
        return text, [Call(use["toolUseId"], use["name"], json.dumps(use["input"])) for use in uses]

    def tell(self, outcomes: list[tuple[Call, str, bool]]) -> None:
        content = [
            {
                "toolResult": {
                    "toolUseId": call.call_id,
                    "content": [{"text": text}],
                    "status": "error" if failed else "success",
                }
            }
            for call, text, failed in outcomes
        ]
        self._messages.append({"role": "user", "content": content})


with telemetry.recorded(logs=True) as provider:
    name = os.environ["DESK_INSTRUMENTATION"]
    if name == "openinference":
        from openinference.instrumentation.bedrock import BedrockInstrumentor

        BedrockInstrumentor().instrument(tracer_provider=provider)
    elif name == "genai":
        from opentelemetry.instrumentation.genai.bedrock import BedrockInstrumentor

        BedrockInstrumentor().instrument()
    elif name == "traceloop":
        from opentelemetry.instrumentation.bedrock import BedrockInstrumentor

        BedrockInstrumentor().instrument()
    else:
        from opentelemetry.instrumentation.botocore import BotocoreInstrumentor

        BotocoreInstrumentor().instrument()
    client = boto3.client(
        "bedrock-runtime",
        region_name="eu-central-1",
        endpoint_url=desk.MODEL_URL,
        aws_access_key_id="none",
        aws_secret_access_key="none",
    )
    conversation = Converse(client)
    for user in desk.users():
        with trace.get_tracer("desk").start_as_current_span("desk clerk"):
            answer(conversation, user, run_plainly)
