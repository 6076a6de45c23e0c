"""Values that can't be meant: two that stand in each other's place, a template left unfilled, an impossible coordinate.

In: the arguments of a call and what the user said.  Out: sentences about the arguments concerned.  Each rule claims
only what its evidence proves: a swap needs both values under each other's label in the user's own words and neither
under its own, or a date where a name belongs and the other way round.  Arguments that name a direction are left alone,
since the way back swaps them rightly, and so is whatever the user took back or wanted turned.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from evaluators.cases import JsonValue
from evaluators.rules.evidence import plain
from evaluators.rules.schema_forms import Schema

_MOST_ARGUMENTS = 12
_LONGEST_VALUE = 80
_LARGEST_NUMBER = 1e15
_MOST_PLACES = 20
_BEFORE_CHARS = 48


@dataclass(frozen=True, slots=True)
class Mixup:
    """What is wrong with the values of `arguments`; a suspicion unless `conclusive`."""

    arguments: tuple[str, ...]
    detail: str
    conclusive: bool = True


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
        user = plain(said_by_user)
        found += [*_dates_for_names(scalars, properties), *_crossed(scalars, user)]
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
    words = {name: _words(name) for name in arguments}
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
    by_words = {tuple(_words(name)): name for name in arguments}
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
            named = [word for word in _words(value) if word not in _ORDERS]
            itself = named[-1:] == _words(name)[-1:]
            yield Mixup((name,), f"`{name}` is the placeholder “{value}”, not a value.", conclusive=itself)


# -- swaps

_FULL_DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}")
_DATE_NAME = frozenset({"date", "day", "when", "datetime", "checkin", "checkout", "deadline", "birthday", "dob"})
_OF_NAMES = frozenset(
    {"name", "city", "town", "place", "location", "country", "state", "region", "person", "guest", "passenger", "hotel"}
    | {"restaurant", "company", "airport", "airline", "station", "origin", "destination", "address", "venue", "artist"}
    | {"doctor", "patient", "customer", "attendee", "team"}
)
_SPEAKS_OF_TIME = re.compile(r"date|day|time|when|period|year|month|日期|时间|年|月", re.IGNORECASE)
_NAME_OR_PLACE = re.compile(r"[A-Z][^\W\d_]{2,}(?:[ ,.'-]+[A-Z][^\W\d_]*){0,4}")
_TIME_WORD = re.compile(
    r"(?:to|yester)day|tonight|tomorrow|now|next|last|this|any|flexible|week|month|year|(?:mon|tues|wednes|thurs|fri|satur"
    r"|sun)day|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|spring|summer|autumn|fall|winter|christmas|easter|eve"
    r"|holiday|morning|evening|noon|night|soon|latest|current|immediate|default|none|null|unknown|care",
    re.IGNORECASE,
)


def _dates_for_names(scalars: Mapping[str, str], properties: Mapping[str, Schema]) -> Iterator[Mixup]:
    """A full date in an argument for a name or place, and a name in one that is a date."""
    misplaced = [
        name
        for name, value in scalars.items()
        if _FULL_DATE.fullmatch(value)
        and set(_words(name)) & _OF_NAMES
        and not _SPEAKS_OF_TIME.search(name)
        and not _SPEAKS_OF_TIME.search(str(properties.get(name, {}).get("description", "")))
    ]
    if not misplaced:
        return
    for name, value in scalars.items():
        if set(_words(name)) & _DATE_NAME and _NAME_OR_PLACE.fullmatch(value) and not _TIME_WORD.search(value):
            detail = f"`{name}` is “{value}” and `{misplaced[0]}` a date: they stand in each other's place."
            yield Mixup((name, misplaced[0]), detail)
            return


_DIRECTIONS = frozenset(
    {"from", "to", "origin", "destination", "start", "end", "source", "target", "departure", "arrival", "sender"}
    | {"receiver", "recipient", "old", "new", "first", "second", "min", "max", "minimum", "maximum", "begin", "src"}
    | {"dst", "dest", "left", "right", "before", "after", "base", "current", "previous", "next", "home", "away"}
)
_NOT_LABELS = frozenset(
    {"the", "and", "for", "value", "name", "number", "type", "list", "data", "info", "text", "input"}
)
_OF_IDS = frozenset({"id", "ids", "number", "code", "no", "key", "ref", "reference"})
_FILLERS = frozenset(
    {
        "of",
        "is",
        "was",
        "are",
        "named",
        "called",
        "number",
        "no",
        "id",
        "code",
        "the",
        "a",
        "an",
        "as",
        "to",
        "at",
        "with",
    }
    | {"titled", "equal", "equals"}
)
# the user takes it back, or wants it the other way round
_TURNED = re.compile(
    r"rotat|\bswap|\bswitch|\bturn|\bflip|revers|invert|transpos|exchang|other way|portrait|landscape|upside"
    r"|\bsorry\b|\bwait\b|\bactually\b|\binstead\b|\brather\b|\bi mean\b|correction|旋转|交换|对调|转置|反过来|不对"
)
_MOST_FILLERS = 3
_LONGEST_ENDING = 8
_WORDS_BEFORE = re.compile(r"[a-z]+")
_LETTER_BEFORE = re.compile(r"(?<!\w)([a-z])\s*=\s*$")
_WORD_AFTER = re.compile(r"['\"”’)]?\s([a-z]+)")
_DECIMALS = re.compile(r"[.,]\d")
_AFTER_A_BREAK = re.compile(r"[.,;!?]\s|[^\W\d_]*\d\w*")


@dataclass(frozen=True, slots=True)
class _Labels:
    """The words by which the user would name an argument. `may_follow`: also right after the value."""

    words: tuple[str, ...]
    may_follow: bool

    def stand_near(self, text: str, start: int, end: int) -> bool:
        """Whether one of the words stands anywhere about `text[start:end]`: worth a closer look."""
        near = text[max(0, start - _BEFORE_CHARS) : end + _BEFORE_CHARS]
        return any(word in near for word in self.words)

    def end(self, before: str) -> bool:
        """Whether a text ends in one of the words, but for fillers (`the width is 20`)."""
        if len(self.words[0]) == 1:
            letter = _LETTER_BEFORE.search(before)
            return letter is not None and letter[1] == self.words[0]
        for passed, word in enumerate(reversed(_WORDS_BEFORE.findall(before))):
            if self._is_one(word):
                return True
            if passed >= _MOST_FILLERS or word not in _FILLERS:
                return False
        return False

    def follow(self, text: str, at: int) -> bool:
        """Whether one of the words comes next (`1500 square`)."""
        after = _WORD_AFTER.match(text, at) if self.may_follow else None
        return after is not None and self._is_one(after[1])

    def _is_one(self, word: str) -> bool:
        return any(word.startswith(label) and len(word) - len(label) <= _LONGEST_ENDING for label in self.words)


def _crossed(scalars: Mapping[str, str], user: str) -> Iterator[Mixup]:
    """Two values that the user gave under each other's label, and neither under its own."""
    for (one, value), (other, other_value) in combinations(scalars.items(), 2):
        words, other_words = _words(one), _words(other)
        if {*words, *other_words} & _DIRECTIONS or plain(value) == plain(other_value):
            continue
        if plain(value) not in user and plain(other_value) not in user:
            continue
        labels = _labels(words, other_words)
        other_labels = _labels(other_words, words)
        if labels is None or other_labels is None:
            continue
        if _under(user, labels, value) or _under(user, other_labels, other_value):
            continue
        for_other, for_one = _under(user, other_labels, value), _under(user, labels, other_value)
        if for_other and for_one:
            detail = f"`{one}` and `{other}` stand in each other's place: the user gave each value for the other."
            yield Mixup((one, other), detail, conclusive=_TURNED.search(user) is None)
            return
        # Next to the word "reservation" stands more than its id.
        if (for_other or for_one) and not {words[-1], other_words[-1]} & _OF_IDS:
            given, wanted = (one, other) if for_other else (other, one)
            detail = f"`{given}` has the value that the user gave for `{wanted}`."
            yield Mixup((one, other), detail, conclusive=False)


def _labels(words: list[str], others: list[str]) -> _Labels | None:
    if len(words) == 1 and len(words[0]) == 1:
        return _Labels((words[0],), may_follow=False)
    kept = tuple(word for word in words if len(word) >= 3 and word not in _NOT_LABELS and word not in others)
    return _Labels(kept, may_follow=words[-1] not in _OF_IDS) if kept else None


def _under(text: str, labels: _Labels, value: str) -> bool:
    """Whether the text gives the value right after, or right before, one of the labels."""
    wanted = plain(value)
    number = wanted[-1].isdigit()
    at = text.find(wanted)
    for _ in range(_MOST_PLACES):
        if at < 0:
            return False
        end = at + len(wanted)
        if not labels.stand_near(text, at, end):
            at = text.find(wanted, end)
            continue
        follower = text[end : end + 1]
        whole = not text[at - 1 : at].isalnum() and not (follower.isdigit() if number else follower.isalnum())
        if whole and not (number and _DECIMALS.match(text, end)):
            before = _AFTER_A_BREAK.split(text[max(0, at - _BEFORE_CHARS) : at])[-1]
            if labels.end(before) or labels.follow(text, end):
                return True
        at = text.find(wanted, end)
    return False


_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def _words(name: str) -> list[str]:
    return [word for word in re.split(r"[^a-z0-9]+", _CAMEL.sub("_", name).lower()) if word]
