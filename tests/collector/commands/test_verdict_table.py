"""What `replay` counts: grades as passed and failed, everything else by what it is."""

from __future__ import annotations

import io

from rich.console import Console

from collector.commands.verdict_table import VerdictTable
from evaluators.verdict import Level, Status, Verdict
from processors.verdicts.telling import PlacedVerdict


def placed(**fields: object) -> PlacedVerdict:
    verdict = Verdict(level=Level.TRACE, **{"evaluator": "e", "status": Status.OK, **fields})  # type: ignore[arg-type]
    return PlacedVerdict("00", "01", "run", None, 0, verdict)


def row(*verdicts: PlacedVerdict) -> list[str]:
    table, out = VerdictTable(), io.StringIO()
    table.add(verdicts)
    table.print(Console(file=out, width=120))
    return out.getvalue().splitlines()[1].split(maxsplit=3)


def test_grades_are_counted_and_what_has_none_is_told_by_its_status() -> None:
    good, bad = placed(label="pass", score=1.0, passed=True), placed(label="fail", score=0.0, passed=False)
    missing = placed(status=Status.MISSING_INPUT)
    assert row(good, good, bad, missing) == ["e", "2", "1", "missing_input 1"]


def test_categories_are_told_by_their_labels_and_measures_as_such() -> None:
    assert row(placed(label="planning"), placed(label="none"), placed(label="none")) == [
        "e",
        "0",
        "0",
        "planning 1, none 2",
    ]
    assert row(placed(score=0.5), placed(score=1.0)) == ["e", "0", "0", "measured 2, mean 0.75"]


def printed(*verdicts: PlacedVerdict) -> str:
    table, out = VerdictTable(), io.StringIO()
    table.add(verdicts)
    table.print(Console(file=out, width=120))
    return out.getvalue()


def test_why_a_judge_gave_no_answer_is_told_once_with_how_often() -> None:
    down = placed(status=Status.JUDGE_ERROR, explanation="http://j refused the key (401); check api_key")
    late = placed(status=Status.TIMED_OUT, explanation="no answer in time")
    out = printed(down, down, late)
    assert "judge_error: http://j refused the key (401); check api_key (2 times)" in out
    assert "timed_out: no answer in time (1 times)" in out


def test_what_is_missing_is_a_recording_or_a_reference() -> None:
    missing = placed(status=Status.MISSING_INPUT)
    compared = placed(status=Status.MISSING_INPUT, evaluator="tool_calls_match")
    assert "transcript --summary" in printed(missing) and "docs/references.md" not in printed(missing)
    assert "docs/references.md" in printed(compared) and "transcript --summary" not in printed(compared)
