"""Whether the numbers and names of an answer stand on what was there before it.

In go an answer and the material before it, out come findings: conclusive ones where a plainly stated amount of a
kind that a result holds can't have come from anywhere, and suspicions for a judge.  The conclusive rule is narrow on
purpose: it needs whole, structured results, everything before the answer captured, a unit, currency or rating, and
arithmetic that was tried and failed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from evaluators.cases import ToolCall
from evaluators.issues import IssueCode
from evaluators.rules.claims import Claim, claims, without_code
from evaluators.rules.dates import Day, days, days_in, same_day
from evaluators.rules.errors import error_of
from evaluators.rules.fields import UNNAMED, FieldValue, field_values
from evaluators.rules.material import Material, scalars
from evaluators.rules.numbers import Quantity, numbers, quantities
from evaluators.rules.structured import leaves, list_lengths, structured
from evaluators.rules.support import Explained, Support
from evaluators.rules.units import Kind

_MAX_SUSPICIONS = 6
_MAX_QUANTITIES = 400
_MAX_NAMES = 200
_MAX_LOOKS = 20
_HALF = 0.5


@dataclass(frozen=True, slots=True)
class Finding:
    """Something in an answer that nothing before it gives."""

    code: IssueCode
    detail: str
    call_id: str | None = None
    conclusive: bool = False


def ungrounded(answer: str, fresh: tuple[ToolCall, ...], material: Material) -> list[Finding]:
    """What the answer states that stands on nothing.

    Args:
        answer: the text that was made of the results.
        fresh: the calls whose results this answer was the first to see.
        material: everything that was there before the answer, those results included.

    Returns:
        Conclusive findings first, then at most six suspicions.
    """
    text = without_code(answer)
    mentioned = quantities(answer[: len(text)])[:_MAX_QUANTITIES]
    words = _Words(material)
    odd = [quantity for quantity in mentioned if not words.hold(quantity)]
    if not odd:
        return _strange_names(text, fresh, words)
    at = {quantity.start for quantity in odd}
    stated = claims(text, mentioned)
    support = _read(material)
    open_claims = (
        [claim for claim in stated if claim.quantity.start in at and _is_open(claim, support)]
        if material.complete
        else []
    )
    certain = []
    if open_claims and (held := _held(fresh)):
        _gather(support, material, mentioned)
        certain = _conclusive(open_claims, stated, mentioned, held, support, words)
    places = {finding.start for finding in certain}
    return [
        *(found.finding for found in certain),
        *_strange_numbers([q for q in odd if q.start not in places], fresh, support, words),
        *_strange_names(text, fresh, words),
    ]


@dataclass(frozen=True, slots=True)
class _Placed:
    finding: Finding
    start: int


def _read(material: Material) -> Support:
    """Every number that stands anywhere."""
    support = Support()
    for text in material.texts:
        support.everything |= numbers(text)
    for arguments in material.arguments:
        for scalar in scalars(arguments):
            support.everything |= numbers(str(scalar))
    for call in material.calls:
        for text in _said(call):
            support.everything |= numbers(text)
            value = structured(text)
            if value is not None:
                support.everything |= {float(length) for length in list_lengths(value)}
    return support


def _gather(support: Support, material: Material, mentioned: list[Quantity]) -> None:
    """What arithmetic can start from; much more work than reading, so only done when something is left unexplained."""
    support.multipliers |= {n for n in support.everything if n.is_integer()}
    for text in material.texts:
        support.amounts += [(q.kind, v) for q in quantities(text) if q.kind is not Kind.NUMBER for v, _ in q.values]
    for arguments in material.arguments:
        for scalar in scalars(arguments):
            if isinstance(scalar, int | float) and not isinstance(scalar, bool):
                support.amounts.append((Kind.NUMBER, abs(float(scalar))))
    for call in material.calls:
        for text in _said(call):
            value = structured(text)
            if value is None:
                support.amounts += [(q.kind, v) for q in quantities(text) for v, _ in q.values]
                continue
            for leaf in leaves(value):
                support.fields += field_values(leaf, call.name)
    # the answer's own counts and percentages: "3 nights", "plus 8 % tax"
    for quantity in mentioned:
        if quantity.kind in (Kind.NUMBER, Kind.DURATION):
            support.multipliers |= {value for value, _ in quantity.values if value.is_integer()}
        elif quantity.kind is Kind.PERCENT:
            support.rates |= {value / 100 for value, _ in quantity.values}


def _is_open(claim: Claim, support: Support) -> bool:
    quantity = claim.quantity
    if quantity.kind not in _DECIDABLE or _is_trivial(quantity):
        return False
    return not support.reads(quantity.kind, quantity.values)


def _said(call: ToolCall) -> list[str]:
    if call.result is None:
        return []
    return [text for text in (call.result.content, call.result.error) if text]


def _held(fresh: tuple[ToolCall, ...]) -> dict[Kind, list[tuple[FieldValue, str]]]:
    """The amounts in the structured results that are new to the answer, by kind, each with its call."""
    held: dict[Kind, list[tuple[FieldValue, str]]] = {}
    for call in fresh:
        if call.result is not None and error_of(call.result) is None:
            for found in _held_by(call):
                held.setdefault(found.kind, []).append((found, call.id))
    return held


def _conclusive(
    open_claims: list[Claim],
    stated: list[Claim],
    mentioned: list[Quantity],
    held: dict[Kind, list[tuple[FieldValue, str]]],
    support: Support,
    before: _Words,
) -> list[_Placed]:
    findings: list[_Placed] = []
    for claim in open_claims:
        quantity = claim.quantity
        fields = held.get(quantity.kind)
        if not fields:
            continue
        if quantity.kind is Kind.PERCENT and not _names_field(claim, fields):
            continue
        if not quantity.sure and not _form_is_proven(claim, stated, fields):
            continue
        if not _same_currency(quantity, fields, mentioned):
            continue
        single = _LABELLED.search(claim.lead) is not None
        if support.explains(quantity.kind, quantity.values, single=single) is not Explained.NO:
            continue
        subject = _subject(claim)
        unknown = subject is not None and not before.know(subject) and _stands_in_list(claim, stated, fields)
        left = [(found, call_id) for found, call_id in fields if not _is_stated(found, mentioned)]
        if not left and not unknown:
            continue
        call_id = (left or fields)[0][1]
        if unknown and not left:
            findings.append(_Placed(_fabricated(quantity, call_id), quantity.start))
        else:
            findings.append(_Placed(_misread(quantity, [found.value for found, _ in left], call_id), quantity.start))
    return findings


def _held_by(call: ToolCall) -> list[FieldValue]:
    """The amounts in a call's structured result; the one number of a result without names may be of any kind."""
    found: list[FieldValue] = []
    unnamed: list[FieldValue] = []
    for leaf in leaves(structured(call.result.content if call.result else None)):
        values = field_values(leaf, call.name)
        found += values
        if leaf.key in UNNAMED:
            unnamed += values
    if len(found) == 1 and unnamed and found[0].kind is Kind.NUMBER:
        return [replace(found[0], kind=kind) for kind in sorted(_DECIDABLE)]
    return found


def _misread(quantity: Quantity, values: list[float], call_id: str) -> Finding:
    shown = ", ".join(f"{value:g}" for value in dict.fromkeys(values[:50]))
    many = len(set(values)) > 3
    detail = (
        f"The answer states the {quantity.kind} {quantity.text.strip()}, which no result, message or calculation gives"
    )
    return Finding(IssueCode.MISREAD_VALUE, detail + ("." if many else f"; the result says {shown}."), call_id, True)


def _fabricated(quantity: Quantity, call_id: str) -> Finding:
    detail = (
        f"The answer gives the {quantity.kind} {quantity.text.strip()} to something that no result or message mentions."
    )
    return Finding(IssueCode.FABRICATED, detail, call_id, True)


def _is_trivial(quantity: Quantity) -> bool:
    return all(value == 0 or (quantity.kind is Kind.PERCENT and value in (50, 100)) for value, _ in quantity.values)


def _form_is_proven(claim: Claim, stated: list[Claim], fields: list[tuple[FieldValue, str]]) -> bool:
    """Whether a number in parentheses is a rating: its neighbours of the same form are ratings of the results."""
    if claim.quantity.kind is not Kind.RATING:
        return False
    held = {found.value for found, _ in fields}
    same_form = [c.quantity for c in stated if c.quantity.kind is Kind.RATING and not c.quantity.sure]
    proven = [q for q in same_form if any(value in held for value, _ in q.values)]
    return len(proven) >= 1 and len(proven) * 2 >= len(same_form)


def _names_field(claim: Claim, fields: list[tuple[FieldValue, str]]) -> bool:
    """Whether the sentence says what the number is by a word of a field's name: not every share is the one at hand."""
    sentence = claim.sentence.casefold()
    return any(word in sentence for found, _ in fields for word in _LONGER_WORD.findall(found.column.casefold()))


def _stands_in_list(claim: Claim, stated: list[Claim], fields: list[tuple[FieldValue, str]]) -> bool:
    """Whether other amounts of the same kind, written in the same way, are those of the results."""
    held = {found.value for found, _ in fields}
    form = claim.lead.rstrip()[-1:]
    return any(
        other.quantity.kind is claim.quantity.kind
        and other.lead.rstrip()[-1:] == form
        and any(value in held for value, _ in other.quantity.values)
        for other in stated
    )


def _same_currency(quantity: Quantity, fields: list[tuple[FieldValue, str]], mentioned: list[Quantity]) -> bool:
    """Whether the answer's currency is the results' own, so that no rate of exchange can explain the amount."""
    if quantity.kind is not Kind.CURRENCY:
        return True
    mine = _currency(quantity.unit)
    if quantity.unit is None:
        return True
    theirs = {_currency(found.unit) for found, _ in fields if found.unit is not None} - {None}
    if theirs:
        return mine in theirs
    return len({_currency(q.unit) for q in mentioned if q.kind is Kind.CURRENCY}) == 1


def _currency(unit: str | None) -> str | None:
    return _CURRENCIES.get((unit or "").strip(" .").lower())


def _is_stated(found: FieldValue, mentioned: list[Quantity]) -> bool:
    """Whether the answer gives this value, as it is, rounded, or in another unit."""
    own = Support(everything={found.value}, fields=[found])
    return any(
        own.gives(found.kind, quantity.values) for quantity in mentioned if quantity.kind in (found.kind, Kind.NUMBER)
    )


def _subject(claim: Claim) -> str | None:
    """The name that the amount is given to, when it stands right before it: "Bangkok Garden Palace (4.8)"."""
    match = _NAMED.search(claim.lead)
    if match is None:
        return None
    return re.sub(
        r"^(?:and|or|plus|also|the|und|et|y|和|以及|还有)\s+", "", match.group(1).strip(" *_-–—:："), flags=re.I
    )


class _Words:
    """Which names the material mentions. Built only when somebody asks."""

    def __init__(self, material: Material) -> None:
        self._material = material
        self._text: str | None = None
        self._days: set[Day] | None = None

    @property
    def text(self) -> str:
        if self._text is None:
            parts = [*self._material.texts, *(str(a) for a in self._material.arguments)]
            parts += [text for call in self._material.calls for text in _said(call)]
            self._text = " ".join(parts).casefold()
        return self._text

    def hold(self, quantity: Quantity) -> bool:
        """Whether a quantity stands in the material as it is: a date whole, else its digits, and not inside others."""
        if quantity.kind is Kind.DATE:
            return quantity.text.casefold() in self.text
        match = _DIGITS.search(quantity.text)
        if match is None:
            return False
        digits = match.group()
        at = self.text.find(digits)
        for _ in range(_MAX_LOOKS):
            if at < 0:
                return False
            end = at + len(digits)
            if not self.text[max(0, at - 1) : at].strip(".,").isdigit() and not self.text[end : end + 1].isdigit():
                return at == 0 or self.text[at - 1] not in ".,"
            at = self.text.find(digits, end)
        return False

    @property
    def days(self) -> set[Day]:
        """The days that the material names."""
        if self._days is None:
            self._days = days_in(self.text)
        return self._days

    def know(self, name: str) -> bool:
        """Whether the name, or any longer word of it, stands in the material."""
        return self.share_known(name) > 0

    def share_known(self, name: str) -> float:
        """The share of the name's words that stand in the material; 1 when it stands there as a whole."""
        name = name.casefold()
        if name in self.text:
            return 1.0
        words = _LONGER_WORD.findall(name)
        return sum(word in self.text for word in words) / len(words) if words else 1.0


def _strange_numbers(
    odd: list[Quantity], fresh: tuple[ToolCall, ...], support: Support, words: _Words
) -> list[Finding]:
    found_any = any(call.result is not None and error_of(call.result) is None for call in fresh)
    code = IssueCode.MISREAD_VALUE if found_any else IssueCode.FABRICATED
    return [
        Finding(code, f"The answer says {q.text.strip()[:40]}, which stands in no result or message.", _only(fresh))
        for q in [quantity for quantity in odd if not _is_found(quantity, support, words)][:_MAX_SUSPICIONS]
    ]


def _strange_names(text: str, fresh: tuple[ToolCall, ...], words: _Words) -> list[Finding]:
    names = [match.group() for match in _NAME.finditer(text)]
    return [
        Finding(
            IssueCode.FABRICATED, f"The answer names {name[:60]}, which stands in no result or message.", _only(fresh)
        )
        for name in [name for name in dict.fromkeys(names[:_MAX_NAMES]) if words.share_known(name) < _HALF][
            :_MAX_SUSPICIONS
        ]
    ]


def _only(fresh: tuple[ToolCall, ...]) -> str | None:
    return fresh[0].id if len(fresh) == 1 else None


def _is_found(quantity: Quantity, support: Support, words: _Words) -> bool:
    if quantity.kind is Kind.DATE:
        meant = days(quantity.text)
        # a month or year without a day is found by its numbers
        return any(same_day(day, known) for day in meant for known in words.days) if meant else True
    if quantity.kind is Kind.TIME:
        return all(n in support.everything or n <= 12 for n in numbers(quantity.text))
    if all(value < 10 and step == 1 for value, step in quantity.values):
        return True
    return support.gives(quantity.kind, quantity.values)


_DECIDABLE = frozenset(
    {
        Kind.CURRENCY,
        Kind.TEMPERATURE,
        Kind.DISTANCE,
        Kind.MASS,
        Kind.VOLUME,
        Kind.SPEED,
        Kind.DATA_SIZE,
        Kind.PERCENT,
        Kind.RATING,
    }
)
# "- **Economy price:** $154" is one item's own figure, and no sum
_LABELLED = re.compile(
    r"(?:^|[(\n*•-]|\d\.)[\s*]*(?!(?:new|final|total|net|combined|average|mean|max|min)\b)(?:[A-Za-z]+ )?"
    r"(?:price|fare|rating|temperature|humidity|价格|票价|评分|气温|温度|湿度)[*\s]*[:：][*\s]*$",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\d(?:[\d.,]*\d)?")
_LONGER_WORD = re.compile(r"[^\W\d_]{3,}")
_NAMED = re.compile(
    r"(?:^|[,;:.、，；：。\n(]|\d\.\s|[-*•]\s)\s*([^,;:.、，；：。\n()]{3,60}?)[\s*]*[(（:：–—-][\s*]*$"
)
# two or more words with capitals in a row, not at the start of a sentence
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][\w'’&-]+(?: (?:of |the |de |la )?[A-Z][\w'’&-]+){1,4}")
_CURRENCIES: dict[str, str] = {
    name: code
    for code, names in {
        "usd": "$ usd us$ dollar dollars 美元 美金 cents",
        "eur": "€ eur euro euros 欧元",
        "gbp": "£ gbp pounds 英镑",
        "jpy": "jpy yen 日元 円",
        "cny": "cny rmb yuan 元 块 块钱 人民币",
        "inr": "₹ inr rs rupees",
        "krw": "₩ krw",
    }.items()
    for name in names.split()
}
