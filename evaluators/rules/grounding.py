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
from evaluators.rules.claim_context import (
    form_is_proven,
    introduces,
    is_derived,
    is_stated,
    names_field,
    same_currency,
    stands_in_list,
    subject,
)
from evaluators.rules.claims import Claim, claims, without_code
from evaluators.rules.errors import error_of
from evaluators.rules.fields import UNNAMED, FieldValue
from evaluators.rules.findings import Finding
from evaluators.rules.material import Material
from evaluators.rules.mentions import Mentions, said
from evaluators.rules.numbers import Quantity, quantities
from evaluators.rules.plain_sums import PlainSums
from evaluators.rules.reading import reading_of
from evaluators.rules.strange import strange_names, strange_numbers
from evaluators.rules.structured import scalars
from evaluators.rules.support import Explained, Support
from evaluators.rules.units import Kind

_MAX_QUANTITIES = 400
_MAX_CALCULATED = 20
_MAX_MATERIAL_CHARS = 1_000_000
_MAX_CALLS = 1_000


def ungrounded(answer: str, fresh: tuple[ToolCall, ...], material: Material) -> list[Finding]:
    """What the answer states that stands on nothing.

    Args:
        answer: the text that was made of the results.
        fresh: the calls whose results this answer was the first to see.
        material: everything that was there before the answer, those results included.

    Returns:
        Conclusive findings first, then a few suspicions; none when the material is longer than a million characters
            or than a thousand calls, or isn't all there was.
    """
    if material.cut or len(material.calls) > _MAX_CALLS or material.chars > _MAX_MATERIAL_CHARS:
        return []
    text = without_code(answer)
    mentioned = quantities(answer[: len(text)])[:_MAX_QUANTITIES]
    words = Mentions(material)
    odd = [quantity for quantity in mentioned if not words.hold(quantity)]
    if not odd:
        return strange_names(text, fresh, words)
    at = {quantity.start for quantity in odd}
    stated = claims(text, mentioned)
    support = Support(everything=set().union(*(read.numbers for read in words.readings)))
    support.everything.update(*(read.counts for read in words.results))
    open_claims = (
        [claim for claim in stated if claim.quantity.start in at and _is_open(claim, support)]
        if material.complete
        else []
    )
    certain = []
    if open_claims and (held := _held(fresh)):
        _gather(support, material, mentioned, stated)
        certain = _conclusive(open_claims, stated, mentioned, held, support, words)
    places, sums = {finding.start for finding in certain}, PlainSums(material)
    return [
        *(found.finding for found in certain),
        *strange_numbers([q for q in odd if q.start not in places and not sums.give(q)], fresh, support, words),
        *strange_names(text, fresh, words),
    ]


@dataclass(frozen=True, slots=True)
class _Placed:
    finding: Finding
    start: int


def _gather(support: Support, material: Material, mentioned: list[Quantity], stated: list[Claim]) -> None:
    """What arithmetic can start from; much more work than reading, so only done when something is left unexplained."""
    support.multipliers |= {n for n in support.everything if n.is_integer()}
    for text in material.texts:
        read = reading_of(text)
        support.amounts += [(q.kind, v) for q in read.quantities if q.kind is not Kind.NUMBER for v, _ in q.values]
    for arguments in material.arguments:
        for scalar in scalars(arguments if isinstance(arguments, str) else dict(arguments or {})):
            if isinstance(scalar, int | float) and not isinstance(scalar, bool):
                support.amounts.append((Kind.NUMBER, abs(float(scalar))))
    for call in material.calls:
        for text in said(call):
            read = reading_of(text)
            if read.value is None:
                support.amounts += [(q.kind, v) for q in read.quantities for v, _ in q.values]
            else:
                support.fields += read.fields(call.name)
    # the answer's own counts and percentages: "3 nights", "plus 8 % tax"; what it supposes ("a tip would be $12") or
    # repeats ("$200" of "200 bucks") it may count on with
    claimed = {claim.quantity.start for claim in stated}
    for quantity in mentioned:
        supposed = quantity.start not in claimed and quantity.kind in _DECIDABLE
        if supposed or (quantity.kind not in _TIMES and support.reads(quantity.kind, quantity.values)):
            support.amounts += [(quantity.kind, value) for value, _ in quantity.values]
        if quantity.kind in (Kind.NUMBER, Kind.DURATION):
            support.multipliers |= {value for value, _ in quantity.values if value.is_integer()}
        elif quantity.kind is Kind.PERCENT:
            support.rates |= {value / 100 for value, _ in quantity.values}


def _is_open(claim: Claim, support: Support) -> bool:
    quantity = claim.quantity
    if quantity.kind not in _DECIDABLE or _is_trivial(quantity):
        return False
    return not support.reads(quantity.kind, quantity.values)


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
    before: Mentions,
) -> list[_Placed]:
    findings: list[_Placed] = []
    for claim in open_claims[:_MAX_CALCULATED]:
        quantity = claim.quantity
        fields = held.get(quantity.kind)
        if not fields:
            continue
        if quantity.kind is Kind.PERCENT and not names_field(claim, fields):
            continue
        if not quantity.sure and not form_is_proven(claim, stated, fields):
            continue
        if not same_currency(quantity, fields, mentioned):
            continue
        if is_derived(claim, fields) or introduces(claim, fields):
            continue
        single = _LABELLED.search(claim.lead) is not None
        explained = support.explains(quantity.kind, quantity.values, single=single)
        if explained is Explained.YES:
            # later amounts may go on from this one: with tax 1330, for two 2660
            support.amounts += [(quantity.kind, value) for value, _ in quantity.values]
        if explained is not Explained.NO:
            continue
        name = subject(claim)
        unknown = name is not None and not before.know(name) and stands_in_list(claim, stated, fields)
        left = [(found, call_id) for found, call_id in fields if not is_stated(found, mentioned)]
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
    read = reading_of((call.result.content if call.result is not None else None) or "")
    found = list(read.fields(call.name))
    if len(found) == 1 and found[0].kind is Kind.NUMBER and found[0].column.rsplit(".", 1)[-1].strip("[]") in UNNAMED:
        return [replace(found[0], kind=kind) for kind in sorted(_DECIDABLE)]
    return found


def _misread(quantity: Quantity, values: list[float], call_id: str) -> Finding:
    shown = ", ".join(f"{value:g}" for value in dict.fromkeys(values[:50]))
    many = len(set(values)) > 3
    detail = f"The answer states {_shown(quantity)}, which no result, message or calculation gives"
    return Finding(IssueCode.MISREAD_VALUE, detail + ("." if many else f"; the result says {shown}."), call_id, True)


def _fabricated(quantity: Quantity, call_id: str) -> Finding:
    detail = f"The answer gives {_shown(quantity)} to something that no result or message mentions."
    return Finding(IssueCode.FABRICATED, detail, call_id, True)


def _shown(quantity: Quantity) -> str:
    return f"the {'amount' if quantity.kind is Kind.CURRENCY else quantity.kind} {quantity.text.strip()}"


def _is_trivial(quantity: Quantity) -> bool:
    return all(value == 0 or (quantity.kind is Kind.PERCENT and value in (50, 100)) for value, _ in quantity.values)


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
_TIMES = frozenset({Kind.DATE, Kind.TIME, Kind.DURATION})
# "- **Economy price:** $154" is one item's own figure, and no sum
_LABELLED = re.compile(
    r"(?:^|[(\n*•-]|\d\.)[\s*]*(?!(?:new|final|total|net|combined|average|mean|max|min)\b)(?:[A-Za-z]+ )?"
    r"(?:price|fare|rating|temperature|humidity|价格|票价|评分|气温|温度|湿度)[*\s]*[:：][*\s]*$",
    re.IGNORECASE,
)
