"""What was measured of which judge, kept in a file, so that verdicts of a judge nobody should trust can say so.

In: figures of agreement by evaluator and revision.  Out: a JSON file, and from it the marks on verdicts.  A revision
stands for rules, prompt, settings and model together, so whoever changes one of them has to measure again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evaluators.verdict import Method, Status, Verdict

MAX_BYTES = 16 << 20
_REMEDY = "make it with spanjudge calibrate --record"


class Measured(BaseModel):
    """The agreement of one evaluator's judge with people, in one revision."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    evaluator: str
    revision: str
    model: str | None
    pairs: int = Field(ge=1)
    base_rate: float
    agreement: float
    balanced_accuracy: float | None
    kappa: float | None
    kappa_low: float | None
    kappa_high: float | None


class Record(BaseModel):
    """All that was measured."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1] = 1
    measured: tuple[Measured, ...]


class Calibration:
    """Marks verdicts of judges that weren't found good enough.

    Args:
        measured: what is known.
        min_kappa: the least kappa that counts as good enough.
    """

    def __init__(self, measured: Iterable[Measured], min_kappa: float) -> None:
        self._good = frozenset(
            (one.evaluator, one.revision) for one in measured if one.kappa is not None and one.kappa >= min_kappa
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Calibration) and self._good == other._good

    def __hash__(self) -> int:
        return hash(self._good)

    def marked(self, verdict: Verdict) -> Verdict:
        """The verdict; one that a judge gave who wasn't measured, or not found good enough, is uncalibrated."""
        if verdict.status is not Status.OK or verdict.method is not Method.JUDGE:
            return verdict
        return replace(verdict, uncalibrated=(verdict.evaluator, verdict.revision) not in self._good)


def read_record(path: Path) -> Record:
    """The record in a file.

    Raises:
        ValueError: it can't be read or is no record; the message names the file and the remedy.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ValueError(f"{path} can't be read ({error.strerror}); {_REMEDY}") from None
    if len(content) > MAX_BYTES:
        raise ValueError(f"{path} is no record of a calibration (larger than {MAX_BYTES >> 20} MiB); {_REMEDY}")
    try:
        return Record.model_validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise ValueError(f"{path} is no record of a calibration ({place}: {first['msg']}); {_REMEDY}") from None


def write_record(path: Path, measured: Iterable[Measured]) -> None:
    """Write a record. Raises OSError."""
    path.write_text(Record(measured=tuple(measured)).model_dump_json(indent=2) + "\n", encoding="utf-8")
