"""Did the run make the calls it should have made? An optimal alignment of both lists; no model, no greedy choice.

Calls of one name are paired so that the sum of their likenesses is largest, in any order or in that of the reference.
Score, reason and issues all come from this one pairing.  It never counts a call twice, and says nothing of calls whose
arguments it hasn't seen in full.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Literal

from pydantic import Field

from evaluators.cases import JsonValue
from evaluators.issues import IssueCode
from evaluators.reference.alignment import effort
from evaluators.reference.call_alignment import Alignment, CallTable, aligned, by_name
from evaluators.reference.calls import Call
from evaluators.reference.comparator import Comparator, Comparison, FieldRule
from evaluators.reference.metric import Measured, ReferenceMetric, ReferenceSettings, Unmeasured, harmonic
from evaluators.rules.secrets import shown
from evaluators.verdict import Issue, Status, issue

_MOST_PAIRS, _MOST_EFFORT = 30_000, 5_000_000
_MOST_TOLD = 50
_MOST_FIELDS_TOLD = 5
_MOST_OF_NAME = 64
_SAME = Comparison(1.0)


class ToolCallsMatchSettings(ReferenceSettings):
    """What counts, and how arguments are compared."""

    order: Literal["any", "in_order"] = Field(
        default="any", description="Whether calls count in any order, or only in the order of the reference."
    )
    measure: Literal["f1", "precision", "recall"] = Field(
        default="f1",
        description="What the score is: the share of expected calls that were made (recall), of calls that were "
        "expected (precision), or both (f1).",
    )
    compare_arguments: bool = Field(default=True, description="Compare arguments, and not names alone.")
    ignore_tools: tuple[str, ...] = Field(
        default=(), description="Tools (names or patterns with *) whose calls don't count on either side."
    )
    number_tolerance: float = Field(
        default=1e-9,
        ge=0.0,
        lt=1.0,
        description="Fractions are the same that differ by no more than this share; whole numbers have to be equal.",
    )
    null_is_absent: bool = Field(default=True, description="An argument that is null counts as not given.")
    fields: tuple[FieldRule, ...] = Field(
        default=(), description="Fields of arguments that are compared in another way."
    )


class ToolCallsMatch(ReferenceMetric):
    """Precision, recall and F1 of calls under the best one-to-one alignment; both empty 1."""

    name = "tool_calls_match"

    def __init__(self, settings: ToolCallsMatchSettings | None = None) -> None:
        super().__init__(settings or ToolCallsMatchSettings())
        self._matching = settings or ToolCallsMatchSettings()
        self._comparator = Comparator(
            number_tolerance=self._matching.number_tolerance,
            null_is_absent=self._matching.null_is_absent,
            rules=self._matching.fields,
        )

    @property
    def compares_arguments(self) -> bool:
        """Cut ones are looked at call by call: those of a call that nobody expected make no difference."""
        return False

    def measure(self, made: Sequence[Call], expected: Sequence[Call]) -> Measured | Unmeasured:
        """Align and count."""
        made, expected = self._counting(made), self._counting(expected)
        unseen = self._unseen(made, expected)
        if unseen:
            return Unmeasured(reason=f"The arguments of {unseen} calls were not captured in full.")
        groups = by_name(made, expected)
        sizes = [(len(here), len(there)) for here, there in groups.values()]
        if sum(a * b for a, b in sizes) > _MOST_PAIRS or sum(effort(a, b) for a, b in sizes) > _MOST_EFFORT:
            reason = f"{len(made)} calls against {len(expected)} expected ones are too many to align."
            return Unmeasured(reason=reason, status=Status.TOO_LARGE)
        try:
            table = self._compared(made, expected)
        except TimeoutError:
            return Unmeasured(reason="A pattern of `fields` takes too long on a value; make it simpler.")
        return self._told(aligned(table, groups, in_order=self._matching.order == "in_order"), made, expected)

    def _counting(self, calls: Sequence[Call]) -> list[Call]:
        ignored = self._matching.ignore_tools
        named = [replace(call, name=unicodedata.normalize("NFC", call.name)) for call in calls]
        return [call for call in named if not any(fnmatchcase(call.name, pattern) for pattern in ignored)]

    def _unseen(self, made: Sequence[Call], expected: Sequence[Call]) -> int:
        if not self._matching.compare_arguments:
            return 0
        compared = {call.name for call in expected if call.arguments is not None}
        unseen = (call for call in made if call.truncated or call.arguments is None)
        return sum(call.name in compared for call in unseen)

    def _compared(self, made: Sequence[Call], expected: Sequence[Call]) -> CallTable:
        """How alike each pair of one name is."""
        normal = [None if call.arguments is None else self._comparator.normal(call.arguments) for call in made]
        table: dict[tuple[int, int], Comparison] = {}
        for at, wanted in enumerate(expected):
            asked = None if wanted.arguments is None else self._comparator.normal(wanted.arguments)
            for there, call in enumerate(made):
                if call.name != wanted.name:
                    continue
                given = normal[there]
                if asked is None or given is None or not self._matching.compare_arguments:
                    table[at, there] = _SAME
                else:
                    table[at, there] = self._comparator.compare_normal(
                        wanted.name, asked, given, only_expected=not call.from_model
                    )
        return table

    def _told(self, alignment: Alignment, made: Sequence[Call], expected: Sequence[Call]) -> Measured:
        matched = alignment.total
        precision = matched / len(made) if made else 1.0
        recall = matched / len(expected) if expected else 1.0
        scores = {"f1": harmonic(precision, recall), "precision": precision, "recall": recall}
        paired = {there for _, there, _ in alignment.pairs} | {there for _, there in alignment.displaced}
        found = {at for at, _, _ in alignment.pairs} | {at for at, _ in alignment.displaced}
        missed = [call for at, call in enumerate(expected) if at not in found]
        extra = [call for at, call in enumerate(made) if at not in paired]
        exact = sum(not one.differences for *_, one in alignment.pairs)
        details: dict[str, JsonValue] = {
            **{name: round(value, 4) for name, value in scores.items()},
            "order": round(alignment.order, 4),
            "made": len(made),
            "expected": len(expected),
            "matched": exact,
            "other_arguments": len(alignment.pairs) - exact,
            "out_of_order": len(alignment.displaced),
            "missing": len(missed),
            "extra": len(extra),
            "alignment": [_pair(at, made[there], one) for at, there, one in alignment.pairs[:_MOST_TOLD]],
        }
        issues = [
            *(_missing(call) for call in missed[:_MOST_TOLD]),
            *(_other(made[there], one) for _, there, one in alignment.pairs[:_MOST_TOLD] if one.differences),
            *(_displaced(made[there], at) for at, there in alignment.displaced[:_MOST_TOLD]),
            *(_extra(call) for call in extra[:_MOST_TOLD]),
        ]
        return Measured(
            score=scores[self._matching.measure], reason=_reason(details), issues=tuple(issues), details=details
        )


def _reason(counts: Mapping[str, JsonValue]) -> str:
    if not counts["made"] and not counts["expected"]:
        return "No calls were expected, and none were made."
    parts = [f"{counts['matched']} of {counts['expected']} expected calls were made"]
    for key, words in (
        ("other_arguments", "with other arguments"),
        ("out_of_order", "out of order"),
        ("missing", "missing"),
        ("extra", "extra"),
    ):
        if counts[key]:
            parts.append(f"{counts[key]} {words}")
    return "; ".join(parts) + "."


def _pair(at: int, call: Call, one: Comparison) -> JsonValue:
    return {
        "expected": at,
        "call_id": call.id,
        "likeness": round(one.likeness, 4),
        "differences": [f"{shown(path, _MOST_OF_NAME)} {how}" for path, how in one.differences[:_MOST_FIELDS_TOLD]],
    }


def _missing(call: Call) -> Issue:
    return issue(IssueCode.MISSING_CALL, f"{_named(call)} was expected and not called.")


def _extra(call: Call) -> Issue:
    return issue(IssueCode.EXTRA_CALL, f"{_named(call)} was called and not expected.", call_id=call.id, ref=call.ref)


def _displaced(call: Call, at: int) -> Issue:
    detail = f"{_named(call)} was called out of order: it was expected as number {at + 1}."
    return issue(IssueCode.WRONG_ORDER, detail, call_id=call.id, ref=call.ref)


def _other(call: Call, one: Comparison) -> Issue:
    fields = [f"{shown(path, _MOST_OF_NAME)} {how}" for path, how in one.differences[:_MOST_FIELDS_TOLD]]
    further = len(one.differences) - len(fields)
    detail = f"{_named(call)}: {', '.join(fields)}{f' and {further} more' if further else ''}."
    return issue(IssueCode.WRONG_ARGUMENTS, detail, call_id=call.id, ref=call.ref)


def _named(call: Call) -> str:
    return shown(call.name, _MOST_OF_NAME)
