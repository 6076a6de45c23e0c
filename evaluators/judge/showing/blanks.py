"""JSON, and what Python writes of its objects, without the blanks that mean nothing.

In: the text of a result.  Out: the same without blanks beside a comma, a colon or a bracket, if all of it is made of
values, even if its end was cut off; any other text as it is.  Lines stay, so that what stands in several results can
still be told by its lines.  Nothing within quotes is changed.
"""

from __future__ import annotations

import re

_MOST_CHARS = 200_000
"""So long a text is cut in any case."""
_QUOTED = r"""(?:"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|'(?:[^'\\]|\\.)*+(?:'|\\?\Z))"""
_WORD = r"(?:(?:null|true|false|NaN|Infinity|None|True|False|nan|inf)\b|[A-Za-z]+\Z|[+-]*+\d[\w.+-]*+)"
_VALUES = re.compile(rf"(?:{_QUOTED}|{_WORD}|[{{}}\[\](),:\s])*+", re.DOTALL)
_BLANKS = re.compile(
    rf"({_QUOTED})|(?<=[{{}}\[\](),:\n])[ \t\r]++|(?<![ \t\r])[ \t\r]++(?=[{{}}\[\](),:\n]|\Z)",
    re.DOTALL,
)


def without_blanks(text: str) -> str:
    """The text without those blanks."""
    if len(text) > _MOST_CHARS or not text.lstrip().startswith(("{", "[")) or not _VALUES.fullmatch(text):
        return text
    return _BLANKS.sub(r"\1", text)
