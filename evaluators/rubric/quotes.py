"""Where a quote stands in the material. A finding without a place is none.

In: what a judge or a rule quotes.  Out: a `Passage`, or None where no text of the run holds it.  Blanks, marks of
Markdown, quotation marks, case and full-width forms make no difference; what was left out in the middle ("…") or was
redacted may be anything.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from evaluators.rubric.material import Material
from evaluators.rubric.texts import compact, plain

_GAPS = re.compile(r"…|\.{3,}|\[[a-z_]+:[0-9a-f]{4}\]|<[A-Z_]+_\d+>")
_LONGEST_GAP = 400
_SHORTEST = 2
_MOST_PARTS = 12
_MOST_BEGINNINGS = 200
_LONGEST_QUOTE = 20_000


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
    parts = [part for part in (compact(plain(one)) for one in _GAPS.split(quote[:_LONGEST_QUOTE])) if part]
    if not parts or max(map(len, parts)) < _SHORTEST or len(parts) > _MOST_PARTS or len(quote) > _LONGEST_QUOTE:
        return None
    named = compact(plain(item)) if item else ""
    for source, whole, ref in material.searchable:
        after = whole.find(named) if len(named) >= _SHORTEST else -1
        found = (after >= 0 and _match(whole, parts, after)) or _match(whole, parts, 0)
        if found:
            return Passage(source, *found, words=quote, ref=ref)
    return None


def _match(whole: str, parts: list[str], start: int) -> tuple[int, int] | None:
    """From where to where the parts stand one after another."""
    first = whole.find(parts[0], start)
    for _ in range(_MOST_BEGINNINGS):
        if first < 0:
            return None
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
