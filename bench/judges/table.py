"""Records as a table: agreement with labels and cost of every system, per evaluator."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bench.judges.records import Record
from evaluators.calibration.agreement import Interval, Pair, agreement_of

HEAD = (
    "| evaluator | system | cases | scored | told bad | balanced accuracy | kappa | right of all | requests "
    "| prompt characters | seconds |\n|---|---|---|---|---|---|---|---|---|---|---|"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A system on the cases of an evaluator.

    Agreement is that of the cases that have a verdict; `right_of_all` counts a case without one as wrong.
    """

    evaluator: str
    system: str
    cases: int
    scored: int
    told_bad: int
    balanced_accuracy: Interval | None
    kappa: Interval | None
    right_of_all: float
    requests: int
    chars: int
    seconds: float

    def __str__(self) -> str:
        return (
            f"| {self.evaluator} | {self.system} | {self.cases} | {self.scored} | {self.told_bad} "
            f"| {_shown(self.balanced_accuracy)} | {_shown(self.kappa)} | {self.right_of_all:.2f} "
            f"| {self.requests} | {self.chars:,} | {self.seconds:,.0f} |"
        )


def row_of(evaluator: str, system: str, records: Sequence[Record]) -> Row:
    """The figures of some records, at least one."""
    pairs = [Pair(one.label_bad, one.told_bad) for one in records if one.told_bad is not None]
    found = agreement_of(pairs)
    return Row(
        evaluator=evaluator,
        system=system,
        cases=len(records),
        scored=len(pairs),
        told_bad=sum(pair.told_bad for pair in pairs),
        balanced_accuracy=None if found is None else found.balanced_accuracy,
        kappa=None if found is None else found.kappa,
        right_of_all=sum(pair.bad == pair.told_bad for pair in pairs) / len(records),
        requests=sum(one.requests for one in records),
        chars=sum(one.chars for one in records),
        seconds=sum(one.seconds for one in records),
    )


def rows(records: Iterable[Record], open_by: str) -> list[Row]:
    """All cases of each evaluator, then those alone that rules leave open, where they decide some.

    Args:
        records: of one model.
        open_by: the system whose rules say what is open.
    """
    found = list(records)
    made = []
    for evaluator in dict.fromkeys(one.evaluator for one in found):
        own = [one for one in found if one.evaluator == evaluator]
        made += _by_system(evaluator, own)
        decided = {one.case_id for one in own if one.system == open_by and one.by == "rule"}
        if decided:
            made += _by_system(f"{evaluator}, open after rules", [one for one in own if one.case_id not in decided])
    return made


def _by_system(name: str, records: Sequence[Record]) -> list[Row]:
    return [
        row_of(name, system, [one for one in records if one.system == system])
        for system in dict.fromkeys(one.system for one in records)
    ]


def _shown(figure: Interval | None) -> str:
    return "–" if figure is None else f"{figure.value:.2f} ({figure.low:.2f}…{figure.high:.2f})"
