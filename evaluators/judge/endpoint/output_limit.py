"""How many tokens an answer may take: enough for the longest that is asked for, so that no small model runs on.

In: the schema of the answer.  Out: a number of tokens.  It is an estimate with room to spare, made from the kinds of
values that the schema asks for; what a model needs for reasoning is not in it (`evaluators.judge.endpoint.endpoint`
leaves the limit out when it turns out to need some).
"""

from __future__ import annotations

from collections.abc import Mapping

from evaluators.cases import JsonValue
from evaluators.judge.strict_schema import Schema, name_of

_SPARE_TOKENS = 200
_TEXT_TOKENS = 250
_WORD_TOKENS = 12
_NUMBER_TOKENS = 8
_KEY_TOKENS = 8
_MOST_WORDS_IN_A_LIST = 8
_MOST_ITEMS_IN_A_LIST = 12
_MAX_DEPTH = 12


def output_limit(schema: Schema) -> int:
    """Tokens within which an answer of this form can be written."""
    definitions = schema.get("$defs")
    return _SPARE_TOKENS + _tokens(schema, definitions if isinstance(definitions, dict) else {}, 0)


def _tokens(value: JsonValue, definitions: Mapping[str, JsonValue], depth: int) -> int:
    if not isinstance(value, dict) or depth > _MAX_DEPTH:
        return _TEXT_TOKENS
    if "$ref" in value:
        return _tokens(definitions.get(name_of(value)), definitions, depth + 1)
    if isinstance(choices := value.get("anyOf"), list):
        return max(_tokens(choice, definitions, depth + 1) for choice in choices)
    if "enum" in value:
        return _WORD_TOKENS
    if isinstance(properties := value.get("properties"), dict):
        return sum(_KEY_TOKENS + _tokens(inner, definitions, depth + 1) for inner in properties.values())
    if "items" in value:
        item = _tokens(value["items"], definitions, depth + 1)
        return item * (_MOST_WORDS_IN_A_LIST if item <= _WORD_TOKENS else _MOST_ITEMS_IN_A_LIST)
    return _TEXT_TOKENS if value.get("type") == "string" else _NUMBER_TOKENS
