"""The fence around every text that comes from a run, so that the judge can tell data from what it is told to do.

In: a text of the run.  Out: the same text between marks that whoever wrote it could not have known.  Never trusts a
text to be free of what looks like a mark: the mark is random, so a text can only guess it, with odds of one in 2^48.
"""

from __future__ import annotations

import hashlib
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Iterable
from dataclasses import dataclass

_SECRET = secrets.token_bytes(32)


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
    digest = hashlib.blake2b(key=secret, digest_size=6)
    for text in texts:
        encoded = text.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "big"))
        digest.update(encoded)
    return Fence(urlsafe_b64encode(digest.digest()).decode())
