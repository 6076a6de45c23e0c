"""Finding things in objects by what their keys mean, whichever way they are written.

`Keys` looks keys up without regard to case and to what separates words: `spanId`, `span_id`, `SpanID` and `span.id` are
one.  Several meanings are several keys, tried in order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from collector.receivers.formats.shape import Fields

_SEPARATORS = re.compile(r"[_\-. ]")


@lru_cache(maxsize=4096)  # the same few keys stand on every span
def plain_key(key: str) -> str:
    """A key without case and separators."""
    return _SEPARATORS.sub("", key).lower()


class Keys:
    """The fields of an object by plain key; what was looked up is remembered as used."""

    __slots__ = ("_by_key", "_used")

    def __init__(self, fields: Mapping[str, object]) -> None:
        self._by_key: dict[str, tuple[str, object]] = {}
        self._used: set[str] = set()
        for key, value in fields.items():
            plain = plain_key(key)
            if value is not None and plain not in self._by_key:
                self._by_key[plain] = (key, value)

    def __contains__(self, plain: str) -> bool:
        return plain in self._by_key

    def get(self, *plain: str) -> object:
        """The value under the first of these plain keys that is there and isn't null; None without one."""
        found = self.find(plain)
        return found[1] if found is not None else None

    def find(self, plain: tuple[str, ...]) -> tuple[str, object] | None:
        """The same with the plain key under which it was found."""
        for key in plain:
            if key in self._by_key:
                self._used.add(key)
                return key, self._by_key[key][1]
        return None

    def text(self, *plain: str) -> str:
        """The same where it is text; empty otherwise."""
        value = self.get(*plain)
        return value if isinstance(value, str) else ""

    def fields(self, *plain: str) -> Fields:
        """The same where it is an object; an empty one otherwise."""
        value = self.get(*plain)
        return value if isinstance(value, dict) else {}

    def items(self, *plain: str) -> list[object]:
        """The same where it is a list; an empty one otherwise."""
        value = self.get(*plain)
        return value if isinstance(value, list) else []

    def drop(self, *plain: str) -> None:
        """Take the fields under these plain keys as used."""
        self._used.update(plain)

    def unused(self) -> Iterator[tuple[str, object]]:
        """What nobody has looked up: keys as they were written, and values."""
        for plain, pair in self._by_key.items():
            if plain not in self._used:
                yield pair


def pairs_of(value: object) -> Fields:
    """Attributes, whether they are an object or a list of keys and values."""
    if isinstance(value, dict):
        return value
    if not isinstance(value, list):
        return {}
    pairs: Fields = {}
    for item in value:
        if isinstance(item, dict):
            key = item.get("key", item.get("Key"))
            if isinstance(key, str):
                pairs[key] = item.get("value", item.get("Value"))
    return pairs
