"""Records become figures: what has no verdict is counted, never left out."""

from __future__ import annotations

from pathlib import Path

from bench.judges.records import Record, append, read
from bench.judges.table import row_of, rows


def _record(case_id: str, label_bad: bool, told_bad: bool | None, *, system: str = "a", by: str = "model") -> Record:
    return Record(
        model="m",
        evaluator="tool_selection",
        system=system,
        case_id=case_id,
        source="made",
        label_bad=label_bad,
        told_bad=told_bad,
        by=by,
        reason="",
        requests=2,
        chars=1500,
        seconds=0.5,
    )


RECORDS = [
    _record("1", True, True, by="rule"),
    _record("2", True, False),
    _record("3", False, False),
    _record("4", False, None),
]


def test_a_case_without_a_verdict_counts_as_wrong_where_all_count() -> None:
    row = row_of("tool_selection", "a", RECORDS)
    assert (row.cases, row.scored, row.told_bad, row.right_of_all) == (4, 3, 1, 0.5)
    assert row.balanced_accuracy is not None
    assert row.balanced_accuracy.value == 0.75
    assert (row.requests, row.chars, row.seconds) == (8, 6000, 2.0)


def test_nothing_is_said_of_agreement_where_there_is_none_to_measure() -> None:
    assert str(row_of("tool_selection", "a", RECORDS[3:])).split(" | ")[5:7] == ["–", "–"]


def test_cases_that_rules_leave_open_are_shown_by_themselves_for_every_system() -> None:
    others = [_record(str(number), True, True, system="b") for number in range(1, 5)]
    made = rows([*RECORDS, *others], open_by="a")
    assert [(row.evaluator, row.system, row.cases) for row in made] == [
        ("tool_selection", "a", 4),
        ("tool_selection", "b", 4),
        ("tool_selection, open after rules", "a", 3),
        ("tool_selection, open after rules", "b", 3),
    ]


def test_cases_are_shown_once_where_rules_decide_none() -> None:
    made = rows(RECORDS[1:], open_by="a")
    assert [(row.evaluator, row.cases) for row in made] == [("tool_selection", 3)]


def test_records_are_read_back_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    assert list(read(path)) == []
    for record in RECORDS:
        append(path, record)
    assert list(read(path)) == RECORDS
