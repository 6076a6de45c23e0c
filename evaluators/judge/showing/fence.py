"""The fence around every text that comes from a run, so that the judge can tell data from what it is told to do.

In: a text of the run.  Out: the same text between marks that whoever wrote it could not have known.  Never trusts a
text to be free of what looks like a mark.

A mark is six letters and digits, since it is read twice with every text.  That is enough: nobody can try marks out, as
the key never leaves the process and any other text in the run makes another mark; a text that is full of guesses, a
hundred thousand in a megabyte, holds the right one once in half a million; and a mark that does stand in a text of the
run is not used.
"""

from __future__ import annotations

import hashlib
import secrets
import string
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count

_SECRET = secrets.token_bytes(32)
_LETTERS = string.ascii_letters + string.digits
_LENGTH = 6


@dataclass(frozen=True, slots=True)
class Fence:
    """One request's mark."""

    mark: str

    @property
    def opening(self) -> str:
        """What stands before a text of the run."""
        return f"[{self.mark}]"

    @property
    def closing(self) -> str:
        """What stands after a text of the run."""
        return f"[/{self.mark}]"

    def around(self, text: str) -> str:
        """The text between the marks."""
        return f"{self.opening}{text}{self.closing}"


def fence_for(texts: Iterable[str], secret: bytes = _SECRET) -> Fence:
    """The fence of the run that consists of these texts.

    The mark is a keyed hash of the texts.  The key is random and never leaves the process, so nobody who writes into a
    run can know it; yet two requests about the same run begin alike, which lets prompt caches of endpoints hit.
    """
    told = list(texts)
    digest = hashlib.blake2b(key=secret)
    for text in told:
        encoded = text.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "big"))
        digest.update(encoded)
    return Fence(next(mark for mark in _marks(digest.digest()) if not any(mark in text for text in told)))


def _marks(seed: bytes) -> Iterator[str]:
    """One mark after the other, each as likely as any."""
    for number in count():
        drawn = int.from_bytes(hashlib.blake2b(number.to_bytes(8, "big"), key=seed, digest_size=16).digest(), "big")
        letters = []
        for _ in range(_LENGTH):
            drawn, place = divmod(drawn, len(_LETTERS))
            letters.append(_LETTERS[place])
        yield "".join(letters)
