"""JSON, and what Python writes of its objects, without the blanks that mean nothing.

In: the text of a result.  Out: the same without blanks beside a comma, a colon or a bracket, if all of it is made of
values, even if its end was cut off; any other text as it is.  Lines stay, so that what stands in several results can
still be told by its lines.  Nothing within quotes is changed.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"""
      (?P<value> "(?:[^"\\]|\\.)*+(?:"|\\?\Z) | '(?:[^'\\]|\\.)*+(?:'|\\?\Z) | [+-]?\d[\w.+-]* | \w+ )
    | (?P<sign> [{}\[\](),:] )
    | (?P<blank> [ \t\r]+ )
    | (?P<line> \n )
    """,
    re.VERBOSE | re.DOTALL,
)
_WORDS = {"null", "true", "false", "NaN", "Infinity", "None", "True", "False", "nan", "inf"}


def without_blanks(text: str) -> str:
    """The text without those blanks."""
    if not text.lstrip().startswith(("{", "[")):
        return text
    parts: list[str] = []
    at, beside_sign, waiting = 0, True, ""
    while (token := _TOKEN.match(text, at)) is not None:
        at = token.end()
        if token.lastgroup == "blank":
            waiting = token.group()
            continue
        is_value = token.lastgroup == "value"
        if is_value and token.group()[0].isalpha() and token.group() not in _WORDS and at < len(text):
            return text
        if waiting and not beside_sign and is_value:
            parts.append(waiting)
        parts.append(token.group())
        beside_sign, waiting = not is_value, ""
    return "".join(parts) if at == len(text) else text
