"""The body of a request: what is to be asked, in the manner of the endpoint.

In: an order, a manner, a mode and the settings.  Out: the JSON object that is posted.  The words asked are the same in
every mode; where nothing else tells the model the form of the answer, its schema stands at the end of the prompt.
"""

from __future__ import annotations

from collections.abc import Mapping

import orjson

from evaluators.cases import JsonValue
from evaluators.judge.endpoint.bounded_schema import bounded_schema
from evaluators.judge.endpoint.manner import WORDED_MODES, Manner, Mode, Parameter, Role
from evaluators.judge.endpoint.output_limit import output_limit
from evaluators.judge.endpoint.plain_schema import plain_schema
from evaluators.judge.endpoint.request import Order
from evaluators.judge.settings import JudgeSettings
from evaluators.judge.strict_schema import Schema

ANSWERS = "answers"
_FORM = "\n\nAnswer with one JSON object and nothing else. It must be valid by this JSON Schema:\n"


def request_body(order: Order, manner: Manner, mode: Mode, settings: JudgeSettings) -> Mapping[str, JsonValue]:
    """What is posted to `/chat/completions`."""
    body: dict[str, JsonValue] = {
        "model": settings.model,
        "messages": _messages(order, manner, mode),
        **_form(schema_as_sent(order, manner), mode),
    }
    wanted: dict[Parameter, JsonValue] = {
        Parameter.TEMPERATURE: settings.temperature,
        Parameter.SEED: settings.seed,
        Parameter.REASONING_EFFORT: settings.reasoning_effort,
    }
    for parameter, value in wanted.items():
        if value is not None and parameter not in manner.left_out:
            body[parameter.value] = value
    limit = _limit(order, manner, settings)
    if limit is not None:
        body["max_completion_tokens" if manner.completion_limit else "max_tokens"] = limit
    if manner.streams:
        body["stream"] = True
        if Parameter.STREAM_OPTIONS not in manner.left_out:
            body["stream_options"] = {"include_usage": True}
    return body


def schema_as_sent(order: Order, manner: Manner) -> Schema:
    """The schema of the answer in the words that the endpoint takes."""
    schema = bounded_schema(order.schema) if manner.bounded_schemas else order.schema
    return plain_schema(schema) if manner.plain_schemas else schema


def _messages(order: Order, manner: Manner, mode: Mode) -> list[JsonValue]:
    user = order.user
    if mode in WORDED_MODES:
        user += _FORM + orjson.dumps(order.schema).decode()
    if manner.role is Role.USER:
        return [{"role": "user", "content": f"{order.system}\n\n{user}"}]
    return [{"role": manner.role.value, "content": order.system}, {"role": "user", "content": user}]


def _form(schema: Schema, mode: Mode) -> dict[str, JsonValue]:
    """What asks for the form of the answer."""
    if mode is Mode.STRICT_SCHEMA:
        wanted: dict[str, JsonValue] = {"name": ANSWERS, "strict": True, "schema": schema}
        return {"response_format": {"type": "json_schema", "json_schema": wanted}}
    if mode is Mode.SCHEMA:
        return {"response_format": {"type": "json_schema", "json_schema": {"name": ANSWERS, "schema": schema}}}
    if mode is Mode.TOOL_CALL:
        function: JsonValue = {
            "name": ANSWERS,
            "description": "Takes the answers to all questions.",
            "parameters": schema,
        }
        choice: JsonValue = {"type": "function", "function": {"name": ANSWERS}}
        return {"tools": [{"type": "function", "function": function}], "tool_choice": choice}
    if mode is Mode.JSON_OBJECT:
        return {"response_format": {"type": "json_object"}}
    return {}


def _limit(order: Order, manner: Manner, settings: JudgeSettings) -> int | None:
    if Parameter.OUTPUT_LIMIT in manner.left_out:
        return None
    if settings.max_output_tokens is not None:
        return settings.max_output_tokens
    # Models that know the newer name mostly reason, which the estimate leaves no room for.
    return None if manner.completion_limit else output_limit(order.schema)
