"""Labelled cases are drawn in balance, and the same ones every time."""

from __future__ import annotations

from pathlib import Path

import orjson

from bench.judges.cases import balanced_part, labelled_cases


def _file(path: Path, evaluator: str, good: int, bad: int) -> Path:
    lines = [
        {
            "id": f"{evaluator}-{number}",
            "evaluator": evaluator,
            "source": "made",
            "label": "correct" if number < good else "incorrect",
            "input": {
                "messages": [{"role": "user", "content": "Weather in Oslo?"}],
                "available_tools": [{"name": "weather"}],
                "tool_calls": [{"id": "c1", "name": "weather", "arguments": {"city": "Oslo"}}],
            },
        }
        for number in range(good + bad)
    ]
    unlabelled = {**lines[0], "id": "unlabelled", "label": None}
    path.write_bytes(b"\n".join(map(orjson.dumps, [*lines, unlabelled])) + b"\n\n")
    return path


def test_lines_without_a_label_are_passed_over(tmp_path: Path) -> None:
    (found,) = labelled_cases([_file(tmp_path / "cases.jsonl", "tool_selection", 1, 0)])
    assert (found.named.case_id, found.bad, found.source) == ("tool_selection-0", False, "made")
    assert found.given["tool_calls"][0]["arguments"] == {"city": "Oslo"}


def test_a_part_has_as_many_bad_as_good_ones_of_each_evaluator(tmp_path: Path) -> None:
    cases = labelled_cases(
        [
            _file(tmp_path / "selection.jsonl", "tool_selection", 9, 5),
            _file(tmp_path / "invocation.jsonl", "tool_invocation", 2, 7),
        ]
    )
    part = balanced_part(cases, 6)
    counts = {
        (name, bad): sum(case.named.evaluator == name and case.bad is bad for case in part)
        for name in ("tool_selection", "tool_invocation")
        for bad in (False, True)
    }
    assert counts == {
        ("tool_selection", False): 3,
        ("tool_selection", True): 3,
        ("tool_invocation", False): 2,
        ("tool_invocation", True): 2,
    }


def test_a_smaller_part_is_within_a_larger_one_whatever_the_order_of_the_file(tmp_path: Path) -> None:
    cases = labelled_cases([_file(tmp_path / "selection.jsonl", "tool_selection", 9, 9)])
    smaller = {case.named.case_id for case in balanced_part(reversed(cases), 4)}
    larger = {case.named.case_id for case in balanced_part(cases, 10)}
    assert len(smaller) == 4
    assert smaller < larger
