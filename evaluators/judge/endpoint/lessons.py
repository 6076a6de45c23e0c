"""What the refusal of an endpoint teaches about how it wants to be asked: a pure function.

In: how it was asked and the words in which it refused.  Out: how to ask from now on, or None when the refusal says
nothing of that kind.  Only what was sent can be the reason, and only words that name it count; time-outs, rate limits
and failures of the server never come here.

Servers word refusals as they like.  The patterns follow what these were seen to answer: OpenAI, Azure OpenAI, Gemini,
Anthropic, DeepSeek, Mistral, Groq, DashScope, OpenRouter, LiteLLM, vLLM, SGLang, llama.cpp, LM Studio, Ollama.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from evaluators.judge.endpoint.manner import SCHEMA_MODES, Manner, Mode, Parameter, Role
from evaluators.judge.endpoint.refusal import Refusal

TOO_LONG = re.compile(
    r"context.?(?:length|window|size)|maximum context|too many tokens|(?:prompt|input|request) is too l|"
    r"token count .{0,20}exceeds",
    re.IGNORECASE,
)
"""A request that is longer than the model can read."""

_NO_SYSTEM_ROLE = re.compile(
    r"system role not supported|role.{0,20}does not support '?(?:system|developer)|"
    r"system (?:message|prompt|instruction)s? (?:is|are) not|conversation roles must alternate|"
    r"(?:system|developer) instruction is not enabled|"
    r"(?:system|developer)'? is not one of|(?:unknown|invalid|unsupported) (?:message )?role|unexpected role",
    re.IGNORECASE,
)
_ASK_AS_DEVELOPER = re.compile(r"use (?:the )?[`'\"]?developer|developer.{0,20} instead", re.IGNORECASE)
_ONLY_STREAMS = re.compile(
    r"only supports? stream|stream(?:ing)? (?:is required|must be (?:set to )?true)|"
    r"non-?stream\w* .{0,30}not supported|please (?:enable|set|use) (?:the )?stream",
    re.IGNORECASE,
)
_SCHEMA_WORDS = re.compile(
    r"response.?format|response.?schema|json.?schema|json.?mode|structured.?output|guided|grammar|sampler|schema|"
    r"no endpoints found|output.?config",
    re.IGNORECASE,
)
_TOOL_WORDS = re.compile(
    r"\btools?\b|tool.?(?:choice|call|use)|function|no endpoints found|schema|grammar", re.IGNORECASE
)
_KEYWORD_TROUBLE = re.compile(
    r"additional_?properties|\$ref\b|\$defs|any_?of|unknown name|too many states|invalid schema|unrecognized schema|"
    r"unsupported schema|(?<!json.)schema .{0,60}(?:not (?:supported|permitted)|is invalid)|grammar|sampler|nesting|"
    r"keyword",
    re.IGNORECASE,
)
_BOUND = re.compile(r"max_?(?:items|length)", re.IGNORECASE)
_STRICT_WORD = re.compile(r"\bstrict\b", re.IGNORECASE)
_LIMITS = frozenset(("max_tokens", "max_completion_tokens"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What a request asked for: `parameters` are the names in its body, `manner` what was known when it was sent."""

    mode: Mode
    parameters: frozenset[str]
    manner: Manner


def lesson(sent: Sent, refusal: Refusal) -> Manner | None:
    """How to ask from now on; None when the refusal has another reason."""
    manner = sent.manner
    if TOO_LONG.search(refusal.words):
        return _without_limit(sent, refusal)
    if manner.role is not Role.USER and (
        _NO_SYSTEM_ROLE.search(refusal.words)
        or (refusal.parameter.startswith("messages") and "role" in refusal.parameter)
    ):
        developer = manner.role is Role.SYSTEM and _ASK_AS_DEVELOPER.search(refusal.words)
        return replace(manner, role=Role.DEVELOPER if developer else Role.USER)
    if not manner.streams and _ONLY_STREAMS.search(refusal.words):
        return replace(manner, streams=True)
    renamed = _limit_by_another_name(sent, refusal)
    if renamed is not None:
        return renamed
    named = {parameter for parameter in Parameter if _is_refused(parameter, sent, refusal)}
    if named:
        return replace(manner, left_out=manner.left_out | named)
    return _weaker(sent, refusal)


def _without_limit(sent: Sent, refusal: Refusal) -> Manner | None:
    # What may be written counts as if it were written: without a limit the rest of the window is left for it.
    limits = sent.parameters & _LIMITS
    if not limits or not (any(map(refusal.names, limits)) or "completion" in refusal.words):
        return None
    return replace(sent.manner, left_out=sent.manner.left_out | {Parameter.OUTPUT_LIMIT})


def _limit_by_another_name(sent: Sent, refusal: Refusal) -> Manner | None:
    words = refusal.words
    if "max_tokens" not in sent.parameters or not refusal.names("max_tokens") or "too large" in words:
        return None
    return replace(sent.manner, completion_limit=True) if "max_completion_tokens" in words else None


def _is_refused(parameter: Parameter, sent: Sent, refusal: Refusal) -> bool:
    if parameter is Parameter.OUTPUT_LIMIT:
        return any(map(refusal.names, sent.parameters & _LIMITS))
    return parameter.value in sent.parameters and refusal.names(parameter.value)


def _weaker(sent: Sent, refusal: Refusal) -> Manner | None:
    manner, mode, words = sent.manner, sent.mode, f"{refusal.words} {refusal.parameter}"
    if manner.bounded_schemas and _BOUND.search(words):
        return replace(manner, bounded_schemas=False, left_out=manner.left_out | {Parameter.BOUNDS})
    if mode is Mode.TEXT:
        return None
    if not (_TOOL_WORDS if mode is Mode.TOOL_CALL else _SCHEMA_WORDS).search(words):
        return None
    if mode is Mode.STRICT_SCHEMA and _STRICT_WORD.search(words):
        return replace(manner, unusable=manner.unusable | {mode})
    if mode is not Mode.JSON_OBJECT and not manner.plain_schemas and _KEYWORD_TROUBLE.search(words):
        return replace(manner, plain_schemas=True)
    refused = SCHEMA_MODES if mode in SCHEMA_MODES else {mode}
    return replace(manner, unusable=manner.unusable | refused)
