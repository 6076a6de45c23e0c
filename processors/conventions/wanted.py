"""Which spans and log records matter to the judging: a test on their bytes, without decoding them.

A false positive costs only that a span is held for a while; a false negative loses a judgement.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from processors.conventions.dialects.claude_code import ClaudeCode
from processors.conventions.dialects.genai import GenAI
from processors.conventions.registry import MARKS, SCOPES

# This is asked of every span of every service, most of which are nobody's, and each search reads all of a span.  So
# what several marks begin with is looked for before them.
_GEN_AI, _TOOL, _QUOTE = b"gen_ai.", b"tool", b'"'
# What spans nobody knows are called may stand within a key, and what begins with a quotation mark stands in a text.
_TOOLS = tuple(mark for mark in MARKS if mark.startswith(_TOOL))
_QUOTED = tuple(mark for mark in MARKS if mark.startswith(_QUOTE))
# All others begin a key (field 1 of its message) or the span's name (field 5), after its length in one or two bytes.
_OTHERS = tuple(mark for mark in MARKS if not mark.startswith((_GEN_AI, _TOOL, _QUOTE)))
_ALIKE = b"".join(b"[" + re.escape(bytes(column)) + b"]" for column in zip(*_OTHERS, strict=False))
_MARK = rb"[\x80-\xff]?.(?=" + _ALIKE + rb")(?:" + b"|".join(map(re.escape, _OTHERS)) + rb")"
_in_key, _in_name = (re.compile(field + _MARK, re.DOTALL).search for field in (rb"\x0a", rb"\x2a"))
_LOG_MARKS = (*GenAI.marks, *ClaudeCode.marks)
_OWN_SCOPE = b"\x0a\x09spanjudge"
"""InstrumentationScope.name as it is serialised: field 1, nine bytes."""


def wants(span: bytes, scope: bytes) -> bool:
    """Whether a serialised span may tell something about what an agent did. Never true of spans of our own.

    It is true of evaluations by others: what is below them is a judge's work, which has to be known to be left alone.
    """
    return (
        _GEN_AI in span
        or _in_key(span) is not None
        or _in_name(span) is not None
        or scope.startswith(SCOPES)
        or (_TOOL in span and _has_any(_TOOLS, span))
        or (_QUOTE in span and _has_any(_QUOTED, span))
    ) and not is_own(scope)


def _has_any(marks: Iterable[bytes], span: bytes) -> bool:
    for mark in marks:  # noqa: SIM110 - a plain loop, as it is the fastest
        if mark in span:
            return True
    return False


def wants_log(record: bytes, scope: bytes) -> bool:
    """Whether a serialised log record may carry content of a model call."""
    return any(mark in record for mark in _LOG_MARKS) and not is_own(scope)


def is_own(scope: bytes) -> bool:
    """Whether spans and records of this scope are our own: forwarded at once, never judged or waited for."""
    return scope.startswith(_OWN_SCOPE)
