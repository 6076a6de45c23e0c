"""Shares of a cost add up to the cost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evaluators.usage import share, total
from evaluators.verdict import NO_USAGE, Usage

_COUNTS = st.integers(0, 10**6)
_TOKENS = st.one_of(st.none(), _COUNTS)


@given(st.builds(Usage, requests=_COUNTS, prompt_chars=_COUNTS, prompt_tokens=_TOKENS, completion_tokens=_TOKENS))
def test_shares_add_up(usage: Usage) -> None:
    for parts in (1, 3, 14):
        shares = share(usage, parts)
        assert len(shares) == parts
        assert total(shares) == usage


def test_tokens_stay_unknown_only_while_nobody_reports_any() -> None:
    assert total([NO_USAGE, NO_USAGE]).prompt_tokens is None
    assert total([Usage(prompt_tokens=5), NO_USAGE]).prompt_tokens == 5
