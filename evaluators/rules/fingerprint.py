"""Short hashes of JSON values that are alike: the order of keys, blanks around texts and 5 for 5.0 make no difference.

In goes a value, out comes a hash for comparing within one process; it says nothing of the value.  Never raises.
"""

from __future__ import annotations

import hashlib
import unicodedata

import orjson

from evaluators.cases import JsonValue

_MAX_DEPTH = 40
_DIGEST_BYTES = 6


def fingerprint(value: JsonValue) -> str:
    """Twelve hexadecimal digits, the same for values that are alike."""
    try:
        plain = orjson.dumps(_normal(value, 0), option=orjson.OPT_SORT_KEYS)
    except (TypeError, ValueError):
        # lone surrogates and whole numbers beyond 64 bits
        plain = repr(value).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(plain, digest_size=_DIGEST_BYTES).hexdigest()


def _normal(value: JsonValue, depth: int) -> JsonValue:
    if isinstance(value, str):
        return value.strip() if value.isascii() else unicodedata.normalize("NFC", value).strip()
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if depth > _MAX_DEPTH:
        return None
    if isinstance(value, dict):
        return {key: _normal(inner, depth + 1) for key, inner in value.items()}
    if isinstance(value, list):
        return [_normal(inner, depth + 1) for inner in value]
    return value
