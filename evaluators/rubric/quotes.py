"""Where a quote stands in the material. A finding without a place is none.

In: what a judge or a rule quotes.  Out: a `Passage`, or None where no text of the run holds it.  Blanks, marks of
Markdown, quotation marks, case and full-width forms make no difference; what was left out in the middle ("…") or was
redacted may be anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from evaluators.rubric.material import Material
from evaluators.rubric.texts import as_text, compact, plain

_GAPS = re.compile(r"…|\.{3,}|\[[a-z_]+:[0-9a-f]{4}\]|<[A-Z_]+_\d+>")
_LONGEST_GAP = 400
_SHORTEST = 2


@dataclass(frozen=True, slots=True)
class Passage:
    """A place of the material: from `start` to `end` in the compact form of a text, and the words there."""

    source: str
    start: int
    end: int
    words: str
    ref: str | None

    def overlaps(self, other: Passage) -> bool:
        """Whether the two have a character in common."""
        return self.source == other.source and self.start < other.end and other.start < self.end


def find_quote(material: Material, quote: str, item: str | None = None) -> Passage | None:
    """Where the quote stands: in a field first, then in what the agent wrote, the user said and tools returned.

    Args:
        material: where to look.
        quote: the words.
        item: what it was said of; of several places the first after the first mention of this is taken.
    """
    parts = [part for part in (compact(plain(one)) for one in _GAPS.split(quote)) if part]
    if not parts or max(map(len, parts)) < _SHORTEST:
        return None
    named = compact(plain(item)) if item else ""
    for source, text, ref in _sources(material):
        whole = compact(plain(text))
        after = whole.find(named) if len(named) >= _SHORTEST else -1
        found = (after >= 0 and _match(whole, parts, after)) or _match(whole, parts, 0)
        if found:
            return Passage(source, *found, words=quote, ref=ref)
    return None


def _match(whole: str, parts: list[str], start: int) -> tuple[int, int] | None:
    """From where to where the parts stand one after another."""
    first = whole.find(parts[0], start)
    while first >= 0:
        end = first + len(parts[0])
        for part in parts[1:]:
            at = whole.find(part, end, end + _LONGEST_GAP + len(part))
            if at < 0:
                break
            end = at + len(part)
        else:
            return first, end
        first = whole.find(parts[0], first + 1)
    return None


def _sources(material: Material) -> Iterator[tuple[str, str, str | None]]:
    answer = material.answer
    at = answer.ref if answer is not None else material.ref
    for name, value in material.fields.items():
        yield name, as_text(value), at
    for name, text in material.texts.items():
        yield name, text, material.ref
    for number, exchange in enumerate(reversed(material.exchanges)):
        for place, output in enumerate(reversed(exchange.outputs)):
            yield f"output {number}.{place}", output.text, output.ref
    for number, exchange in enumerate(material.exchanges):
        if exchange.user:
            yield f"user {number}", exchange.user, None
    for number, (text, ref) in enumerate(material.results):
        yield f"result {number}", text, ref
    for number, made in enumerate(material.made):
        if made.call is not None:
            given = made.call.arguments
            written = given if isinstance(given, str) else as_text(dict(given) if given is not None else None)
            yield f"call {number}", f"{made.call.name} {written}", made.ref
