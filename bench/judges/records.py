"""What a system said of a case and what it cost: one line each in a file, so that a run can be broken off and go on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson


@dataclass(frozen=True, slots=True)
class Told:
    """What a system said: `bad` is None where it has no verdict; `by` is `rule` or `model`."""

    bad: bool | None
    by: str
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One system on one case, beside a person's label."""

    model: str
    evaluator: str
    system: str
    case_id: str
    source: str
    label_bad: bool
    told_bad: bool | None
    by: str
    reason: str
    requests: int
    chars: int
    seconds: float


def append(path: Path, record: Record) -> None:
    """Adds a line to the file."""
    with path.open("ab") as file:
        file.write(orjson.dumps(asdict(record), option=orjson.OPT_APPEND_NEWLINE))


def read(path: Path) -> Iterator[Record]:
    """The records of a file; none where there is no file."""
    if path.exists():
        for line in path.read_bytes().splitlines():
            yield Record(**orjson.loads(line))
