"""How many tokens a text will be to a model, without its tokenizer: an estimate that rather errs upwards.

Every model cuts text differently, and most endpoints don't say how.  Mostly, words of lower case take a
token for four characters or so, capitals, digits and signs one for two or less, Chinese, Japanese and Korean one for
each character, emojis several.  Weights are counted in twelfths of a token, so that they are whole numbers and the
weight of two texts together is the sum of theirs.
"""

from __future__ import annotations

import string

TOKEN = 12
"""The weight of one token."""

_WEIGHTS = (
    ((string.ascii_lowercase + " ").encode(), 3),
    ((string.digits + string.ascii_uppercase).encode(), 8),
    (bytes(range(0x80)), 6),
    # The first bytes of characters of two, three and four bytes in UTF-8; the others count nothing.
    (bytes(range(0xC0, 0xE0)), 8),
    (bytes(range(0xE0, 0xF0)), 12),
    (bytes(range(0xF0, 0xF8)), 36),
)


def weigh(text: str) -> int:
    """The weight of a text in twelfths of a token; a few passes, each in C."""
    data = text.encode("utf-8", "surrogatepass")
    left = len(data)
    weight = 0
    for kind, of_one in _WEIGHTS:
        data = data.translate(None, kind)
        weight += (left - len(data)) * of_one
        left = len(data)
        if not left:
            break
    return weight


def tokens(weight: int) -> int:
    """The tokens of a weight, rounded up."""
    return -(-weight // TOKEN)


def estimate_tokens(text: str) -> int:
    """How many tokens a text is likely to be at most."""
    return tokens(weigh(text))
