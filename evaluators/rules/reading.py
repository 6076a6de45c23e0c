"""What is read out of a text, read once: its structure, its numbers, its words, and where a secret may be in it.

In goes a text, out comes a `Reading` that works out each of these when it is first asked for.  A step sees every result
that the steps before it saw, so readings are kept for as long as together they stand for a million characters; the
least recently used leave first.  Nothing in a reading may be changed.
"""

from __future__ import annotations

from collections import OrderedDict
from functools import cached_property
from threading import Lock

from evaluators.cases import JsonValue
from evaluators.rules.dates import Day, days_in
from evaluators.rules.fields import FieldValue, field_values
from evaluators.rules.fingerprint import fingerprint
from evaluators.rules.numbers import Quantity, numbers, quantities
from evaluators.rules.secrets import is_secret_name, speaks_of_secrets
from evaluators.rules.structured import Leaf, leaves, list_lengths, structured

_MOST_CHARS = 1_000_000
_MOST_READINGS = 4_000
_MOST_TOOLS = 4


class Reading:
    """One text and what stands in it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._fields: dict[str, tuple[FieldValue, ...]] = {}

    @cached_property
    def value(self) -> dict[str, JsonValue] | list[JsonValue] | None:
        """The object or array that the text is; None for prose."""
        return structured(self.text)

    @cached_property
    def leaves(self) -> tuple[Leaf, ...]:
        """The scalars of its value."""
        return tuple(leaves(self.value))

    @cached_property
    def secrets(self) -> tuple[tuple[Leaf, str], ...]:
        """The texts in fields that are named for a secret."""
        if not speaks_of_secrets(self.text):
            return ()
        named = {key for key in {leaf.key for leaf in self.leaves} if is_secret_name(key)}
        return tuple(
            (leaf, leaf.value)
            for leaf in (self.leaves if named else ())
            if leaf.key in named and type(leaf.value) is str
        )

    @cached_property
    def fingerprint(self) -> str:
        """A short hash of its value, of its words where it is prose."""
        return fingerprint(" ".join(self.text.split()) if self.value is None else self.value)

    def fields(self, tool: str) -> tuple[FieldValue, ...]:
        """The quantities in its value, as a result of `tool`."""
        if tool not in self._fields:
            if len(self._fields) >= _MOST_TOOLS:
                self._fields.clear()
            self._fields[tool] = tuple(found for leaf in self.leaves for found in field_values(leaf, tool))
        return self._fields[tool]

    @cached_property
    def numbers(self) -> frozenset[float]:
        """Every number that can be read in it."""
        return frozenset(numbers(self.text))

    @cached_property
    def counts(self) -> frozenset[float]:
        """How many items its lists and objects hold."""
        return frozenset() if self.value is None else frozenset(map(float, list_lengths(self.value)))

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """Every quantity in it, read as prose."""
        return tuple(quantities(self.text))

    @cached_property
    def folded(self) -> str:
        """The text in one case."""
        return self.text.casefold()

    @cached_property
    def days(self) -> frozenset[Day]:
        """The days that it names."""
        return frozenset(days_in(self.folded))


class _Readings:
    """The readings that are kept."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Reading] = OrderedDict()
        self._chars = 0
        self._lock = Lock()

    def get(self, text: str) -> Reading:
        with self._lock:
            found = self._kept.get(text)
            if found is not None:
                self._kept.move_to_end(text)
                return found
            made = self._kept[text] = Reading(text)
            self._chars += len(text)
            while len(self._kept) > 1 and (self._chars > _MOST_CHARS or len(self._kept) > _MOST_READINGS):
                left, _ = self._kept.popitem(last=False)
                self._chars -= len(left)
            return made


_readings = _Readings()


def reading_of(text: str) -> Reading:
    """The reading of a text, the one that is kept if there is one."""
    return _readings.get(text)
