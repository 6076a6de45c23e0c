"""In which language a text is mostly written, as far as its letters tell.

In: a text.  Out: the name of a language, or of a script where many languages share it.
"""

from __future__ import annotations

import unicodedata
from collections import Counter

_LOOKED_AT = 2_000
_JAPANESE, _KOREAN, _CHINESE = "Japanese", "Korean", "Chinese"
_NAMES = {"CJK": _CHINESE, "HIRAGANA": _JAPANESE, "KATAKANA": _JAPANESE, "HANGUL": _KOREAN}
UNKNOWN = "unknown"


def script_of(text: str) -> str:
    """Chinese, Japanese, Korean, or Latin script, Cyrillic script …; `unknown` for a text without letters.

    Chinese counts from one letter in five on, as its words are short and quote Latin names; kana make it Japanese.
    """
    counted: Counter[str] = Counter()
    for character in text[:_LOOKED_AT]:
        if character.isalpha():
            first = unicodedata.name(character, UNKNOWN).split()[0]
            counted[_NAMES.get(first, first.capitalize())] += 1
    if not counted:
        return UNKNOWN
    letters = counted.total()
    eastern = counted[_CHINESE] + counted[_JAPANESE]
    if eastern * 5 >= letters:
        return _JAPANESE if counted[_JAPANESE] * 10 >= eastern else _CHINESE
    found = counted.most_common(1)[0][0]
    return found if found == _KOREAN else f"{found} script"
