"""What of a run a judge may not see is replaced before anything is sent, so that it can still be judged.

In: the texts of a run, one after another.  Out: the same texts with typed placeholders such as ``<EMAIL_1>``.  Equal
values have equal placeholders throughout a run, other values other ones: that an argument is the value the user gave,
or that an answer tells a key that a tool returned, is as visible as before.  Numbers follow the order in which values
are first seen; nothing is kept from one run to the next, and no placeholder is ever turned back.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

from evaluators.judge.redaction import Redaction
from evaluators.rules.secrets import EMAIL, Found, Strength, find_secrets, is_secret_name, speaks_of_secrets

_FIELD = re.compile(r"\"([A-Za-z][\w-]{1,60})\"\s*:\s*\"([^\"\\\s]{6,500})\"")
_NAMED = "secret"
_MOST_KNOWN = 200
_SEPARATORS = re.compile(r"[\s()./+–-]")
_NUMBER = re.compile(r"[\d\s()./+–-]+")
_FEWEST_DIGITS = 7
"""Less than that comes again by chance."""
_BETWEEN_DIGITS = r"[\s()./–-]{0,3}"
_PLACEHOLDER = re.compile(r"<[A-Z_]+_\d+>")


class Redactor:
    """Replaces what has to be replaced in the texts of one run."""

    def __init__(self, level: Redaction) -> None:
        self._level = level
        self._find_personal: Callable[[str], list[Found]] | None = None
        if level is Redaction.PERSONAL:
            # Numbering plans and checksums of many countries are carried only by who needs them.
            from evaluators.rules.personal import find_personal

            self._find_personal = find_personal
        self._placeholders: dict[tuple[str, str], str] = {}
        self._seen: Counter[str] = Counter()
        self._named: dict[str, None] = {}
        self._numbers: dict[str, str] = {}

    def __call__(self, text: str) -> str:
        """The text with placeholders."""
        if self._level is Redaction.NONE:
            return text
        parts: list[str] = []
        at = 0
        for one in self._found(text):
            parts += (text[at : one.start], self._placeholder(one.kind, text[one.start : one.end]))
            at = one.end
        return "".join([*parts, text[at:]]) if parts else text

    def _found(self, text: str) -> list[Found]:
        """What to replace, in order; credentials go before other kinds where they overlap."""
        found = find_secrets(text)
        personal: list[Found] = []
        if self._find_personal is not None:
            personal = [*self._find_personal(text), *(one for one in found if one.personal)]
            personal = [*personal, *self._known_numbers(text, personal)]
        credentials = [one for one in found if not one.personal]
        apart: list[Found] = []
        for one in sorted([*credentials, *self._secret_fields(text), *personal], key=lambda one: one.start):
            if apart and one.start < apart[-1].end:
                if not apart[-1].personal or one.end <= apart[-1].end:
                    continue
                apart.pop()
            apart.append(one)
        return apart

    def _known_numbers(self, text: str, found: list[Found]) -> list[Found]:
        """Numbers that were found before, where they come again in a form that doesn't tell what they are.

        A telephone number without its country's sign is digits like others; an argument, or what rules say of an
        answer, may well hold it so.
        """
        for one in found:
            value = text[one.start : one.end]
            digits = _SEPARATORS.sub("", value)
            if _NUMBER.fullmatch(value) and len(digits) >= _FEWEST_DIGITS and len(self._numbers) < _MOST_KNOWN:
                self._numbers.setdefault(digits, one.kind)
        if not self._numbers:
            return []
        squeezed = _SEPARATORS.sub("", text)
        return [
            Found(kind, match.start(), match.end(), Strength.SUSPECTED)
            for digits, kind in self._numbers.items()
            if digits in squeezed
            for match in re.finditer(rf"(?<!\d){_BETWEEN_DIGITS.join(digits)}(?!\d)", text)
        ]

    def _secret_fields(self, text: str) -> list[Found]:
        """What fields of a secret's name hold, and these values wherever they come again."""
        found: list[Found] = []
        if speaks_of_secrets(text):
            for match in _FIELD.finditer(text):
                if is_secret_name(match[1]) and not _PLACEHOLDER.fullmatch(match[2]):
                    found.append(Found(_NAMED, match.start(2), match.end(2), Strength.SUSPECTED))
                    if len(self._named) < _MOST_KNOWN:
                        self._named[match[2]] = None
        for value in self._named:
            at = text.find(value)
            while at >= 0:
                found.append(Found(_NAMED, at, at + len(value), Strength.SUSPECTED))
                at = text.find(value, at + len(value))
        return found

    def _placeholder(self, kind: str, value: str) -> str:
        plain = value.casefold() if kind == EMAIL else _SEPARATORS.sub("", value)
        key = (kind, plain)
        if key not in self._placeholders:
            self._seen[kind] += 1
            self._placeholders[key] = f"<{kind.upper()}_{self._seen[kind]}>"
        return self._placeholders[key]
