"""What refusals teach. The words are those that servers were seen to answer."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from evaluators.judge.endpoint.lessons import Sent, lesson
from evaluators.judge.endpoint.manner import SCHEMA_MODES, Manner, Mode, Parameter, Role
from evaluators.judge.endpoint.refusal import refusal_of

_FIRST = Manner()
_NO_SCHEMA = replace(_FIRST, unusable=SCHEMA_MODES)
_NO_TOOL = replace(_FIRST, unusable=SCHEMA_MODES | {Mode.TOOL_CALL})
_ONLY_WORDS = replace(_FIRST, unusable=frozenset(Mode) - {Mode.TEXT})


def _without(*parameters: Parameter, of: Manner = _FIRST) -> Manner:
    return replace(of, left_out=of.left_out | set(parameters))


def _openai(message: str, param: str | None = None, code: str | None = None) -> str:
    return json.dumps({"error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}})


def _learnt(body: str, *parameters: str, manner: Manner = _FIRST) -> Manner | None:
    sent = Sent(mode=manner.mode(), parameters=frozenset({"model", "messages", *parameters}), manner=manner)
    return lesson(sent, refusal_of(body.encode()))


@pytest.mark.parametrize(
    ("body", "sent", "learnt"),
    [
        # OpenAI
        (
            _openai(
                "Unsupported parameter: 'max_tokens' is not supported with this model. "
                "Use 'max_completion_tokens' instead.",
                "max_tokens",
                "unsupported_parameter",
            ),
            ("max_tokens", "response_format"),
            replace(_FIRST, completion_limit=True),
        ),
        (
            _openai(
                "Unsupported value: 'temperature' does not support 0 with this model. "
                "Only the default (1) value is supported.",
                "temperature",
                "unsupported_value",
            ),
            ("temperature",),
            _without(Parameter.TEMPERATURE),
        ),
        (
            _openai(
                "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
                "messages[0].role",
                "unsupported_value",
            ),
            (),
            replace(_FIRST, role=Role.USER),
        ),
        (
            _openai("max_tokens is too large: 32000. This model supports at most 16384 completion tokens, whereas you"),
            ("max_tokens",),
            _without(Parameter.OUTPUT_LIMIT),
        ),
        (
            _openai("Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model."),
            ("response_format",),
            _NO_SCHEMA,
        ),
        # Azure OpenAI
        (
            _openai(
                "response_format value as json_schema is enabled only for api versions 2024-08-01-preview and later"
            ),
            ("response_format",),
            _NO_SCHEMA,
        ),
        # Gemini's OpenAI endpoint
        (
            json.dumps(
                [
                    {
                        "error": {
                            "code": 400,
                            "message": 'Invalid JSON payload received. Unknown name "additionalProperties" at '
                            "'generation_config.response_schema': Cannot find field.",
                            "status": "INVALID_ARGUMENT",
                        }
                    }
                ]
            ),
            ("response_format",),
            replace(_FIRST, plain_schemas=True),
        ),
        (
            _openai("The specified schema produces a constraint that has too many states for serving."),
            ("response_format",),
            replace(_FIRST, plain_schemas=True),
        ),
        (
            _openai("Developer instruction is not enabled for models/gemma-3-27b-it"),
            (),
            replace(_FIRST, role=Role.USER),
        ),
        # DeepSeek
        (_openai("This response_format type is unavailable now"), ("response_format",), _NO_SCHEMA),
        (
            "Failed to deserialize the JSON body into the target type: response_format: response_format.type "
            "`json_schema` is unavailable now at line 1 column 12440",
            ("response_format",),
            _NO_SCHEMA,
        ),
        # Mistral
        (
            json.dumps(
                {
                    "object": "error",
                    "detail": [
                        {
                            "type": "extra_forbidden",
                            "loc": ["body", "seed"],
                            "msg": "Extra inputs are not permitted",
                            "input": 7,
                        },
                        {
                            "type": "extra_forbidden",
                            "loc": ["body", "reasoning_effort"],
                            "msg": "Extra inputs are not permitted",
                            "input": "low",
                        },
                    ],
                }
            ),
            ("seed", "reasoning_effort", "temperature"),
            _without(Parameter.SEED, Parameter.REASONING_EFFORT),
        ),
        # Groq
        (_openai("This model does not support response format `json_schema`."), ("response_format",), _NO_SCHEMA),
        # DashScope
        (
            _openai("This model only support stream mode, please enable the stream parameter to access the model. "),
            (),
            replace(_FIRST, streams=True),
        ),
        # LiteLLM
        (
            _openai(
                "litellm.UnsupportedParamsError: together_ai does not support parameters: ['response_format'], for "
                "model=x. To drop these, set `litellm.drop_params=True`"
            ),
            ("response_format",),
            _NO_SCHEMA,
        ),
        # vLLM
        (
            json.dumps(
                {
                    "object": "error",
                    "message": "'max_tokens' or 'max_completion_tokens' is too large: 4000. This model's maximum "
                    "context length is 8192 tokens and your request has 6000 input tokens (4000 > 8192 - 6000).",
                    "type": "BadRequestError",
                    "param": None,
                    "code": 400,
                }
            ),
            ("max_tokens",),
            _without(Parameter.OUTPUT_LIMIT),
        ),
        (
            json.dumps(
                {"object": "error", "message": "System role not supported", "type": "BadRequestError", "code": 400}
            ),
            (),
            replace(_FIRST, role=Role.USER),
        ),
        (
            _openai("Unsupported JSON schema: grammar error: xgrammar"),
            ("response_format",),
            replace(_FIRST, plain_schemas=True),
        ),
        # llama.cpp
        (
            _openai("Failed to initialize samplers: failed to parse grammar"),
            ("response_format",),
            replace(_FIRST, plain_schemas=True),
        ),
        # OpenRouter
        (
            json.dumps(
                {"error": {"message": "No endpoints found that can handle the requested parameters.", "code": 404}}
            ),
            ("response_format",),
            _NO_SCHEMA,
        ),
        # a gateway around another's error
        (
            json.dumps(
                {
                    "error": {
                        "message": "Provider returned error",
                        "code": 400,
                        "metadata": {"raw": '{"detail": "temperature is deprecated for this model"}'},
                    }
                }
            ),
            ("temperature",),
            _without(Parameter.TEMPERATURE),
        ),
        # a server that knows the form but not the word strict
        (
            json.dumps(
                {
                    "detail": [
                        {
                            "type": "extra_forbidden",
                            "loc": ["body", "response_format", "json_schema", "strict"],
                            "msg": "Extra inputs are not permitted",
                        }
                    ]
                }
            ),
            ("response_format",),
            replace(_FIRST, unusable=frozenset({Mode.STRICT_SCHEMA})),
        ),
    ],
)
def test_a_refusal_teaches_one_thing(body: str, sent: tuple[str, ...], learnt: Manner) -> None:
    assert _learnt(body, *sent) == learnt


@pytest.mark.parametrize(
    ("body", "manner", "learnt"),
    [
        (_openai("registry.ollama.ai/library/gemma:2b does not support tools"), _NO_SCHEMA, _NO_TOOL),
        (_openai("Thinking mode does not support this tool_choice"), _NO_SCHEMA, _NO_TOOL),
        (
            _openai('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
            _NO_SCHEMA,
            _NO_TOOL,
        ),
        (
            json.dumps({"error": {"message": "No endpoints found that support tool use.", "code": 404}}),
            _NO_SCHEMA,
            _NO_TOOL,
        ),
        (
            _openai(
                "Invalid JSON payload received. Unknown name \"$ref\" at 'tools[0].function_declarations[0].parameters'"
            ),
            _NO_SCHEMA,
            replace(_NO_SCHEMA, plain_schemas=True),
        ),
        (json.dumps({"error": "'response_format.type' must be 'json_schema' or 'text'"}), _NO_TOOL, _ONLY_WORDS),
        (_openai("response_format is not supported"), _ONLY_WORDS, None),
        (
            _openai("response_format: grammar error"),
            replace(_FIRST, plain_schemas=True),
            replace(_NO_SCHEMA, plain_schemas=True),
        ),
        (
            _openai("Unsupported value: 'messages[0].role' does not support 'developer' with this model."),
            replace(_FIRST, role=Role.DEVELOPER),
            replace(_FIRST, role=Role.USER),
        ),
        (
            _openai("Role 'system' is unsupported: unsupported role, use 'developer' instead"),
            _FIRST,
            replace(_FIRST, role=Role.DEVELOPER),
        ),
    ],
)
def test_what_is_left_grows_weaker_step_by_step(body: str, manner: Manner, learnt: Manner | None) -> None:
    assert _learnt(body, "response_format", "tools", manner=manner) == learnt


@pytest.mark.parametrize(
    ("body", "sent"),
    [
        (_openai("bad"), ("response_format",)),
        (_openai("The model `judge` does not exist", code="model_not_found"), ("response_format", "temperature")),
        (_openai("Incorrect API key provided"), ("response_format",)),
        (_openai("temperature is out of range"), ("seed",)),
        (
            _openai("This model's maximum context length is 8192 tokens. However, your messages resulted in 9011"),
            ("seed",),
        ),
        ("", ("response_format",)),
        ('<html><script src="https://schema.org/function"></script>Not Found</html>', ("response_format",)),
        ("[]", ("response_format",)),
        (
            json.dumps(
                {
                    "detail": [
                        {
                            "type": "value_error",
                            "loc": ["body", "messages"],
                            "msg": "Value error",
                            "input": "the user asked for the temperature, response_format and tools",
                        }
                    ]
                }
            ),
            ("temperature", "response_format"),
        ),
    ],
)
def test_what_has_another_reason_teaches_nothing(body: str, sent: tuple[str, ...]) -> None:
    assert _learnt(body, *sent) is None


@pytest.mark.parametrize(
    ("body", "window", "prompt"),
    [
        (
            _openai(
                "This model's maximum context length is 8192 tokens. However, your messages resulted in 9011 tokens."
            ),
            8192,
            9011,
        ),
        (
            json.dumps(
                {
                    "error": {
                        "code": 400,
                        "message": "the request exceeds the available context size, try increasing it",
                        "type": "exceed_context_size_error",
                        "n_prompt_tokens": 9011,
                        "n_ctx": 4096,
                    }
                }
            ),
            4096,
            9011,
        ),
        (
            _openai("request (9011 tokens) exceeds the available context size (8192 tokens), try increasing it"),
            8192,
            9011,
        ),
        (_openai("prompt is too long: 204275 tokens > 200000 maximum"), 200000, 204275),
        (_openai("the request is too large"), None, None),
    ],
)
def test_how_much_a_model_can_read_is_taken_from_the_words(body: str, window: int | None, prompt: int | None) -> None:
    refusal = refusal_of(body.encode())
    assert (refusal.window_tokens, refusal.prompt_tokens) == (window, prompt)


def test_every_lesson_leads_on_so_that_no_refusal_is_met_twice() -> None:
    manner, met = _FIRST, []
    while (
        learnt := _learnt(_openai("response_format, tools and grammar are not supported"), manner=manner)
    ) is not None:
        assert learnt not in met
        met.append(learnt)
        manner = learnt
    assert manner.mode() is Mode.TEXT
