"""What requests cost, added up and shared out among the questions they answered, so that the sums stay exact."""

from __future__ import annotations

from collections.abc import Iterable

from evaluators.verdict import NO_USAGE, Usage


def add(first: Usage, second: Usage) -> Usage:
    """Both together. Tokens that one of them doesn't know count as none there."""
    return Usage(
        requests=first.requests + second.requests,
        prompt_chars=first.prompt_chars + second.prompt_chars,
        prompt_tokens=_add(first.prompt_tokens, second.prompt_tokens),
        completion_tokens=_add(first.completion_tokens, second.completion_tokens),
    )


def total(usages: Iterable[Usage]) -> Usage:
    """All together."""
    summed = NO_USAGE
    for usage in usages:
        summed = add(summed, usage)
    return summed


def share(usage: Usage, parts: int) -> list[Usage]:
    """`parts` nearly equal shares whose sum is `usage`. The first bears what can't be divided."""
    return [
        Usage(
            requests=_part(usage.requests, place, parts),
            prompt_chars=_part(usage.prompt_chars, place, parts),
            prompt_tokens=None if usage.prompt_tokens is None else _part(usage.prompt_tokens, place, parts),
            completion_tokens=None if usage.completion_tokens is None else _part(usage.completion_tokens, place, parts),
        )
        for place in range(parts)
    ]


def _part(amount: int, place: int, parts: int) -> int:
    return amount // parts + (1 if place < amount % parts else 0)


def _add(first: int | None, second: int | None) -> int | None:
    if first is None or second is None:
        return second if first is None else first
    return first + second
