"""Values that can't be meant: two that stand in each other's place, a template left unfilled, an impossible coordinate.

In: the arguments of a call and what the user said.  Out: sentences about the arguments concerned.  Each rule claims
only what its evidence proves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from evaluators.cases import JsonValue
from evaluators.rules.argument_swaps import Mixup, swaps, words_of
from evaluators.rules.evidence import plain
from evaluators.rules.schema_forms import Schema

_MOST_ARGUMENTS = 12
_LONGEST_VALUE = 80
_LARGEST_NUMBER = 1e15


def mixups(
    arguments: Mapping[str, JsonValue], properties: Mapping[str, Schema], said_by_user: str, seen: str
) -> list[Mixup]:
    """Every mix-up among the arguments at the top level.

    Args:
        arguments: the call's arguments.
        properties: their schemas, for the descriptions.
        said_by_user: the user's messages.
        seen: everything that the model had seen, in the form of `plain`.
    """
    scalars = {
        name: shown for name, value in list(arguments.items())[:_MOST_ARGUMENTS] if (shown := _shown(value)) is not None
    }
    found = [*_impossible(arguments), *_reversed(arguments), *_unfilled(scalars, properties, seen)]
    if len(scalars) > 1:
        found += swaps(scalars, properties, plain(said_by_user))
    return found


def _shown(value: JsonValue) -> str | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    if not isinstance(value, str) and not abs(value) < _LARGEST_NUMBER:
        return None
    text = f"{value:g}" if isinstance(value, float) and value.is_integer() else str(value)
    return text.strip() if 0 < len(text.strip()) <= _LONGEST_VALUE else None


# -- coordinates


def _impossible(arguments: Mapping[str, JsonValue]) -> Iterator[Mixup]:
    """A latitude that is none; conclusive beside a longitude, where it can't be an angle of another kind."""
    words = {name: words_of(name) for name in arguments}
    beside = any(word in ("lon", "lng", "long", "longitude") for said in words.values() for word in said[-1:])
    for name, value in arguments.items():
        if not isinstance(value, int | float) or isinstance(value, bool):
            continue
        # Beyond 180 it is another unit (projected metres, ten-millionths of a degree), not a latitude gone wrong.
        if words[name][-1:] in (["lat"], ["latitude"]) and 90 < abs(value) <= 180:
            yield Mixup((name,), f"`{name}` is {value}; a latitude is between -90 and 90.", conclusive=beside)


# -- ranges

_LOWER = {"min": "max", "minimum": "maximum", "lowest": "highest", "start": "end", "begin": "end", "since": "until"}
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}.*)?")


def _reversed(arguments: Mapping[str, JsonValue]) -> Iterator[Mixup]:
    """A range that ends before it starts: seldom meant, but 0 may say "no limit", and ranks and years count down."""
    by_words = {tuple(words_of(name)): name for name in arguments}
    for words, name in by_words.items():
        for place, word in enumerate(words):
            other = by_words.get((*words[:place], _LOWER.get(word, ""), *words[place + 1 :]))
            if other is not None and _exceeds(arguments[name], arguments[other]):
                yield Mixup((name, other), f"`{name}` is beyond `{other}`.", conclusive=False)


def _exceeds(low: JsonValue, high: JsonValue) -> bool:
    if isinstance(low, bool) or isinstance(high, bool):
        return False
    if isinstance(low, int | float) and isinstance(high, int | float):
        return low > high
    if isinstance(low, str) and isinstance(high, str) and len(low) == len(high):
        return bool(_ISO_DATE.fullmatch(low) and _ISO_DATE.fullmatch(high)) and low > high
    return False


# -- templates

_TEMPLATE = re.compile(
    r"[<\[{(]{0,2}\s*(?:your|insert|enter|replace(?:[ _-]with)?)[ _-][a-z0-9]+(?:[ _-][a-z0-9]+){0,3}\s*[>\]})]{0,2}"
    r"|<[a-z][a-z0-9]*(?:[ _-][a-z0-9]+){0,3}>",
    re.IGNORECASE,
)
_ORDERS = frozenset({"your", "insert", "enter", "replace", "with", "here", "the", "a"})


def _unfilled(scalars: Mapping[str, str], properties: Mapping[str, Schema], seen: str) -> Iterator[Mixup]:
    """A placeholder; conclusive where it names its own argument (`user_id`: "<user_id>", `api_key`: "YOUR_API_KEY").

    Tags, keys, slugs and titles look like placeholders too.
    """
    for name, value in scalars.items():
        if _TEMPLATE.fullmatch(value) is None or (value[0].isalnum() and not re.search(r"[_-]", value)):
            continue
        described = str(properties.get(name, {}).get("description", ""))
        default = properties.get(name, {}).get("default")
        if plain(value) not in seen and plain(value) not in plain(described) and value != default:
            named = [word for word in words_of(value) if word not in _ORDERS]
            itself = named[-1:] == words_of(name)[-1:]
            yield Mixup((name,), f"`{name}` is the placeholder “{value}”, not a value.", conclusive=itself)
