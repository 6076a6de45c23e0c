"""Google's GenAI SDK: a tool loop, or with `DESK_MODE=automatic` the SDK's own function calling."""

import json
import os
from typing import Any

import desk
import telemetry
from google import genai
from google.genai import types
from loops import Call, answer, run_plainly
from opentelemetry import trace

MODE = set(os.environ.get("DESK_MODE", "").split("-"))
INSTRUMENTATION = os.environ["DESK_INSTRUMENTATION"]


class Contents:
    """A conversation over generate_content."""

    def __init__(self, client: genai.Client) -> None:
        self._client = client
        self._contents: list[types.Content] = []
        self._ids: dict[str, str] = {}
        declarations = [
            types.FunctionDeclaration(
                name=tool["name"], description=tool["description"], parameters_json_schema=tool["parameters"]
            )
            for tool in desk.definitions()
        ]
        self._config = types.GenerateContentConfig(
            system_instruction=desk.system(), tools=[types.Tool(function_declarations=declarations)]
        )

    def say(self, text: str) -> None:
        self._contents.append(types.Content(role="user", parts=[types.Part(text=text)]))

    def ask(self) -> tuple[str, list[Call]]:
        request: dict[str, Any] = {"model": desk.MODEL, "contents": self._contents, "config": self._config}
        if "stream" in MODE:
            chunks = list(self._client.models.generate_content_stream(**request))
            parts = [part for chunk in chunks for part in chunk.candidates[0].content.parts]
        else:
            parts = self._client.models.generate_content(**request).candidates[0].content.parts
        self._contents.append(types.Content(role="model", parts=parts))
        calls = [part.function_call for part in parts if part.function_call]
        text = "".join(part.text or "" for part in parts)
        return text, [Call(call.id or call.name, call.name, json.dumps(call.args)) for call in calls]

    def tell(self, outcomes: list[tuple[Call, str, bool]]) -> None:
        parts = [
            types.Part.from_function_response(name=call.name, response={"error" if failed else "result": text})
            for call, text, failed in outcomes
        ]
        self._contents.append(types.Content(role="user", parts=parts))


def find_book(title: str, branch: str) -> dict[str, Any]:
    """Find a book in the catalogue of one branch of the library."""
    return json.loads(desk.run("find_book", {"title": title, "branch": branch}))


def reserve_room(seats: int, weekday: str) -> dict[str, Any]:
    """Reserve a reading room."""
    return json.loads(desk.run("reserve_room", {"seats": seats, "weekday": weekday}))


def automatically(client: genai.Client) -> None:
    """Let the SDK run the tools: of its own, since it calls no function whose parameters are of a `Literal` type."""
    config = types.GenerateContentConfig(system_instruction=desk.system(), tools=[find_book, reserve_room])
    chat = client.chats.create(model=desk.MODEL, config=config)
    for user in desk.users():
        chat.send_message(user)


with telemetry.recorded(logs=True) as provider:
    if INSTRUMENTATION == "openinference":
        from openinference.instrumentation.google_genai import GoogleGenAIInstrumentor

        GoogleGenAIInstrumentor().instrument(tracer_provider=provider)
    elif INSTRUMENTATION == "traceloop":
        from opentelemetry.instrumentation.google_generativeai import GoogleGenerativeAiInstrumentor

        GoogleGenerativeAiInstrumentor().instrument()
    else:
        from opentelemetry.instrumentation.google_genai import GoogleGenAiSdkInstrumentor

        GoogleGenAiSdkInstrumentor().instrument()
    client = genai.Client(api_key="not-a-key", http_options=types.HttpOptions(base_url=desk.MODEL_URL))
    if "automatic" in MODE:
        automatically(client)
    else:
        conversation = Contents(client)
        for user in desk.users():
            if "bare" in MODE:
                answer(conversation, user, run_plainly)
            else:
                with trace.get_tracer("desk").start_as_current_span("desk clerk"):
                    answer(conversation, user, run_plainly)
