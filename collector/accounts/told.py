"""What was said of a trace in one go, as the judging process tells it for the record: codes and ids, packed small.

The receiving process keeps the bytes as they are and opens them only when somebody asks about the trace.  Texts that
may quote a trace (explanations, what an evaluator found) are in it only where the operator wants content to be shown.
"""

from __future__ import annotations

import pickle
import zlib
from typing import NamedTuple

_LEVEL = 1  # Verdicts on the steps of a run are much alike: the fastest level already makes a fifth of them.


class ToldVerdict(NamedTuple):
    """One verdict. `span_id` is lower-case hex, `status` and `method` are codes.

    `sequence` counts the verdicts told on the same span by the same evaluator before it, which it supersedes.
    `way` is how it is told: `span`, `evaluation_span`, or nothing at all where there is nothing to tell.
    `why` says why there is no score, where that says nothing of the trace's content.
    """

    span_id: str
    evaluator: str
    status: str
    label: str | None
    score: float | None
    passed: bool | None
    method: str
    issues: tuple[str, ...]
    confidence: float | None
    revision: str
    model: str | None
    sequence: int
    way: str
    why: str = ""
    explanation: str = ""


class MissingInput(NamedTuple):
    """A fact that evaluators look for and that the trace lacks: where it would be, and what puts it there."""

    fact: str
    attribute: str
    switch: str


class Told(NamedTuple):
    """What came of judging a trace once. `dialects` names the conventions in which it was written."""

    verdicts: tuple[ToldVerdict, ...] = ()
    missing: tuple[MissingInput, ...] = ()
    dialects: tuple[str, ...] = ()


def seal(told: Told) -> bytes:
    """Packed."""
    plain = ([tuple(one) for one in told.verdicts], [tuple(one) for one in told.missing], told.dialects)
    return zlib.compress(pickle.dumps(plain, protocol=pickle.HIGHEST_PROTOCOL), _LEVEL)


def unseal(sealed: bytes) -> Told:
    """What `seal` packed. It comes from this program's own judging process and from nowhere else."""
    if not sealed:
        return Told()
    verdicts, missing, dialects = pickle.loads(zlib.decompress(sealed))
    return Told(
        tuple(ToldVerdict(*one) for one in verdicts), tuple(MissingInput(*one) for one in missing), tuple(dialects)
    )
