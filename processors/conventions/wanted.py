"""Which spans and log records matter to the judging: a test on their bytes, without decoding them.

A false positive costs only that a span is held for a while; a false negative loses a judgement.
"""

from __future__ import annotations

import re

from processors.conventions.dialects.claude_code import ClaudeCode
from processors.conventions.dialects.genai import GenAI
from processors.conventions.dialects.generic import Generic
from processors.conventions.registry import MARKS, SCOPES

# Those of the most frequent spans first.  What spans nobody knows are called may stand within a key, and what begins
# with a quotation mark stands in a text.
_ANYWHERE = tuple(dict.fromkeys((*GenAI.marks, *Generic.marks, *(mark for mark in MARKS if not mark[:1].isalpha()))))
# All others begin a key (field 1 of its message) or the span's name (field 5), after its length in one or two bytes.
# Few searches for all of them: this is asked of every span of every service, and most are nobody's.
_MARK = b"|".join(re.escape(mark) for mark in MARKS if mark not in _ANYWHERE)
_IN_KEY, _IN_NAME = (
    re.compile(field + rb".{1,2}?(?:" + _MARK + rb")", re.DOTALL).search for field in (rb"\x0a", rb"\x2a")
)
_LOG_MARKS = (*GenAI.marks, *ClaudeCode.marks)
_OWN_SCOPE = b"\x0a\x09spanjudge"
"""InstrumentationScope.name as it is serialised: field 1, nine bytes."""
_OPERATION = b"gen_ai.operation.name\x12"
_EVALUATION = b"\x0c\x0a\x0aevaluation"
"""The attribute as it is serialised: key, then an AnyValue of twelve bytes with a string of ten."""


def wants(span: bytes, scope: bytes) -> bool:
    """Whether a serialised span may tell something about what an agent did. Never true of spans of our own."""
    for mark in _ANYWHERE:  # a plain loop, as it is the fastest
        if mark in span:
            return not is_own(span, scope)
    if _IN_KEY(span) or _IN_NAME(span):
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
