"""Keeping a secret that was found from being told on: in issues, explanations and the report.

In: what speaks of secrets (scanners' hits and a judge's quotes), and any text or JSON value.  Out: the same without the
literals.  Secrets of known formats are redacted whoever wrote them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from evaluators.cases import JsonValue
from evaluators.rules.secrets import redact

SECRETIVE = frozenset({"hardcoded_secret", "plaintext_password"})
"""Checks whose quotes hold secrets."""

_FIXED = frozenset(
    {
        "id",
        "judgment_id",
        "version",
        "timestamp",
        "grade",
        "status",
        "severity",
        "category",
        "type",
        "rule",
        "cwe_id",
        "seed_cwe",
        "cwe",
        "kind",
        "level",
        "check",
        "code",
        "by",
        "dimension",
        "extent",
        "priority",
        "outcome",
        "ref",
        "artifact_type",
        "inapplicable_metrics",
        "scanners",
        "step",
        "element",
    }
)
"""Keys whose values are words of ours, which are told even if somebody's password is one of them."""
_MASK = "[redacted]"
_LITERAL = re.compile(
    r"""(?P<quote>\\?["'`])(?P<quoted>[^"'`\n\\]{3,})\\?(?P=quote)|(?<=[=:])\s*(?P<bare>[^\s"'`,;)]{6,})"""
)


@dataclass(frozen=True, slots=True)
class Masking:
    """Literals that must not be told."""

    literals: tuple[str, ...]

    def text(self, text: str) -> str:
        """A text without them."""
        shown = redact(text)
        for literal in self.literals:
            shown = shown.replace(literal, _MASK)
        return shown

    def value(self, value: JsonValue) -> JsonValue:
        """A JSON value whose free texts are without them."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {key: inner if key in _FIXED else self.value(inner) for key, inner in value.items()}
        return [self.value(inner) for inner in value] if isinstance(value, list) else value


def masking_of(quotes: Iterable[str]) -> Masking:
    """What masks the literals in these quotes, each of which holds a secret: longest first."""
    found = {one["quoted"] or one["bare"] for quote in quotes for one in _LITERAL.finditer(quote)}
    return Masking(tuple(sorted(found, key=lambda one: (-len(one), one))))
