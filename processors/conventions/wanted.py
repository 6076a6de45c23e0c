"""Which spans and log records matter to the judging: a test on their bytes, without decoding them.

A false positive costs only that a span is held for a while; a false negative loses a judgement.
"""

from __future__ import annotations

import re

_MARKS = (
    rb"gen_ai\.",
    rb"llm\.",
    rb"openinference\.span\.kind",
    rb"traceloop\.",
    rb"langfuse\.observation\.",
    rb"langsmith\.",
    rb"mlflow\.span",
    rb"ai\.operationId",
    rb"gcp\.vertex\.agent",
    rb"pydantic_ai",
    rb"tool_name",
    rb"mcp\.",
    rb"tool\.",
)
_SPAN = re.compile(b"|".join(_MARKS))
_LOG = re.compile(rb"gen_ai\.|llm\.")
_OWN_SCOPE = b"\x0a\x09spanjudge"
"""InstrumentationScope.name as it is serialised: field 1, nine bytes."""
_OWN_OPERATION = re.compile(rb"gen_ai\.operation\.name\x12\x0c\x0a\x0aevaluation")
"""The attribute as it is serialised: key, then an AnyValue of twelve bytes with a string of ten."""


def wants(span: bytes, scope: bytes) -> bool:
    """Whether a serialised span may tell something about what an agent did. Never true of spans of our own."""
    return _SPAN.search(span) is not None and not is_own(span, scope)


def wants_log(record: bytes, scope: bytes) -> bool:
    """Whether a serialised log record may carry content of a model call."""
    return _LOG.search(record) is not None and not scope.startswith(_OWN_SCOPE)


def is_own(span: bytes, scope: bytes) -> bool:
    """Whether a serialised span is an evaluation, ours or somebody else's: forwarded, never judged or waited for."""
    return scope.startswith(_OWN_SCOPE) or _OWN_OPERATION.search(span) is not None
