"""What was measured of judges, and the marks on verdicts of those who weren't found good enough."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from evaluators.calibration.comparison import Compared, measured
from evaluators.calibration.record import Calibration, Measured, read_record, write_record
from evaluators.calibration.settings import CalibrationSettings
from evaluators.verdict import Level, Method, Status, Verdict


def verdict(*, passed: bool = True, method: Method = Method.JUDGE, revision: str = "r1") -> Verdict:
    return Verdict(
        evaluator="task_completion",
        level=Level.TRACE,
        status=Status.OK,
        label="pass" if passed else "fail",
        score=1.0 if passed else 0.0,
        passed=passed,
        method=method,
        revision=revision,
        model="m" if method is Method.JUDGE else None,
    )


def compared(agreeing: int, differing: int, **fields: object) -> list[Compared]:
    told = [(bad, bad) for bad in [True, False] * agreeing] + [(bad, not bad) for bad in [True, False] * differing]
    return [
        Compared(name=str(number), bad=bad, verdict=verdict(passed=not told_bad, **fields))  # type: ignore[arg-type]
        for number, (bad, told_bad) in enumerate(told)
    ]


def test_what_judges_decided_is_measured_by_revision_and_what_rules_decided_is_not() -> None:
    pairs = [*compared(9, 1), *compared(1, 9, revision="r2"), *compared(5, 5, method=Method.RULE)]
    found = {one.revision: one for one in measured(pairs)}
    assert set(found) == {"r1", "r2"}
    assert (found["r1"].pairs, found["r1"].kappa, found["r2"].kappa) == (20, 0.8, -0.8)


def test_a_judge_below_the_least_kappa_is_uncalibrated_and_so_is_one_that_nobody_measured(tmp_path: Path) -> None:
    write_record(tmp_path / "record.json", measured([*compared(9, 1), *compared(6, 4, revision="r2")]))
    calibration = Calibration(read_record(tmp_path / "record.json").measured, min_kappa=0.4)
    assert not calibration.marked(verdict(revision="r1")).uncalibrated
    assert calibration.marked(verdict(revision="r2")).uncalibrated
    assert calibration.marked(verdict(revision="r3")).uncalibrated


def test_verdicts_of_rules_and_verdicts_without_a_score_carry_no_mark() -> None:
    calibration = Calibration((), min_kappa=0.4)
    assert not calibration.marked(verdict(method=Method.RULE)).uncalibrated
    unscored = Verdict(evaluator="e", level=Level.TRACE, status=Status.JUDGE_ERROR, method=Method.JUDGE)
    assert not calibration.marked(unscored).uncalibrated


def test_kappa_that_could_not_be_told_is_not_good_enough() -> None:
    known = Measured(
        evaluator="task_completion", revision="r1", model="m", pairs=4, base_rate=0.0, agreement=1.0,
        balanced_accuracy=None, kappa=None, kappa_low=None, kappa_high=None,
    )  # fmt: skip
    assert Calibration([known], min_kappa=-1.0).marked(verdict()).uncalibrated


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "can't be read"),
        ("{", "is no record of a calibration"),
        ('{"version": 2, "measured": []}', "version"),
        ('{"version": 1, "measured": [{"evaluator": "e"}]}', "measured.0.revision"),
    ],
)
def test_a_file_that_is_no_record_is_told_with_the_remedy(tmp_path: Path, content: str | None, told: str) -> None:
    path = tmp_path / "record.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(ValidationError) as error:
        CalibrationSettings.model_validate({"file": path})
    assert told in str(error.value) and "spanjudge calibrate --record" in str(error.value)


def test_a_file_without_end_is_not_read_to_its_end() -> None:
    with pytest.raises(ValueError, match="larger than 16 MiB"):
        read_record(Path("/dev/zero"))


def test_what_was_checked_is_what_counts_whatever_becomes_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    write_record(path, measured(compared(9, 1)))
    settings = CalibrationSettings(file=path)
    path.write_text("another one")
    assert not settings.calibration.marked(verdict(revision="r1")).uncalibrated
    assert settings.calibration.marked(verdict(revision="r2")).uncalibrated
