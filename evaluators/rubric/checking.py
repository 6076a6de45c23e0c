"""Conditions held against the material of a case.

In: a `Condition` and the `Material`.  Out: true, false or unknown (None), with the passages that show it.  Unknown is
what depends on something that wasn't captured; combinations follow three-valued logic, so that a false part makes an
`all` false whatever is unknown beside it.  Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from evaluators.rubric.conditions import Before, Condition, FieldState
from evaluators.rubric.exchanges import Exchange, objects_in, spellings_of
from evaluators.rubric.material import Material
from evaluators.rubric.searching import Outcome, contains, sections, unrecorded
from evaluators.rubric.texts import Shape, is_cut, is_empty
from evaluators.rules.errors import ErrorClass, classify, error_of
from evaluators.rules.repetition import argument_fingerprint


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
        return Outcome(_called(material, condition.called))
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
        return contains(material, condition.contains)
    if condition.unrecorded is not None:
        return unrecorded(material, condition.unrecorded)
    if condition.sections is not None:
        return sections(material, condition.sections)
    return Outcome(_output_is(material, condition.output or ""))


def _called(material: Material, names: Sequence[str]) -> bool | None:
    if material.called(names):
        return True
    return False if material.all_calls and not material.mentions(names) else None


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
    holders = exchange.outputs[-1].holders if exchange.outputs else ()
    found = next((one for one in holders if state.name in one), next(iter(holders), None))
    return _has_state(found, state) if found is not None else None


def _output_is(material: Material, shape: str) -> bool | None:
    if material.answer is None:
        return None
    found = material.answer.read[1]
    if found is Shape.TEXT and is_cut(material.answer.text):
        return None
    return found is not Shape.TEXT if shape == Shape.JSON else found == shape


def _repeated(material: Material, names: Iterable[str]) -> bool | None:
    answers: dict[tuple[int, str, str], set[str | None]] = {}
    may_be = False
    for made in material.called(names):
        arguments = argument_fingerprint(made.call) if made.call is not None else None
        if made.call is None or arguments is None or error_of(made.call.result) is not None:
            continue
        said = made.call.result.content if made.call.result is not None else None
        before = answers.setdefault((made.exchange, spellings_of(made.call.name)[0], arguments), set())
        # what came of it may have been a reason to ask again
        if said and said in before and classify(said) is ErrorClass.OPAQUE:
            return True
        may_be = may_be or bool(before)
        before.add(said)
    return False if material.all_calls and not may_be else None


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
    holders = [(output.place, found) for output in told for found in output.holders]
    if kind == "output":
        holders += [(made.place, found) for made in material.made for found in objects_in(made.call)]
    for place, found in holders:
        # what only asks back holds nothing yet
        if found.get(material.rubric.asks_back or "") is not True and not is_empty(found.get(name)):
            yield place
