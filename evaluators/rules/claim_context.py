"""How a stated amount stands to the fields of a result: of the same thing, in the same currency, in a list of them?

In go a claim, its neighbours in the answer and the fields of its kind, out come answers of yes or no.  Each of them
only ever keeps a rule from claiming too much.
"""

from __future__ import annotations

import re

from evaluators.rules.claims import Claim
from evaluators.rules.fields import FieldValue
from evaluators.rules.numbers import Quantity
from evaluators.rules.support import Support
from evaluators.rules.units import Kind


def form_is_proven(claim: Claim, stated: list[Claim], fields: list[tuple[FieldValue, str]]) -> bool:
    """Whether a number in parentheses is a rating: its neighbours of the same form are ratings of the results."""
    if claim.quantity.kind is not Kind.RATING:
        return False
    held = {found.value for found, _ in fields}
    same_form = [c.quantity for c in stated if c.quantity.kind is Kind.RATING and not c.quantity.sure]
    proven = [q for q in same_form if any(value in held for value, _ in q.values)]
    return len(proven) >= 1 and len(proven) * 2 >= len(same_form)


def names_field(claim: Claim, fields: list[tuple[FieldValue, str]]) -> bool:
    """Whether the sentence says what the number is by a word of a field's name: not every share is the one at hand."""
    sentence = claim.sentence.casefold()
    return any(
        word in sentence
        for found, _ in fields
        for word in _LONGER_WORD.findall(found.column.rsplit(".", 1)[-1].casefold())
    )


def is_derived(claim: Claim, fields: list[tuple[FieldValue, str]]) -> bool:
    """Whether the sentence says that the amount was worked out, and no field is called so.

    A formula of several steps, with tables and rates that everybody knows, can't be told from an invention.
    """
    words = {word.casefold() for word in _DERIVED.findall(claim.sentence)}
    if not words:
        return False
    named = " ".join({found.column.rsplit(".", 1)[-1] for found, _ in fields}).casefold()
    return not any(word in named for word in words)


def introduces(claim: Claim, fields: list[tuple[FieldValue, str]]) -> bool:
    """Whether the amount is that of a further thing ("a fine of $75"), which no field claims to be."""
    match = _FURTHER.search(claim.lead)
    if match is None:
        return False
    named = " ".join({found.column.rsplit(".", 1)[-1] for found, _ in fields}).casefold()
    return match.group(1).casefold() not in named


def stands_in_list(claim: Claim, stated: list[Claim], fields: list[tuple[FieldValue, str]]) -> bool:
    """Whether other amounts of the same kind, written in the same way, are those of the results."""
    held = {found.value for found, _ in fields}
    form = claim.lead.rstrip()[-1:]
    return any(
        other.quantity.kind is claim.quantity.kind
        and other.lead.rstrip()[-1:] == form
        and any(value in held for value, _ in other.quantity.values)
        for other in stated
    )


def same_currency(quantity: Quantity, fields: list[tuple[FieldValue, str]], mentioned: list[Quantity]) -> bool:
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


def is_stated(found: FieldValue, mentioned: list[Quantity]) -> bool:
    """Whether the answer gives this value, as it is, rounded, or in another unit."""
    own = Support(everything={found.value}, fields=[found])
    return any(
        own.gives(found.kind, quantity.values) for quantity in mentioned if quantity.kind in (found.kind, Kind.NUMBER)
    )


def subject(claim: Claim) -> str | None:
    """The name that the amount is given to, when it stands right before it: "Bangkok Garden Palace (4.8)"."""
    match = _NAMED.search(claim.lead)
    if match is None:
        return None
    return re.sub(
        r"^(?:and|or|plus|also|the|und|et|y|和|以及|还有)\s+", "", match.group(1).strip(" *_-–—:："), flags=re.I
    )


_DERIVED = re.compile(
    r"\b(?:totals?|sum|altogether|together|combined|overall|in all|left|remain\w*|remainder|saves?|savings?|after|net|"
    r"gross|monthly|yearly|annual(?:ly)?|weekly|quarterly|per (?:month|year|week)|a (?:month|year|week)|"
    r"circumference|area|"
    r"short|coupon|vouchers?|promo\w*|discount\w*|gst|hst|mwst|ust|iva|tva|rabatt|gutschein|"
    r"perimeter|diagonal|invoice|bill(?:ed)?|in fuel|feels? like|heat index|wind chill|dew point|preheat|my own|"
    r"insgesamt|zusammen|übrig|monatlich|jährlich|netto|brutto|summe|gesamt\w*|au total|ensemble|par mois|par an|"
    r"reste\w*|"
    r"en total|juntos|al mes|al año|queda\w*|total(?:e|mente)?|por mês|in totale|итого|всего)\b|"
    r"总[共计额价]|含税|税[込抜前后後]|折|优惠|一共|共计|合计|剩[余下]?|余下|每[月年周]|体感|净|合計|全部で|残り|総額|모두|합계",
    re.IGNORECASE,
)
_FURTHER = re.compile(
    r"\b(?:an?|another|eine?[nrms]?|une?|un[ao]?|uma?)\s+(?:[^\W\d_]+\s+){0,2}?([^\W\d_]+)\s+(?:of|von|de|di)\s*$",
    re.IGNORECASE,
)
_LONGER_WORD = re.compile(r"[^\W\d_]{3,}")
_NAMED = re.compile(
    r"(?:^|[,;:.、，；：。\n(]|\d\.\s|[-*•]\s)\s*([^,;:.、，；：。\n()]{3,60}?)[\s*]*[(（:：–—-][\s*]*$"
)
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
