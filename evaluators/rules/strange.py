"""Numbers, days and names of an answer that stand nowhere: suspicions for a judge, never faults by themselves."""

from __future__ import annotations

import re

from evaluators.cases import ToolCall
from evaluators.issues import IssueCode
from evaluators.rules.dates import days
from evaluators.rules.errors import error_of
from evaluators.rules.findings import Finding
from evaluators.rules.mentions import Mentions
from evaluators.rules.numbers import Quantity, numbers
from evaluators.rules.support import Support
from evaluators.rules.units import Kind

_MAX_SUSPICIONS = 6
_MAX_NAMES = 200
_HALF = 0.5


def strange_numbers(
    odd: list[Quantity], fresh: tuple[ToolCall, ...], support: Support, words: Mentions
) -> list[Finding]:
    """Of the quantities that don't stand in the material as they are, those that stand there in no other form."""
    found_any = any(call.result is not None and error_of(call.result) is None for call in fresh)
    code = IssueCode.MISREAD_VALUE if found_any else IssueCode.FABRICATED
    return [
        Finding(
            code,
            f"The answer says {q.text.strip()[:40]}, which no result or message has as such; it may be worked out.",
            _only(fresh),
        )
        for q in [quantity for quantity in odd if not _is_found(quantity, support, words)][:_MAX_SUSPICIONS]
    ]


def strange_names(text: str, fresh: tuple[ToolCall, ...], words: Mentions) -> list[Finding]:
    """Names in an answer most of whose words stand nowhere."""
    names = [match.group() for match in _NAME.finditer(text)]
    return [
        Finding(
            IssueCode.FABRICATED, f"The answer names {name[:60]}, which stands in no result or message.", _only(fresh)
        )
        for name in [name for name in dict.fromkeys(names[:_MAX_NAMES]) if words.share_known(name) < _HALF][
            :_MAX_SUSPICIONS
        ]
    ]


def _only(fresh: tuple[ToolCall, ...]) -> str | None:
    return fresh[0].id if len(fresh) == 1 else None


def _is_found(quantity: Quantity, support: Support, words: Mentions) -> bool:
    if quantity.kind is Kind.DATE:
        meant = days(quantity.text)
        # a month or year without a day is found by its numbers
        return any(map(words.name_day, meant)) if meant else True
    if quantity.kind is Kind.TIME:
        return all(n in support.everything or n <= 12 for n in numbers(quantity.text))
    if all(value < 10 and step == 1 for value, step in quantity.values):
        return True
    return support.gives(quantity.kind, quantity.values)


# two or more words with capitals in a row, not at the start of a sentence
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][\w'’&-]+(?: (?:of |the |de |la )?[A-Z][\w'’&-]+){1,4}")
