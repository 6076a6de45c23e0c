"""What kind of quantity a field of a tool's result holds, told by its name, its own text or the fields beside it.

In goes a leaf of a structured result, out come its kind and numbers, or nothing when no kind is certain enough.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from evaluators.cases import JsonValue
from evaluators.rules.numbers import quantities
from evaluators.rules.structured import Leaf
from evaluators.rules.units import UNIT_KINDS, Kind

_MAX_TEXT_CHARS = 200


@dataclass(frozen=True, slots=True)
class FieldValue:
    """A number in a result: its kind, its value without sign, the column it stands in, and its place in one list."""

    kind: Kind
    value: float
    column: str
    place: str
    unit: str | None = None


def field_values(leaf: Leaf, tool: str = "") -> list[FieldValue]:
    """The quantities in a leaf of a result of `tool`; one whose field's name says nothing has kind number."""
    if isinstance(leaf.value, bool):
        return []
    if isinstance(leaf.value, int | float):
        if abs(leaf.value) > 1e18 or leaf.value != leaf.value:
            return []
        return [FieldValue(kind_of_field(leaf, tool), abs(float(leaf.value)), leaf.column, leaf.place, _unit(leaf))]
    if len(leaf.value) > _MAX_TEXT_CHARS or not any(c.isdigit() for c in leaf.value):
        return []
    found = []
    for quantity in quantities(leaf.value):
        if quantity.kind in (Kind.DATE, Kind.TIME):
            continue
        kind: Kind = quantity.kind
        if kind is Kind.NUMBER and len(quantity.text) == len(leaf.value.strip(" +-")):
            kind = kind_of_field(leaf, tool)
        unit = quantity.unit or _unit(leaf)
        found += [FieldValue(kind, value, leaf.column, leaf.place, unit) for value, _ in quantity.values]
    return found


def kind_of_field(leaf: Leaf, tool: str = "") -> Kind:
    """The kind that the field's name gives its number, else the kind of the unit written beside it.

    A field that is called no more than "result" goes by the words of the tool's name.
    """
    words = _words(leaf.key)
    if leaf.key in UNNAMED:
        words = _words(tool)
    if words and words[-1] in _NO_QUANTITY:
        return Kind.NUMBER
    if len(words) > 1 and words[-1] in ("c", "f"):
        return Kind.TEMPERATURE
    for word in reversed(words):
        if word in _FIELD_KINDS:
            return _FIELD_KINDS[word]
    # "value" says nothing, "value" beside "currency" or "unit": "km" does
    if leaf.siblings and words and words[-1] in _BARE_NAMES:
        for name, value in list(leaf.siblings.items())[:20]:
            if not isinstance(value, str) or len(value) > 20:
                continue
            if "currency" in name.lower() and leaf.key.lower() not in _NO_MONEY:
                return Kind.CURRENCY
            if "unit" in name.lower():
                return UNIT_KINDS.get(value.lower().strip(" ."), Kind.NUMBER)
    return Kind.NUMBER


def _words(name: str) -> list[str]:
    return [match.group().lower() for match in _WORD.finditer(name[:100])]


def _unit(leaf: Leaf) -> str | None:
    """The unit that the field's name ends in (`price_usd`, `temp_c`) or that stands beside it, in lower case."""
    words = _words(leaf.key)
    if len(words) > 1 and words[-1] in UNIT_KINDS:
        return words[-1]
    beside: dict[str, JsonValue] = leaf.siblings or {}
    for name in list(beside)[:20]:
        unit = beside[name]
        if ("unit" in name.lower() or "currency" in name.lower()) and isinstance(unit, str) and len(unit) <= 20:
            return unit.lower()
    return None


UNNAMED = frozenset({"", "output", "result", "results", "value", "data", "response", "answer", "content", "text"})
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_a-zA-Z]+")
_NO_QUANTITY = frozenset(
    {"id", "ids", "code", "codes", "key", "count", "index", "type", "name", "date", "time", "year"}
)
_NO_MONEY = frozenset({"quantity", "measurement", "reading"})
_BARE_NAMES = frozenset({"value", "amount", "quantity", "measurement", "reading", "total"})
_FIELD_WORDS: dict[Kind, str] = {
    Kind.TEMPERATURE: "temperature temp temps celsius fahrenheit tmin tmax dewpoint feels 温度 气温 体感温度",
    Kind.CURRENCY: "price prices cost costs fare fares fee fees usd eur gbp jpy cny rmb inr cad aud chf balance "
    "subtotal salary revenue refund deposit rent budget 价格 票价 金额 费用 余额 总价 单价",
    Kind.RATING: "rating ratings stars 评分",
    Kind.DISTANCE: "km kilometers kilometres miles mi meters metres distance elevation altitude visibility 距离 海拔",
    Kind.MASS: "kg weight grams lbs 重量",
    Kind.SPEED: "speed kmh kph mph 风速",
    Kind.PERCENT: "percent pct percentage humidity 湿度 百分比",
    Kind.DATA_SIZE: "bytes kb mb gb tb",
    Kind.DURATION: "duration minutes hours eta 时长",
}
_FIELD_KINDS = {word: kind for kind, words in _FIELD_WORDS.items() for word in words.split()}
