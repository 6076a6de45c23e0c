"""Two values in each other's place.

In: the scalars among a call's arguments and what the user said.  Out: what is swapped.  A swap needs both values under
each other's label in the user's own words and neither under its own, or a date where a name belongs and the other way
round.  Start and goal in each other's place are never more than a suspicion, since the way back swaps them rightly, and
whatever the user took back or wanted turned is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from evaluators.rules.evidence import plain
from evaluators.rules.schema_forms import Schema

_MOST_PLACES = 20
_BEFORE_CHARS = 48


@dataclass(frozen=True, slots=True)
class Mixup:
    """What is wrong with the values of `arguments`; a suspicion unless `conclusive`."""

    arguments: tuple[str, ...]
    detail: str
    conclusive: bool = True


def swaps(scalars: Mapping[str, str], properties: Mapping[str, Schema], user: str) -> list[Mixup]:
    """Every swap among arguments.

    Args:
        scalars: the arguments at the top level that are texts or numbers, as texts.
        properties: schemas of the arguments, for the descriptions.
        user: the user's messages, in the form of `plain`.
    """
    return [*_dates_for_names(scalars, properties), *_crossed(scalars, user), *_turned_round(scalars, user)]


def words_of(name: str) -> list[str]:
    """The words of a name, in small letters: `minPrice` and `min_price` are the same two."""
    return [word for word in re.split(r"[^a-z0-9]+", _CAMEL.sub("_", name).lower()) if word]


_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
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
    r"(?:to|yester)day|tonight|tomorrow|now|next|last|this|any|flexible|week|month|year|(?:mon|tues|wednes|thurs|fri"
    r"|satur"
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
        and set(words_of(name)) & _OF_NAMES
        and not _SPEAKS_OF_TIME.search(name)
        and not _SPEAKS_OF_TIME.search(str(properties.get(name, {}).get("description", "")))
    ]
    if not misplaced:
        return
    for name, value in scalars.items():
        if set(words_of(name)) & _DATE_NAME and _NAME_OR_PLACE.fullmatch(value) and not _TIME_WORD.search(value):
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
        words, other_words = words_of(one), words_of(other)
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


_GOALS = {
    "from": ("to",),
    "origin": ("destination", "dest"),
    "source": ("target", "destination", "dest"),
    "src": ("dst", "dest"),
    "departure": ("arrival", "destination"),
    "start": ("end", "destination"),
    "pickup": ("dropoff",),
}
_FAR = r"[^.!?;\n。！？；]{0,24}?"
# START and GOAL stand for the two values
_WAYS = (
    rf"\b(?:from|von|de|desde|da) START\b{_FAR}\b(?:to|into|nach|bis|a|hasta|para) GOAL(?!\w)",
    rf"[从從自由]START{_FAR}(?:飞往|飞到|前往|开往|飞|到|去|至|往)GOAL",
    rf"STARTから{_FAR}GOAL(?=まで|へ|に|行)",
)
_ALSO_RIGHT = r"(?<!\w)START ?(?:to|->|→|–|-|nach|到|至) ?GOAL(?!\w)"
_THE_WAY_BACK = re.compile(
    r"\b(?:back|return\w*|round|home|vice versa|both (?:ways|directions)|each way|zuruck|ruck\w*|heim\w*"
    r"|retour|vuelta"
    r"|regreso|volta|ritorno)\b|回|返|来回|往復|帰"
)


def _turned_round(scalars: Mapping[str, str], user: str) -> Iterator[Mixup]:
    """Start and goal in each other's place, by the user's own "from … to …", with no word of a way back."""
    by_words = {tuple(words_of(name)): name for name in scalars}
    for words, one in by_words.items():
        for place, word in enumerate(words):
            for goal in _GOALS.get(word, ()):
                other = by_words.get((*words[:place], goal, *words[place + 1 :]))
                if other is None or _TURNED.search(user) or _THE_WAY_BACK.search(user):
                    continue
                start, end = (re.escape(plain(scalars[name])) for name in (one, other))
                ways = [_way(way, end, start) for way in _WAYS]
                right = [_way(way, start, end) for way in (*_WAYS, _ALSO_RIGHT)]
                if (
                    start != end
                    and any(way.search(user) for way in ways)
                    and not any(way.search(user) for way in right)
                ):
                    detail = f"`{one}` and `{other}` go the other way than the user said."
                    yield Mixup((one, other), detail, conclusive=False)


def _way(pattern: str, start: str, goal: str) -> re.Pattern[str]:
    return re.compile(pattern.replace("START", start).replace("GOAL", goal))
