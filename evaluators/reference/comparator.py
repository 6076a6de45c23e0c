"""Whether the arguments of two calls say the same, and where they don't. The one comparison of `tool_calls_match`.

What is the same: 5 and 5.0; fractions within a tolerance; an object and the JSON text of it; texts of one Unicode
normal form (NFC); objects whatever the order of keys; null and absent.  What isn't: a boolean and a number, a number
and its digits as text, lists in another order.  Rules for single fields may say otherwise.  In: two JSON objects.  Out:
how alike they are, 0..1, and the paths of the fields that differ, never their values.  It is symmetric: neither side is
the right one.
"""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import lru_cache

import orjson
import regex
from pydantic import BaseModel, ConfigDict, Field, field_validator

from evaluators.cases import JsonValue
from evaluators.reference.alignment import best_assignment
from evaluators.reference.calls import is_deep

Json = Mapping[str, JsonValue]
_PATTERN_S = 0.2
_LONGEST_MATCHED = 4_096
_LONGEST_UNORDERED = 100
_DEEPEST_HELD = 8


class FieldRule(BaseModel):
    """How one field of a tool's arguments is compared, in the place of the common comparison."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tool: str = Field(default="*", description="The tool, or a pattern with *.")
    field: str = Field(
        min_length=1, description="The argument; of one within another the path with dots, such as filter.city."
    )
    ignore: bool = Field(default=False, description="The field doesn't count.")
    ignore_case: bool = Field(default=False, description="Upper and lower case are the same.")
    ignore_list_order: bool = Field(default=False, description="Lists are the same in any order, up to 100 items.")
    tolerance: float | None = Field(default=None, ge=0.0, description="Numbers this far apart are the same.")
    regex: str | None = Field(
        default=None, description="Values are the same if both match this pattern as a whole, whatever they are."
    )

    @field_validator("regex")
    @classmethod
    def _compiles(cls, pattern: str | None) -> str | None:
        if pattern is not None:
            try:
                regex.compile(pattern)
            except regex.error as error:
                raise ValueError(f"is no regular expression ({error}); correct the pattern") from None
        return pattern


class Difference(StrEnum):
    """How a field differs."""

    MISSING = "is missing"
    UNEXPECTED = "was not expected"
    OTHER_VALUE = "has another value"


@dataclass(frozen=True, slots=True)
class Comparison:
    """How alike two objects are: the share of fields that are the same, and the paths of those that differ."""

    likeness: float
    differences: tuple[tuple[str, Difference], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparator:
    """The declared comparison.

    `number_tolerance` is relative to the larger number, and not for whole numbers; `null_is_absent`: an argument that
    is null wasn't given.
    """

    number_tolerance: float = 1e-9
    null_is_absent: bool = True
    rules: tuple[FieldRule, ...] = ()

    def compare(self, tool: str, expected: Json, made: Json, *, only_expected: bool = False) -> Comparison:
        """Compare the arguments of two calls of one tool.

        The likeness is the mean over all fields of both, where an inner object counts with its own likeness.

        Args:
            tool: its name, by which rules are chosen.
            expected: one object.
            made: the other.
            only_expected: fields that are in `made` alone don't count.

        Raises:
            TimeoutError: a rule's pattern took too long on a value.
        """
        return self.compare_normal(tool, self.normal(expected), self.normal(made), only_expected=only_expected)

    def normal(self, arguments: Json) -> Json:
        """Arguments with what makes no difference taken out; worth keeping where they are compared often."""
        found = normal_form(arguments, null_is_absent=self.null_is_absent)
        assert isinstance(found, dict)
        return found

    def compare_normal(self, tool: str, expected: Json, made: Json, *, only_expected: bool = False) -> Comparison:
        """The same as `compare`, of arguments that are `normal`."""
        rules = {rule.field: rule for rule in self.rules if fnmatchcase(tool, rule.tool)}
        return self._objects(expected, made, "", rules, only_expected)

    def _objects(
        self, wanted: Json, given: Json, within: str, rules: Mapping[str, FieldRule], only_expected: bool
    ) -> Comparison:
        total, fields = 0.0, 0
        differences: list[tuple[str, Difference]] = []
        for key in sorted(wanted if only_expected else wanted.keys() | given.keys()):
            path = f"{within}.{key}" if within else key
            rule = rules.get(path)
            if rule is not None and rule.ignore:
                continue
            fields += 1
            if key not in given or key not in wanted:
                differences.append((path, Difference.UNEXPECTED if key in given else Difference.MISSING))
                continue
            one, other = wanted[key], given[key]
            if isinstance(one, dict) and isinstance(other, dict) and (rule is None or rule.regex is None):
                inner = self._objects(one, other, path, rules, only_expected)
                total += inner.likeness
                differences += inner.differences
            elif self._is_same(one, other, path, rules, rule):
                total += 1
            else:
                differences.append((path, Difference.OTHER_VALUE))
        return Comparison(total / fields if fields else 1.0, tuple(differences))

    def _is_same(
        self,
        one: JsonValue,
        other: JsonValue,
        path: str,
        rules: Mapping[str, FieldRule],
        rule: FieldRule | None,
    ) -> bool:
        if rule is not None and rule.regex is not None:
            return _matches(rule.regex, one) and _matches(rule.regex, other)
        if isinstance(one, dict) and isinstance(other, dict):
            return not self._objects(one, other, path, rules, only_expected=False).differences
        if isinstance(one, list) and isinstance(other, list):
            return self._are_same_lists(one, other, path, rules, rule)
        if isinstance(one, str) and isinstance(other, str):
            return _plain(one, rule) == _plain(other, rule)
        if isinstance(one, bool) or isinstance(other, bool):
            return one is other
        if isinstance(one, int | float) and isinstance(other, int | float):
            return self._is_same_number(one, other, rule)
        return one is None and other is None

    def _are_same_lists(
        self,
        one: Sequence[JsonValue],
        other: Sequence[JsonValue],
        path: str,
        rules: Mapping[str, FieldRule],
        rule: FieldRule | None,
    ) -> bool:
        if len(one) != len(other):
            return False
        if rule is None or not rule.ignore_list_order or len(one) > _LONGEST_UNORDERED:
            return all(self._is_same(a, b, path, rules, rule) for a, b in zip(one, other, strict=True))
        same = [[int(self._is_same(here, there, path, rules, rule)) for there in other] for here in one]
        return len(best_assignment(same)) == len(one)

    def _is_same_number(self, one: float, other: float, rule: FieldRule | None) -> bool:
        if one == other or (one != one and other != other):
            return True
        try:
            if rule is not None and rule.tolerance is not None:
                # what is written as 0.1 apart isn't always 0.1 apart in binary
                return abs(one - other) <= rule.tolerance * (1 + 1e-9)
            if _is_whole(one) and _is_whole(other):
                # they may be ids
                return False
            return math.isclose(one, other, rel_tol=self.number_tolerance)
        except OverflowError:
            return False


def _is_whole(number: float) -> bool:
    return isinstance(number, int) or number.is_integer()


def normal_form(value: JsonValue | Json, *, null_is_absent: bool) -> JsonValue:
    """A value whose texts and keys are NFC, with the objects and lists that texts hold in the place of the texts."""
    if isinstance(value, str):
        held = _held(value)
        return unicodedata.normalize("NFC", value) if held is None else normal_form(held, null_is_absent=null_is_absent)
    if isinstance(value, list):
        return [normal_form(inner, null_is_absent=null_is_absent) for inner in value]
    if isinstance(value, Mapping):
        return {
            unicodedata.normalize("NFC", key): normal_form(inner, null_is_absent=null_is_absent)
            for key, inner in value.items()
            if inner is not None or not null_is_absent
        }
    return value


def _held(text: str) -> JsonValue:
    """The object or list that a text holds; None where it holds none."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        held: JsonValue = orjson.loads(text)
    except ValueError:
        return None
    # Texts within texts could be nested as deeply as somebody likes.
    return None if is_deep(held, _DEEPEST_HELD) else held


def _plain(text: str, rule: FieldRule | None) -> str:
    return unicodedata.normalize("NFC", text.casefold()) if rule is not None and rule.ignore_case else text


def _matches(pattern: str, value: JsonValue) -> bool:
    if isinstance(value, dict | list):
        text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    else:
        text = value if isinstance(value, str) else str(value)
    # a longer one would be no identifier or date, which is what patterns are for
    return len(text) <= _LONGEST_MATCHED and _fits(pattern, text)


@lru_cache(maxsize=2_000)
def _fits(pattern: str, text: str) -> bool:
    return _compiled(pattern).fullmatch(text, timeout=_PATTERN_S) is not None


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> regex.Pattern[str]:
    return regex.compile(pattern)
