"""The JSON Schema of an answer: one object with a property per question.

In: named questions.  Out: a strict schema that leaves as little as possible to go wrong: words, calls and places can
only be those that exist, and a question about several calls has one property for each of them, so that none is left
out or answered twice.  `evaluators.judge.answer` reads what was written by it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pydantic import BaseModel

from evaluators.cases import JsonValue
from evaluators.judge.aliases import Aliases
from evaluators.judge.question import NamedQuestion
from evaluators.judge.strict import CALL_ID, EVIDENCE, Schema, definitions_of, name_of, reference, strict_object

CALLS = "calls"
_MOST_ENUM_VALUES = 200


def answer_schema(asked: Sequence[NamedQuestion], aliases: Aliases) -> Schema:
    """The schema of the whole answer.

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
    answers: dict[str, JsonValue] = {}
    for name, question in asked:
        definition = names[question.answer_type]
        if not has_own_evidence(question.answer_type):
            definition = _with_evidence(definition, definitions)
        if question.call_ids:
            called = [aliases.call(call_id) for call_id in dict.fromkeys(question.call_ids)]
            answers[name] = _per_call(definition, called, definitions)
        else:
            answers[name] = reference(definition)
    whole = strict_object(answers)
    return whole | {"$defs": {name: definitions[name] for name in sorted(_needed(whole, definitions))}}


def has_own_evidence(answer_type: type[BaseModel]) -> bool:
    """Whether the answer type itself has a field for evidence at its top."""
    return EVIDENCE in answer_type.model_fields


def _with_evidence(definition: str, definitions: dict[str, Schema]) -> str:
    """The definition with evidence in front, so that the model looks for its grounds before it reasons."""
    name = f"{definition}_grounded"
    definitions[name] = strict_object({EVIDENCE: reference("Evidence"), **_properties(definitions[definition])})
    return name


def _per_call(definition: str, called: Sequence[str], definitions: dict[str, Schema]) -> Schema:
    """The definition with `calls` as one property per call, instead of a list whose items name their call."""
    properties = _properties(definitions[definition])
    calls = properties.get(CALLS)
    items = calls.get("items") if isinstance(calls, dict) else None
    if not isinstance(items, dict) or "$ref" not in items:
        raise TypeError(f"{definition}: an answer about calls needs a field calls, a list of a model with call_id")
    item = f"{name_of(items)}_of_call"
    own = _properties(definitions[name_of(items)])
    definitions[item] = strict_object({name: schema for name, schema in own.items() if name != CALL_ID})
    return strict_object({**properties, CALLS: strict_object({alias: reference(item) for alias in called})})


def _properties(definition: Schema) -> Mapping[str, JsonValue]:
    properties = definition.get("properties")
    return properties if isinstance(properties, dict) else {}


def _one_of(names: Sequence[str]) -> Schema:
    # Endpoints bound how many values a schema may list.
    if 0 < len(names) <= _MOST_ENUM_VALUES:
        return {"type": "string", "enum": list(names)}
    return {"type": "string"}


def _needed(schema: JsonValue, definitions: Mapping[str, Schema]) -> set[str]:
    """The definitions that are referred to, directly or by others."""
    needed: set[str] = set()
    open_names = list(_references(schema))
    while open_names:
        name = open_names.pop()
        if name not in needed:
            needed.add(name)
            open_names += _references(definitions[name])
    return needed


def _references(value: JsonValue) -> Iterator[str]:
    if isinstance(value, dict):
        if "$ref" in value:
            yield name_of(value)
        for inner in value.values():
            yield from _references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _references(inner)
