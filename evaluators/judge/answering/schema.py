"""The JSON Schema of an answer: one object with a property per question.

In: named questions.  Out: a strict schema that leaves as little as possible to go wrong: words, calls and places can
only be those that exist, and a question about several calls has one property for each of them, so that none is left
out or answered twice.  `evaluators.judge.answering.sharing` makes it short, `evaluators.judge.answering.answer` reads
what was written by it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import get_args

from pydantic import BaseModel

from evaluators.cases import JsonValue
from evaluators.judge.answering.sharing import written_once
from evaluators.judge.question import NamedQuestion
from evaluators.judge.showing.aliases import Aliases
from evaluators.judge.strict_schema import CALL_ID, EVIDENCE, Schema, definitions_of, name_of, reference, strict_object

CALLS = "calls"
CALL = "call"
_MOST_ENUM_VALUES = 200


def answer_schema(
    asked: Sequence[NamedQuestion], aliases: Aliases, control: Mapping[str, Schema] | None = None
) -> Schema:
    """The schema of the whole answer.

    Args:
        asked: the questions, each a property under its name.
        aliases: those under which the run is shown.
        control: properties that stand before those of the questions.

    Raises:
        TypeError: an answer type can't be said in a strict schema, or calls are asked about and it has no list of them.
    """
    types = tuple(dict.fromkeys(question.answer_type for _, question in asked))
    names, known = definitions_of(types)
    definitions: dict[str, Schema] = {
        **known,
        "Evidence": {"type": "array", "items": _one_of(aliases.places)},
        "CallId": _one_of(aliases.calls),
    }
    answers: dict[str, JsonValue] = {**(control or {})}
    for name, question in asked:
        definition = names[question.answer_type]
        if asks_for_evidence(question.answer_type, aliases):
            definition = _with_evidence(definition, definitions)
        if question.call_ids:
            called = [aliases.call(call_id) for call_id in dict.fromkeys(question.call_ids)]
            flat = is_flat(question.answer_type, len(called))
            answers[name] = _about_calls(definition, called, definitions, flat=flat)
        else:
            answers[name] = reference(definition)
    return written_once(strict_object(answers), definitions)


def asks_for_evidence(answer_type: type[BaseModel], aliases: Aliases) -> bool:
    """Whether the schema adds evidence to an answer; where there is but one place, there is nothing to choose."""
    return not has_own_evidence(answer_type) and len(aliases.places) > 1


def has_own_evidence(answer_type: type[BaseModel]) -> bool:
    """Whether the answer type itself has a field for evidence at its top."""
    return EVIDENCE in answer_type.model_fields


def is_flat(answer_type: type[BaseModel], calls: int) -> bool:
    """Whether what is said of its one call stands at the top of the answer, without an object of its own."""
    return calls == 1 and fields_of_calls(answer_type).isdisjoint(answer_type.model_fields)


def fields_of_calls(answer_type: type[BaseModel]) -> frozenset[str]:
    """What is said of each call.

    Raises:
        TypeError: the answer type has no list of answers about calls.
    """
    field = answer_type.model_fields.get(CALLS)
    for item in get_args(field.annotation) if field is not None else ():
        if isinstance(item, type) and issubclass(item, BaseModel):
            return frozenset(item.model_fields) - {CALL_ID}
    raise TypeError(
        f"{answer_type.__name__}: an answer about calls needs a field calls, a list of a model with call_id"
    )


def _with_evidence(definition: str, definitions: dict[str, Schema]) -> str:
    """The definition with evidence in front, so that the model looks for its grounds before it reasons."""
    name = f"{definition}_grounded"
    definitions[name] = strict_object({EVIDENCE: reference("Evidence"), **_properties(definitions[definition])})
    return name


def _about_calls(definition: str, called: Sequence[str], definitions: dict[str, Schema], *, flat: bool) -> Schema:
    """The definition with a property per call, instead of a list whose items name their call."""
    properties = _properties(definitions[definition])
    calls = properties.get(CALLS)
    items = calls.get("items") if isinstance(calls, dict) else None
    if not isinstance(items, dict) or "$ref" not in items:
        raise TypeError(f"{definition}: an answer about calls needs a field calls, a list of a model with call_id")
    item = f"{name_of(items)}_of_call"
    own = _properties(definitions[name_of(items)])
    definitions[item] = strict_object({name: schema for name, schema in own.items() if name != CALL_ID})
    if len(called) > 1:
        each: Schema = {alias: reference(item) for alias in called}
        return strict_object(_replaced(properties, CALLS, CALLS, strict_object(each)))
    # By far the most usual case, and the same for every call.
    one = f"{definition}_of_one_call"
    own = _properties(definitions[item])
    around = {name: schema for name, schema in properties.items() if name != CALLS}
    definitions[one] = strict_object({**around, **own} if flat else _replaced(properties, CALLS, CALL, reference(item)))
    return reference(one)


def _replaced(properties: Mapping[str, JsonValue], old: str, new: str, schema: Schema) -> Schema:
    """The properties with `old` replaced at its place."""
    return {new if name == old else name: schema if name == old else kept for name, kept in properties.items()}


def _properties(definition: Schema) -> Mapping[str, JsonValue]:
    properties = definition.get("properties")
    return properties if isinstance(properties, dict) else {}


def _one_of(names: Sequence[str]) -> Schema:
    # Endpoints bound how many values a schema may list.
    if 0 < len(names) <= _MOST_ENUM_VALUES:
        return {"type": "string", "enum": list(names)}
    return {"type": "string"}
