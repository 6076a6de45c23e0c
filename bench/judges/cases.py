"""Labelled cases for the bench: read from files, and a balanced part of them, drawn by hash.

In: files as `spanjudge evaluate` reads them, with labels.  Out: cases with their label and the input as it stands in
the file, for systems that take other forms of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import orjson

from evaluators.calibration.labels import read_case_labels
from evaluators.case_files.lines import NamedCase, read_cases
from evaluators.registry import CASE_KINDS


@dataclass(frozen=True, slots=True)
class LabelledCase:
    """A case, a person's label of it, where it is from, and the `input` of its line."""

    named: NamedCase
    bad: bool
    source: str
    given: Mapping[str, Any]


def labelled_cases(paths: Iterable[Path]) -> list[LabelledCase]:
    """The labelled cases of the files; lines without a label, or that are no case, are passed over."""
    found = []
    for path in paths:
        lines = [line for line in path.read_bytes().splitlines() if line.strip()]
        labels = read_case_labels(lines)
        given = {one["id"]: one["input"] for one in map(orjson.loads, lines)}
        found += [
            LabelledCase(case, labels[case.case_id].bad, labels[case.case_id].source, given[case.case_id])
            for case in read_cases(lines, CASE_KINDS)
            if isinstance(case, NamedCase) and case.case_id in labels
        ]
    return found


def balanced_part(cases: Iterable[LabelledCase], limit: int) -> list[LabelledCase]:
    """At most `limit` cases of each evaluator: a good one and a bad one of each in turn.

    The order is that of a hash of the ids, so a smaller part is within a larger one.
    """
    ordered = sorted(cases, key=lambda case: hashlib.sha256(case.named.case_id.encode()).digest())
    parts = []
    for evaluator in sorted({case.named.evaluator for case in ordered}):
        own = [case for case in ordered if case.named.evaluator == evaluator]
        good, bad = ([case for case in own if case.bad is label] for label in (False, True))
        parts.append(list(zip(good, bad, strict=False))[: limit // 2])
    return [case for pairs in zip_longest(*parts, fillvalue=()) for pair in pairs for case in pair]
