"""The JSON Schema of an answer: one object with a property per question.

In: named questions.  Out: a strict schema that leaves as little as possible to go wrong: words, calls and places can
only be those that exist, and a question about several calls has one property for each of them, so that none is left
out or answered twice.  It is short, since it is read with every request: what is equal is written once, under short
names.  `evaluators.judge.answering.answer` reads what was written by it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pydantic import BaseModel

from evaluators.cases import JsonValue
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
        if not has_own_evidence(question.answer_type):
            definition = _with_evidence(definition, definitions)
        if question.call_ids:
            called = [aliases.call(call_id) for call_id in dict.fromkeys(question.call_ids)]
            answers[name] = _about_calls(definition, called, definitions)
        else:
            answers[name] = reference(definition)
    return _with_short_names(strict_object(answers), definitions)


def has_own_evidence(answer_type: type[BaseModel]) -> bool:
    """Whether the answer type itself has a field for evidence at its top."""
    return EVIDENCE in answer_type.model_fields


def _with_evidence(definition: str, definitions: dict[str, Schema]) -> str:
    """The definition with evidence in front, so that the model looks for its grounds before it reasons."""
    name = f"{definition}_grounded"
    definitions[name] = strict_object({EVIDENCE: reference("Evidence"), **_properties(definitions[definition])})
    return name


def _about_calls(definition: str, called: Sequence[str], definitions: dict[str, Schema]) -> Schema:
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
    definitions[one] = strict_object(_replaced(properties, CALLS, CALL, reference(item)))
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


def _with_short_names(whole: Schema, definitions: Mapping[str, Schema]) -> Schema:
    """The schema with the definitions it needs, named in the order in which they are referred to."""
    short: dict[str, str] = {}
    open_names = list(_references(whole))
    while open_names:
        name = open_names.pop(0)
        if name not in short:
            short[name] = f"d{len(short) + 1}"
            open_names += _references(definitions[name])
    renamed = {short[name]: _renamed(definitions[name], short) for name in short}
    schema = _renamed(whole, short)
    assert isinstance(schema, dict)
    return schema | {"$defs": renamed}


def _references(value: JsonValue) -> Iterator[str]:
    if isinstance(value, dict):
        if "$ref" in value:
            yield name_of(value)
        for inner in value.values():
            yield from _references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _references(inner)


def _renamed(value: JsonValue, names: Mapping[str, str]) -> JsonValue:
    if isinstance(value, dict):
        if "$ref" in value:
            return reference(names[name_of(value)])
        return {key: _renamed(inner, names) for key, inner in value.items()}
    if isinstance(value, list):
        return [_renamed(inner, names) for inner in value]
    return value
