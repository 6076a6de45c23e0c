"""Which spans and log records matter to the judging: a test on their bytes, without decoding them.

A false positive costs only that a span is held for a while; a false negative loses a judgement.
"""

from __future__ import annotations

from processors.conventions.claude_code import ClaudeCode
from processors.conventions.genai import GenAI
from processors.conventions.registry import MARKS, SCOPES

# Those of the most frequent spans first: what isn't found costs a look through the whole span.
_MARKS = (*GenAI.marks, *(mark for mark in MARKS if mark not in GenAI.marks))
_LOG_MARKS = (*GenAI.marks, *ClaudeCode.marks)
_OWN_SCOPE = b"\x0a\x09spanjudge"
"""InstrumentationScope.name as it is serialised: field 1, nine bytes."""
_OPERATION = b"gen_ai.operation.name\x12"
_EVALUATION = b"\x0c\x0a\x0aevaluation"
"""The attribute as it is serialised: key, then an AnyValue of twelve bytes with a string of ten."""


def wants(span: bytes, scope: bytes) -> bool:
    """Whether a serialised span may tell something about what an agent did. Never true of spans of our own."""
    for mark in _MARKS:  # a plain loop: this is asked of every span of every service
        if mark in span:
            return not is_own(span, scope)
    return scope.startswith(SCOPES)


def wants_log(record: bytes, scope: bytes) -> bool:
    """Whether a serialised log record may carry content of a model call."""
    return any(mark in record for mark in _LOG_MARKS) and not scope.startswith(_OWN_SCOPE)


def is_own(span: bytes, scope: bytes) -> bool:
    """Whether a serialised span is an evaluation, ours or somebody else's: forwarded, never judged or waited for."""
    if scope.startswith(_OWN_SCOPE):
        return True
    # The key stands near the beginning of most spans, so that looking for it alone ends soon.
    at = span.find(_OPERATION)
    return at >= 0 and span.startswith(_EVALUATION, at + len(_OPERATION))
