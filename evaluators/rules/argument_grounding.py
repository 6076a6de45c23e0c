"""Which values of a call's arguments come from nothing the model was told.

In: the texts the model had seen (`Evidence`) and the arguments with their schemas.  Out: the values that no message,
system prompt, earlier result, default or documented choice gives, not even by arithmetic, another spelling or another
script.  Always a suspicion: what is common knowledge, composed or inferred can't be told apart here, so whatever could
be that is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from evaluators.cases import JsonValue
from evaluators.rules.evidence import CJK, Evidence, plain
from evaluators.rules.schema_forms import Schema

_MOST_LEAVES = 60
_LARGEST_NUMBER = 1e15


@dataclass(frozen=True, slots=True)
class Value:
    """A scalar among the arguments, with the name of its field and that field's schema."""

    argument: str
    path: str
    name: str
    value: str | int | float
    schema: Schema


def values_of(arguments: Mapping[str, JsonValue], properties: Mapping[str, Schema]) -> Iterator[Value]:
    """Every text and number among the arguments (no truth values, no nulls), at most sixty."""
    given = 0
    for argument, top in arguments.items():
        stack: list[tuple[str, str, JsonValue, Schema]] = [(argument, argument, top, properties.get(argument, {}))]
        while stack and given < _MOST_LEAVES:
            path, name, value, schema = stack.pop()
            if isinstance(value, dict):
                inner = schema.get("properties")
                known = inner if isinstance(inner, dict) else {}
                stack += [(f"{path}.{key}", key, one, _schema(known.get(key))) for key, one in value.items()]
            elif isinstance(value, list):
                items = _schema(schema.get("items"))
                described = {"description": schema["description"], **items} if "description" in schema else items
                stack += [(f"{path}[{place}]", name, one, described) for place, one in enumerate(value)]
            elif isinstance(value, str | int | float) and not isinstance(value, bool):
                given += 1
                yield Value(argument, path, name, value, schema)


def ungrounded(value: Value, evidence: Evidence) -> bool:
    """Whether nothing the model had seen gives this value."""
    if evidence.cut or "enum" in value.schema or value.schema.get("default") == value.value:
        return False
    if isinstance(value.value, str):
        return _text_ungrounded(value, value.value, evidence)
    if not abs(value.value) < _LARGEST_NUMBER:
        return False
    return _number_ungrounded(value.name, float(value.value), value, evidence)


_COMPOSED = re.compile(
    r"(?:^|_)(?:query|q|search|keywords?|text|content|contents|body|message|msg|prompt|question|instructions?|description"
    r"|details?|note|notes|comment|comments|summary|subject|title|reason|thought|thoughts|code|script|command|sql"
    r"|expression|formula|function|template|html|markdown|data|json|payload|input|output|task|plan|steps?|label|tags?"
    r"|topic|context|language|lang|locale|format|unit|units|type|kind|mode|style|sort|order|category|fields?|columns?"
    r"|url|uri|path|file|filename|headers?|method|timezone|time_zone|tz|country|currency|genre|status|level)(?:$|_)"
)
_TUNING = re.compile(
    r"(?:^|_)(?:limit|top|top_?k|k|n|max|min|count|size|page|pages|per|offset|skip|depth|radius|timeout|retries|results?"
    r"|num|precision|decimals?|seed|temperature|threshold|version|lat|latitude|lon|lng|long|longitude|zoom|tolerance"
    r"|population|iterations|step|index|start)(?:$|_)"
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LONGEST_NAME_CHARS = 60
_FACTORS = (1, 100, 1_000, 1_000_000, 60, 3_600, 24, 7, 12, 30, 365, 1_440, 86_400, 2)
_MOST_OPERANDS = 12
# centimetres in an inch, metres in foot and yard, kilometres in a mile, kilograms in a pound, grams in an ounce, ...
_UNIT_FACTORS = (2.54, 0.3048, 0.9144, 1.609344, 0.45359237, 28.349523, 3.785412, 3.6)
_EQUAL = 1e-9
_ROUNDING = 0.005
_ROUNDED_DEGREES = 0.06
_AMOUNT = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,6})?")
_WORD = re.compile(r"[^\W\d_]{3,}")
_CODE = re.compile(r"[A-Z]{2,5}")
_DATE = re.compile(
    r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|[a-z]{3,9}\.? ?\d{1,2}(?:st|nd|rd|th)?,? ?\d{4}|\d{8}", re.IGNORECASE
)
# a flight, a bus line, a seat: OS 471
_SPACED_ID = re.compile(r"[A-Z]{1,3} \d{1,5}")
_MONTH = re.compile(r"JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC|MAI|OKT|DEZ")
_TIME = re.compile(r"\d{1,2}:\d{2}(?::\d{2})?(?: ?[ap]\.?m\.?)?|\d{1,2} ?[ap]\.?m\.?", re.IGNORECASE)
_DAY_WORDS = re.compile(
    r"today|tonight|tomorrow|yesterday|now|current|this |next |last |coming|weekend|(?:mon|tues|wednes|thurs|fri|satur"
    r"|sun)day|\bjan|\bfeb|\bmar|\bapr|\bmay|\bjun|\bjul|\baug|\bsep|\boct|\bnov|\bdec|spring|summer|autumn|fall|winter"
    r"|christmas|holiday|\bdays?\b|\bweeks?\b|\bmonths?\b|\byears?\b|今|明|昨|周|星期|月|日|号"
)
_TIME_WORDS = re.compile(
    r"\d|morning|noon|midday|afternoon|evening|night|midnight|o'clock|half past|quarter|now|early|late|soon"
    r"|点|时|早|晚|午"
)
_LISTED_AS_EXAMPLE = re.compile(
    r"(?:e\.?g\.?|such as|for example|for instance|like|example|例如|比如|如)[^;\n]*$", re.IGNORECASE
)


def _text_ungrounded(value: Value, raw: str, evidence: Evidence) -> bool:
    text = plain(raw).strip()
    name = _CAMEL.sub("_", value.name).lower()
    if (len(text) < 2 and not text.isdigit()) or len(text) > _LONGEST_NAME_CHARS or evidence.says(text):
        return False
    if _documented(raw, value.schema):
        return False
    if _DATE.fullmatch(raw.strip()) or _TIME.fullmatch(raw.strip()) or re.match(r"\d{4}-\d{2}-\d{2}[t ]", text):
        words = _DAY_WORDS if not _TIME.fullmatch(raw.strip()) else _TIME_WORDS
        parts = {float(part) for part in re.findall(r"\d+", text)}
        return not (words.search(evidence.text) or any(evidence.has_number(part, part) for part in parts))
    if _SPACED_ID.fullmatch(raw.strip()) and not _MONTH.match(raw.strip()):
        return re.sub(r"\s", "", text) not in evidence.digits
    if _looks_like_id(text):
        bare = re.sub(r"[\s().,/:_+-]", "", text)
        if _AMOUNT.fullmatch(text) and bare not in evidence.digits and evidence.has_number(float(text), float(text)):
            # said in other numerals: 30000 as 3万
            return False
        return not (len(bare) >= 5 and bare in evidence.digits) and not _COMPOSED.search(name)
    if _COMPOSED.search(name) or _CODE.fullmatch(raw):
        return False
    if CJK.search(raw):
        return bool(CJK.search(evidence.text)) and not any(pair in evidence.text for pair in _pairs(text))
    if not _is_proper_name(raw) or (CJK.search(evidence.text) and not re.search(r"[a-z]{4}", evidence.text)):
        return False
    parts_of_name = _WORD.findall(text)
    if len(parts_of_name) > 1 and _abbreviated("".join(part[0] for part in parts_of_name), evidence):
        return False
    return not any(part[: max(4, len(part) - 3)] in evidence.text for part in parts_of_name)


def _abbreviated(initials: str, evidence: Evidence) -> bool:
    """Whether the initials of a name stand there, with or without a further letter (`NYC` for New York)."""
    return (
        evidence.says(initials)
        or re.search(rf"(?<![^\W_]){re.escape(initials)}[a-z](?![^\W_])", evidence.text) is not None
    )


def _number_ungrounded(name: str, number: float, value: Value, evidence: Evidence) -> bool:
    name = _CAMEL.sub("_", name).lower()
    if number in (0, 1, -1) or _TUNING.search(name):
        return False
    shown = f"{value.value}"
    if evidence.says(shown) or _documented(shown, value.schema):
        return False
    if any(_stands_by_factor(number, factor, evidence) for factor in _FACTORS) or _converts(number, evidence):
        return False
    said = evidence.numbers
    if not said or len(said) > _MOST_OPERANDS:
        # Nothing numeric was said at all (the value is inferred), or too much to rule out arithmetic.
        return False
    return not any(
        abs(number - result) <= _EQUAL * max(1.0, abs(number))
        for one in said
        for other in said
        for result in (one + other, one - other, one * other, -one, *((one / other,) if other else ()))
    )


def _stands_by_factor(number: float, factor: float, evidence: Evidence) -> bool:
    """Whether a number was said of which this is `factor` times as much, or the other way round."""
    margin = _EQUAL * max(1.0, abs(number)) / factor
    if evidence.has_number(number / factor - margin, number / factor + margin):
        return True
    margin = _EQUAL * max(1.0, abs(number * factor))
    return evidence.has_number(number * factor - margin, number * factor + margin)


def _converts(number: float, evidence: Evidence) -> bool:
    """Whether it was said in a usual other unit (feet and metres, pounds and kilograms, °F and °C), rounded."""
    for factor in _UNIT_FACTORS if number > 0 else ():
        for low, high in (
            (number / factor / (1 + _ROUNDING), number / factor / (1 - _ROUNDING)),
            (number * factor * (1 - _ROUNDING), number * factor * (1 + _ROUNDING)),
        ):
            if evidence.has_number(low, high):
                return True
    low, high = number - _ROUNDED_DEGREES, number + _ROUNDED_DEGREES
    return evidence.has_number(low * 1.8 + 32, high * 1.8 + 32) or evidence.has_number(
        (low - 32) / 1.8, (high - 32) / 1.8
    )


def _documented(raw: str, schema: Schema) -> bool:
    """Whether the description offers the value as a choice, and not as an example only."""
    description = schema.get("description")
    if not isinstance(description, str):
        return False
    place = plain(description).find(plain(raw))
    return place >= 0 and _LISTED_AS_EXAMPLE.search(description[:place]) is None


def _looks_like_id(text: str) -> bool:
    return "@" in text or (any(char.isdigit() for char in text) and not re.search(r"\s", text))


def _is_proper_name(raw: str) -> bool:
    words = raw.split()
    capitals = [word for word in words if word[:1].isupper()]
    return (
        0 < len(words) <= 6
        and all(word in capitals or len(word) <= 3 for word in words)
        and capitals != []
        and not raw.isupper()
    )


def _pairs(text: str) -> Iterator[str]:
    for place in range(len(text) - 1):
        if CJK.match(text[place]) and CJK.match(text[place + 1]):
            yield text[place : place + 2]


def _schema(value: JsonValue) -> Schema:
    return value if isinstance(value, dict) else {}
