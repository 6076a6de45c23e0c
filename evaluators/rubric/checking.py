"""Conditions held against the material of a case.

In: a `Condition` and the `Material`.  Out: true, false or unknown (None), with the passages that show it.  Unknown is
what depends on something that wasn't captured; combinations follow three-valued logic, so that a false part makes an
`all` false whatever is unknown beside it.  Pure; patterns of rubrics are matched with a time limit each.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import regex

from evaluators.rubric.conditions import Before, Condition, Contains, FieldState, Sections, Unrecorded
from evaluators.rubric.exchanges import Exchange, objects_in, tool_name
from evaluators.rubric.material import Material
from evaluators.rubric.quotes import Passage
from evaluators.rubric.texts import Shape, compact, is_empty, object_in, plain
from evaluators.rules.errors import error_of
from evaluators.rules.repetition import argument_fingerprint

_SECONDS_PER_PATTERN = 0.2
_MOST_PASSAGES = 50
_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?![\d,])(?:\.\d+)?|\d+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Outcome:
    """Whether a condition holds (None: unknown), and where that is seen."""

    truth: bool | None
    passages: tuple[Passage, ...] = ()


def check(condition: Condition, material: Material, chosen: Mapping[str, str] | None = None) -> Outcome:
    """Whether the condition holds.

    Args:
        condition: of the rubric that the material was made for.
        material: the case.
        chosen: answers of the judge to the rubric's questions; None as long as there are none.
    """
    if condition.all_of is not None:
        return _all([check(one, material, chosen) for one in condition.all_of])
    if condition.any_of is not None:
        return _any([check(one, material, chosen) for one in condition.any_of])
    if condition.negated is not None:
        truth = check(condition.negated, material, chosen).truth
        return Outcome(None if truth is None else not truth)
    if condition.asked is not None:
        if chosen is None:
            return Outcome(None)
        return Outcome(all(chosen.get(name) == answer for name, answer in condition.asked.items()))
    if condition.called is not None:
        found = material.called(condition.called)
        return Outcome(True) if found else Outcome(False if material.all_calls else None)
    if condition.repeated is not None:
        return Outcome(_repeated(material, condition.repeated))
    if condition.before is not None:
        return Outcome(_before(material, condition.before))
    if condition.field is not None:
        return Outcome(_has_state(material.fields, condition.field))
    if condition.first_answer is not None:
        return Outcome(_first_answer(material, condition.first_answer))
    if condition.opening is not None:
        opens = not material.exchanges[0].is_history if material.whole_history else None
        return Outcome(None if opens is None else opens == condition.opening)
    if condition.in_a_row is not None:
        return Outcome(_in_a_row(material, condition.in_a_row))
    if condition.contains is not None:
        return _contains(material, condition.contains)
    if condition.unrecorded is not None:
        return _unrecorded(material, condition.unrecorded)
    if condition.sections is not None:
        return _sections(material, condition.sections)
    return Outcome(_output_is(material, condition.output or ""))


def _all(parts: Sequence[Outcome]) -> Outcome:
    passages = tuple(one for part in parts for one in part.passages)
    if any(part.truth is False for part in parts):
        return Outcome(False)
    return Outcome(None if any(part.truth is None for part in parts) else True, passages)


def _any(parts: Sequence[Outcome]) -> Outcome:
    true = [part for part in parts if part.truth]
    if true:
        return Outcome(True, tuple(one for part in true for one in part.passages))
    return Outcome(None if any(part.truth is None for part in parts) else False)


def _has_state(fields: Mapping[str, object], state: FieldState) -> bool | None:
    is_there = state.name in fields
    if state.state in ("present", "absent"):
        return is_there == (state.state == "present")
    if not is_there:
        return None
    value = fields[state.name]
    if state.state in ("empty", "filled"):
        return is_empty(value) == (state.state == "empty")  # type: ignore[arg-type]
    return value is (state.state == "true")


def _first_answer(material: Material, state: FieldState) -> bool | None:
    return _ended_with(material.exchanges[0], state) if material.whole_history else None


def _in_a_row(material: Material, state: FieldState) -> bool | None:
    # what came before the first exchange is unknown, or nothing
    before = False if material.whole_history else None
    ends = [before, *(_ended_with(one, state) for one in material.exchanges)]
    histories = [one.is_history for one in material.exchanges]
    pairs = [pair for pair, is_history in zip(pairwise(ends), histories, strict=True) if not is_history]
    if any(first and second for first, second in pairs):
        return True
    return None if any(False not in pair for pair in pairs) else False


def _ended_with(exchange: Exchange, state: FieldState) -> bool | None:
    """Whether the last thing that was said to a message of the user has a field in this state."""
    found = exchange.outputs[-1].read[0] if exchange.outputs else None
    return _has_state(found, state) if found is not None else None


def _output_is(material: Material, shape: str) -> bool | None:
    if material.answer is None:
        return None
    _, found = object_in(material.answer.text)
    return found is not Shape.TEXT if shape == Shape.JSON else found == shape


def _repeated(material: Material, names: Iterable[str]) -> bool | None:
    seen: set[tuple[str, str]] = set()
    for made in material.called(names):
        if made.call is None or error_of(made.call.result) is not None:
            continue
        arguments = argument_fingerprint(made.call)
        if arguments is None:
            continue
        key = (tool_name(made.call.name), arguments)
        if key in seen:
            return True
        seen.add(key)
    return False if material.all_calls else None


def _before(material: Material, order: Before) -> bool | None:
    first, then = _first(material, order.first), _first(material, order.then)
    if first is None or then is None:
        return False if material.all_calls else None
    return first < then


def _first(material: Material, events: Iterable[str]) -> int | None:
    """The place of the first event of these kinds."""
    return min((place for event in events for place in _places(material, event)), default=None)


def _places(material: Material, event: str) -> Iterator[int]:
    kind, _, name = event.partition(".")
    if kind not in ("output", "answered"):
        yield from (made.place for made in material.called((event,)))
        return
    told = [one for exchange in material.exchanges for one in exchange.outputs[0 if kind == "output" else -1 :]]
    holders = [(output.place, output.read[0] or {}) for output in told]
    if kind == "output":
        holders += [(made.place, dict(found)) for made in material.made for found in objects_in(made.call)]
    for place, found in holders:
        # what only asks back holds nothing yet
        if found.get(material.rubric.asks_back or "") is not True and not is_empty(found.get(name)):
            yield place


def _matches(material: Material, names: Iterable[str], text: str) -> Iterator[tuple[int, int]]:
    """Where one of these patterns matches, in order; overlapping matches once."""
    found: list[tuple[int, int]] = []
    for name in names:
        for pattern in material.rubric.patterns[name]:
            try:
                matches = regex.finditer(pattern, text, regex.IGNORECASE, timeout=_SECONDS_PER_PATTERN)
                found += [one.span() for one, _ in zip(matches, range(_MOST_PASSAGES), strict=False) if one.group()]
            except TimeoutError:
                continue
    end = -1
    for start, until in sorted(found, key=lambda one: (one[0], -one[1])):
        if start >= end:
            yield start, until
            end = until


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


def _contains(material: Material, wanted: Contains) -> Outcome:
    text = _text(material, wanted.text)
    if text is None or (wanted.text == "user" and not text):
        return Outcome(None)
    said = compact(plain(material.user_text)) if not wanted.said_by_user else ""
    passages = []
    for start, end in _matches(material, wanted.pattern, text):
        if _is_on_line_with(material, wanted.without, text, start, end):
            continue
        if said and compact(text[start:end]) in said:
            continue
        passages.append(_passage(material, wanted.text, text, start, end))
    if passages:
        return Outcome(True, tuple(passages[:_MOST_PASSAGES]))
    return Outcome(False if material.uncut else None)


def _is_on_line_with(material: Material, names: Iterable[str], text: str, start: int, end: int) -> bool:
    """Whether the line of a match holds one of these patterns as well."""
    line = text[text.rfind("\n", 0, start) + 1 : end + (text[end:] + "\n").index("\n")]
    return any(True for _ in _matches(material, names, line))


def _unrecorded(material: Material, wanted: Unrecorded) -> Outcome:
    text = _text(material, wanted.text)
    if text is None:
        return Outcome(None)
    recorded = {number for name in wanted.records for number in _numbers(_text(material, name) or "", with_parts=True)}
    passages = []
    for start, end in _matches(material, wanted.pattern, text):
        numbers = _numbers(text[start:end])
        if _is_on_line_with(material, wanted.without, text, start, end):
            continue
        if numbers and not numbers <= recorded:
            passages.append(_passage(material, wanted.text, text, start, end))
    return Outcome(bool(passages), tuple(passages[:_MOST_PASSAGES]))


def _numbers(text: str, *, with_parts: bool = False) -> set[str]:
    """The numbers in a text, without separators of thousands.

    With `with_parts`, what may be a list of numbers ("100,200") counts as these as well.
    """
    found = _NUMBER.findall(text)
    parts = [part for number in found if with_parts and "," in number for part in number.split(",")]
    return {_bare(number.replace(",", "")) for number in (*found, *parts)}


def _bare(number: str) -> str:
    return number.rstrip("0").rstrip(".") if "." in number else number


def _sections(material: Material, wanted: Sections) -> Outcome:
    text = _text(material, wanted.text)
    if text is None:
        return Outcome(None)
    passages = []
    heading: tuple[int, int] | None = None
    lines = 0
    at = 0

    def close() -> None:
        if heading is not None and (
            (wanted.more_than is not None and lines > wanted.more_than)
            or (wanted.fewer_than is not None and lines < wanted.fewer_than)
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
    return Outcome(bool(passages), tuple(passages[:_MOST_PASSAGES]))
