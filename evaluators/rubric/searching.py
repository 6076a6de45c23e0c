"""Looking for something in the texts of a case: patterns, values that no record has, sections too long or short.

In: what is wanted, and the `Material`.  Out: an `Outcome`.  Patterns are matched with a time limit each; what a pattern
couldn't look through, or what stands behind the part of a text that is looked at, is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import regex

from evaluators.rubric.conditions import Contains, Sections, Unrecorded
from evaluators.rubric.material import Material
from evaluators.rubric.quotes import Passage
from evaluators.rubric.texts import compact, is_cut, plain
from evaluators.rules.numbers import quantities
from evaluators.rules.numerals import HAN_NUMERAL, han_value

_SECONDS_PER_PATTERN = 0.2
_MOST_PASSAGES = 50
_REMARK = re.compile(r"\n[ \t]*\([^\n]*")
_HAN = re.compile(HAN_NUMERAL)
_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?![\d,])(?:\.\d+)?|\d+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Outcome:
    """Whether a condition holds (None: unknown), and where that is seen."""

    truth: bool | None
    passages: tuple[Passage, ...] = ()


def _matches(material: Material, names: Iterable[str], text: str) -> tuple[list[tuple[int, int]], bool]:
    """Where one of these patterns matches, in order, overlapping matches once; and whether all could be looked for."""
    found: list[tuple[int, int]] = []
    whole = True
    for name in names:
        for pattern in material.rubric.patterns[name]:
            try:
                matches = regex.finditer(pattern, text, regex.IGNORECASE, timeout=_SECONDS_PER_PATTERN)
                found += [one.span() for one, _ in zip(matches, range(_MOST_PASSAGES), strict=False) if one.group()]
            except TimeoutError:
                whole = False
    places: list[tuple[int, int]] = []
    for start, until in sorted(found, key=lambda one: (one[0], -one[1])):
        if not places or start >= places[-1][1]:
            places.append((start, until))
    return places, whole


def _text(material: Material, name: str) -> str | None:
    """A text in plain form; None where it wasn't captured."""
    if name not in ("user", "results", "answer_text", *material.texts) and name not in material.fields:
        return None
    return plain(material.text(name))


def _passage(material: Material, source: str, text: str, start: int, end: int) -> Passage:
    answer = material.answer
    return Passage(
        source="output 0.0" if source == "answer_text" else source,
        start=len(compact(text[:start])),
        end=len(compact(text[:end])),
        words=text[start:end],
        ref=answer.ref if answer is not None and source != "user" else material.ref,
    )


def contains(material: Material, wanted: Contains) -> Outcome:
    """Whether a text holds a pattern."""
    text = _text(material, wanted.text)
    if text is None or (wanted.text == "user" and not text):
        return Outcome(None)
    said = compact(_in_digits(plain(material.user_text))) if not wanted.said_by_user else ""
    amounts = _amounts(material.user_text) if said else set()
    passages: list[Passage] = []
    perhaps: list[Passage] = []
    places, whole = _matches(material, wanted.pattern, text)
    for start, end in places:
        if _is_on_line_with(material, wanted.without, text, start, end):
            continue
        if said and compact(_in_digits(text[start:end])) in said:
            continue
        # the user may have said it in other words
        found = _amounts(text[start:end])
        (perhaps if found and found <= amounts else passages).append(_passage(material, wanted.text, text, start, end))
    if perhaps and not passages:
        return Outcome(None, tuple(perhaps[:_MOST_PASSAGES]))
    if passages:
        return Outcome(True, tuple(passages[:_MOST_PASSAGES]))
    return Outcome(False if whole and material.uncut and not is_cut(material.text(wanted.text)) else None)


def _is_on_line_with(material: Material, names: Iterable[str], text: str, start: int, end: int) -> bool:
    """Whether the line of a match, or a remark in brackets below it, holds one of these patterns as well."""
    until = (text.find("\n", end) + 1 or len(text) + 1) - 1
    if below := _REMARK.match(text, until):
        until = below.end()
    line = text[text.rfind("\n", 0, start) + 1 : until]
    places, whole = _matches(material, names, line)
    return bool(places) or not whole


def unrecorded(material: Material, wanted: Unrecorded) -> Outcome:
    """Whether a text holds values that stand in no record."""
    text = _text(material, wanted.text)
    if text is None:
        return Outcome(None)
    records = [_text(material, name) or "" for name in wanted.records]
    recorded = {number for record in records for number in _numbers(record, with_parts=True)}
    amounts = {amount for record in records for amount in _amounts(record)}
    in_digits = [compact(_in_digits(record)) for record in records]
    passages = []
    places, whole = _matches(material, wanted.pattern, text)
    for start, end in places:
        found = _numbers(text[start:end])
        if _is_on_line_with(material, wanted.without, text, start, end):
            continue
        spelled, measured = compact(_in_digits(text[start:end])), _amounts(text[start:end])
        if (
            found
            and not found <= recorded
            and not (measured and measured <= amounts)
            and not any(spelled in record for record in in_digits)
        ):
            passages.append(_passage(material, wanted.text, text, start, end))
    if not passages and not whole:
        return Outcome(None)
    if any(is_cut(material.text(name)) for name in wanted.records):
        # what isn't in the part that was looked at may be in the other
        return Outcome(None, tuple(passages[:_MOST_PASSAGES]))
    return Outcome(bool(passages), tuple(passages[:_MOST_PASSAGES]))


def _numbers(text: str, *, with_parts: bool = False) -> set[str]:
    """The numbers in a text, without separators of thousands.

    With `with_parts`, what may be a list of numbers ("100,200") counts as these as well.
    """
    found = _NUMBER.findall(text)
    parts = [part for number in found if with_parts and "," in number for part in number.split(",")]
    return {_bare(number.replace(",", "")) for number in (*found, *parts)}


def _amounts(text: str) -> set[tuple[str, float]]:
    """How much of what a text names, in whatever numerals and names of units."""
    return {(one.kind, value) for one in quantities(text) if one.unit is not None for value, _ in one.values}


def _in_digits(text: str) -> str:
    """The text with Chinese numerals as digits."""

    def digits(found: re.Match[str]) -> str:
        value = han_value(found.group())
        return found.group() if value is None else f"{value:g}"

    return _HAN.sub(digits, text)


def _bare(number: str) -> str:
    return number.rstrip("0").rstrip(".") if "." in number else number


def sections(material: Material, wanted: Sections) -> Outcome:
    """Whether a section has fewer or more lines than it may."""
    text = _text(material, wanted.text)
    if text is None:
        return Outcome(None)
    passages: list[Passage] = []
    heading: tuple[int, int] | None = None
    lines = 0
    at = 0

    def close() -> None:
        if (
            heading is not None
            and len(passages) < _MOST_PASSAGES
            and (
                (wanted.more_than is not None and lines > wanted.more_than)
                or (wanted.fewer_than is not None and lines < wanted.fewer_than)
            )
        ):
            passages.append(_passage(material, wanted.text, text or "", *heading))

    for line in text.splitlines(keepends=True):
        if line.startswith("#"):
            close()
            heading = (at, at + len(line)) if line.startswith(wanted.heading + " ") else None
            lines = 0
        elif line.strip():
            lines += 1
        at += len(line)
    close()
    return Outcome(bool(passages), tuple(passages))
