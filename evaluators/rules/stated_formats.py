"""Formats that a schema states in words (`YYYY-MM-DD`, "IATA code", "ids have the form u_<digits>") or as `format`.

In: a text value and the schema of its argument.  Out: the format it doesn't have, in words, or None.  Always a
suspicion: tools accept more than their descriptions say, and a description can list several forms.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from evaluators.rules.schema_forms import Schema

_LONGEST_DESCRIPTION = 2_000
_LONGEST_VALUE = 200


def unmet_format(value: str, schema: Schema) -> str | None:
    """The format that `value` was to have and doesn't; None when it has it, or none is stated."""
    description = schema.get("description")
    text = description[:_LONGEST_DESCRIPTION] if isinstance(description, str) else ""
    text_value = value.strip()
    if not text_value or len(text_value) > _LONGEST_VALUE or value == schema.get("default"):
        return None
    if re.search(rf"(?<!\w){re.escape(text_value)}(?!\w)", text, re.IGNORECASE):
        return None
    patterns = [*_templates(text), *_named(text)]
    if patterns:
        if any(pattern.fullmatch(text_value) for _, pattern in patterns):
            return None
        return " or ".join(dict.fromkeys(name for name, _ in patterns))
    declared = schema.get("format")
    check = _DECLARED.get(declared) if isinstance(declared, str) else None
    return str(declared) if check is not None and not check(text_value) else None


# Letters of a date or time template; separators stand for themselves.
_TEMPLATE = re.compile(
    r"(?<![A-Za-z])(?:YYYY|yyyy|DD|dd|MM|YY|HH|hh|mm|M|D)"
    r"(?:[-/.:, T]{1,2}(?:'T')?(?:YYYY|yyyy|DD|dd|MM|Month|YY|HH|hh|mm|MI|SS|ss|M|D|Z)){1,5}(?![-/:.]?[A-Za-z])"
)
_TOKEN = re.compile(r"YYYY|yyyy|Month|YY|MM|MI|DD|dd|HH|hh|mm|SS|ss|M|D|Z|.")
_FORMS = {
    "YYYY": r"\d{4}", "yyyy": r"\d{4}", "YY": r"\d{2}", "M": r"\d{1,2}", "D": r"\d{1,2}", "Month": r"[A-Za-z]+",
    "Z": r"(?:Z|[+-]\d{2}:?\d{2})?",
    **dict.fromkeys(("MM", "MI", "DD", "dd", "HH", "hh", "mm", "SS", "ss"), r"\d{2}"),
}  # fmt: skip


def _templates(text: str) -> list[tuple[str, re.Pattern[str]]]:
    found = []
    for match in list(_TEMPLATE.finditer(text))[:6]:
        body = "".join(_FORMS.get(token, re.escape(token)) for token in _TOKEN.findall(match.group()))
        found.append((match.group(), re.compile(body + r"(?:\s?[AaPp]\.?[Mm]\.?)?")))
    return found


_ISO_DATE_TIME = r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
_NAMES: tuple[tuple[str, re.Pattern[str], re.Pattern[str]], ...] = tuple(
    (name, re.compile(said, re.IGNORECASE), re.compile(form))
    for name, said, form in (
        ("an IATA code", r"\biata\b|\b(?:three|3)[- ]letter (?:airport|city) code", r"[A-Z]{3}"),
        ("an ICAO code", r"\bicao\b", r"[A-Z0-9]{4}"),
        ("ISO 8601", r"\biso[- ]?8601\b", _ISO_DATE_TIME + r"|\d{2}:\d{2}(?::\d{2})?Z?|P[0-9YMWDTHS.]+"),
        ("a currency code of ISO 4217", r"\biso[- ]?4217\b|\b(?:three|3)[- ]letter currency", r"[A-Z]{3}"),
        ("a country code of two letters", r"\b(?:two|2)[- ]letter country|alpha-2", r"[A-Za-z]{2}"),
        ("a country code of three letters", r"\b(?:three|3)[- ]letter country|alpha-3", r"[A-Za-z]{3}"),
        ("a language code of two letters", r"\biso[- ]?639-1\b", r"[A-Za-z]{2}(?:[-_][A-Za-z]{2,4})?"),
        ("two letters", r"\b(?:two|2)[- ]letter (?:state|language)", r"[A-Za-z]{2}"),
        ("a UUID", r"\buuid\b", r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"),
        ("E.164", r"\be\.164\b", r"\+\d{7,15}"),
        ("a hexadecimal colour", r"\bhex(?:adecimal)? colou?r", r"#?(?:[0-9a-fA-F]{3,4}){1,2}"),
    )
)
_OR_SOMETHING_ELSE = re.compile(
    r"(?: \w+){0,2},? or (?:the |a |an )?(?:\w+ ){0,3}(?:name|city|code|date|id)", re.IGNORECASE
)
_OF_THE_FORM = re.compile(
    r"(?:of|in|have|has|with) the form(?:at)?(?: of)?:? [\"'`]?([A-Za-z0-9_#-]{0,12}<digits?>)", re.IGNORECASE
)


def _named(text: str) -> list[tuple[str, re.Pattern[str]]]:
    found = []
    for name, said, form in _NAMES:
        spoken = said.search(text)
        if spoken is not None and not _OR_SOMETHING_ELSE.match(text, spoken.end()):
            found.append((name, form))
    for match in list(_OF_THE_FORM.finditer(text))[:4]:
        prefix = match[1][: match[1].index("<")]
        found.append((f"the form {match[1]}", re.compile(re.escape(prefix) + r"\d+")))
    return found


def _fits(form: str) -> Callable[[str], bool]:
    pattern = re.compile(form)
    return lambda value: pattern.fullmatch(value) is not None


_DECLARED: dict[str, Callable[[str], bool]] = {
    "date": _fits(r"\d{4}-\d{2}-\d{2}"),
    "date-time": _fits(_ISO_DATE_TIME),
    "time": _fits(r"\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?"),
    "email": _fits(r"[^\s@]+@[^\s@]+"),
    "uuid": _fits(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"),
    "uri": _fits(r"[A-Za-z][A-Za-z0-9+.-]*:\S+"),
    "ipv4": _fits(r"\d{1,3}(?:\.\d{1,3}){3}"),
}
