"""What an answer states as a fact in numbers.

In goes the answer's text, out come its quantities that are plainly stated: no estimate, bound, range, condition,
typical value or question, nothing inside code or a link.  What is left out may still be wrong, but no rule can know.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from evaluators.rules.numbers import Quantity
from evaluators.rules.numerals import plain
from evaluators.rules.units import Kind

MAX_ANSWER_CHARS = 40_000
_LONGEST_JOINT = 12


@dataclass(frozen=True, slots=True)
class Claim:
    """A quantity stated in an answer, with the words just before it and with its sentence."""

    quantity: Quantity
    lead: str
    sentence: str


def without_code(answer: str) -> str:
    """The first 40,000 characters of an answer, code and links replaced by spaces, everything else in its place."""
    return _CODE.sub(lambda match: " " * len(match.group()), answer[:MAX_ANSWER_CHARS])


def claims(text: str, found: list[Quantity]) -> list[Claim]:
    """Those of the quantities `found` in an answer's `text` that are plainly stated, in order."""
    flat = plain(text)
    stated: list[Claim] = []
    bounds = _sentences(flat)
    at = 0
    for place, quantity in enumerate(found):
        while bounds[at][1] <= quantity.start:
            at += 1
        first, last = bounds[at]
        if not text[quantity.start : quantity.end].strip():
            continue
        sentence = flat[max(first, quantity.start - 300) : min(last, quantity.end + 300)]
        if _HEDGED.search(sentence) is not None or _is_part(flat, found, place):
            continue
        stated.append(Claim(quantity, flat[max(first, quantity.start - 80) : quantity.start], sentence))
    return [_by_its_form(claim, flat) for claim in stated]


def _sentences(text: str) -> list[tuple[int, int]]:
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    edges = [0, *ends, len(text) + 1]
    return [(edges[i], edges[i + 1]) for i in range(len(edges) - 1) if edges[i] < edges[i + 1]] or [(0, 1)]


def _is_part(text: str, found: list[Quantity], place: int) -> bool:
    """Whether the quantity is one end of a range (10-18 °C, 3至5天) or part of a compound (5 ft 11 in, 1 lb 4 oz)."""
    here = found[place]
    for other in (found[place - 1] if place else None, found[place + 1] if place + 1 < len(found) else None):
        if other is None:
            continue
        first, second = sorted((here, other), key=lambda quantity: quantity.start)
        between = text[first.end : second.start]
        if len(between) > _LONGEST_JOINT:
            continue
        if _RANGE.fullmatch(between) is not None:
            return True
        if first.kind is second.kind is not Kind.NUMBER and first.unit != second.unit and _JOINT.fullmatch(between):
            return True
        if first.kind in (Kind.DISTANCE, Kind.MASS) and second.kind is Kind.NUMBER and not between.strip():
            return True
    return False


def _by_its_form(claim: Claim, text: str) -> Claim:
    """A bare number as a rating in "Titaya's (4.5)", as a price in "the price of it was 248.9"; else as it is."""
    quantity = claim.quantity
    if quantity.kind is not Kind.NUMBER:
        return claim
    if _IN_PARENTHESES.match(text, quantity.start - 1) is not None:
        return replace(claim, quantity=replace(quantity, kind=Kind.RATING, sure=False))
    if _PRICED.search(claim.lead) is not None and _PRICE_LIKE.fullmatch(quantity.text) is not None:
        return replace(claim, quantity=replace(quantity, kind=Kind.CURRENCY))
    return claim


_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]{1,200}`|https?://[^\s)>\]]+", re.DOTALL)
_SENTENCE_END = re.compile(r"[.!?](?=\s|\Z)|[。！？；;\n]")
_RANGE = re.compile(r"\s*(?:[-~–—/]|to|and|or|through|until|bis|und|à|a|y|et|至|到|或|和)\s*[$€£¥]?\s*", re.IGNORECASE)
_JOINT = re.compile(r"\s*(?:,|and|und|et|y|又)?\s*", re.IGNORECASE)
_PRICED = re.compile(
    r"\b(?:price|fare|balance|cost)\b[^.;:\n]{0,60}\b(?:is|was|are|were)\s*$|(?:价格|票价|余额|股价)[^。;\n]{0,20}[是为]\s*$",
    re.IGNORECASE,
)
_PRICE_LIKE = re.compile(r"\d[\d,]*\.\d+|\d{3,}")
_IN_PARENTHESES = re.compile(r"\(\d\.\d\d?\)")
_HEDGES_EN = (
    r"about|around|approx\w*|roughly|nearly|almost|circa|estimat\w*|some(?= \d)|or so|"
    r"over|under|below|above|at least|at most|up to|within|less than|more than|fewer than|no more|minimum|maximum|"
    r"exceed\w*|between|starting (?:at|from)|as (?:low|high|little|much) as|"
    r"if|unless|would|could|might|may|should|suppose|assum\w*|hypothetic\w*|e\.g|for (?:example|instance)|such as|"
    r"typical\w*|usual\w*|normal\w*|general\w*|average\w*|in general|often|tend\w*|historical\w*|record|"
    r"last (?:year|month|week|time)|previous\w*|recommend\w*|suggest\w*|budget|tip|bring|expect\w*|"
    r"interest|mortgage|loan|compound\w*|annuit\w*|instal\w*|convert\w*|conversion|equivalent|works out|tax\w*|vat|"
    r"depreciat\w*|profit|yield|project\w*|predict\w*|"
    r"(?<=[a-z])'d|next (?:week|month|year|time)|aim|try|"
    r"compared|than|instead|increase\w*|decrease\w*|range|rang(?:es|ing)|limit|threshold|goal|target|"
    r"don't|doesn't|not|isn't|won't|cannot|can't|no longer|never"
)
_HEDGES_OTHER = (
    r"circa|etwa|ungefähr|rund|knapp|mindestens|höchstens|unter|über|bis zu|wenn|falls|normalerweise|nicht|"
    r"environ|presque|moins de|plus de|jusqu'à|si|normalement|pas|au moins|"
    r"unos|unas|aproximadamente|casi|menos de|más de|hasta|cerca de|no|"
    r"cerca|quase|até|se"
)
_HEDGES_HAN = (
    "约|大概|大约|左右|上下|近|将近|差不多|以上|以下|以内|至少|最多|不到|超过|低于|高于|如果|假如|要是|可能|也许|通常|一般|平均|建议|"
    "预计|估计|不|没|未|比如|例如|约合|程度|およそ|以下|未満|もし|通常"
)
_HEDGED = re.compile(
    rf"\b(?:{_HEDGES_EN}|{_HEDGES_OTHER})\b|~|≈|[<>≤≥]|\?|？|{_HEDGES_HAN}|\d\s*\+(?!\d)", re.IGNORECASE
)
