"""What people say of cases and spans: labelled cases, and annotations exported from a backend.

In: lines of labelled cases, or the text of an export (own JSON lines, Phoenix's span annotations, Langfuse's scores).
Out: labels by what they are about.  Only people's words count: annotations of models and programs are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson

_GOOD = frozenset({"correct", "pass", "passed", "good", "yes", "true", "thumbs-up", "👍"})
_BAD = frozenset({"incorrect", "fail", "failed", "bad", "no", "false", "thumbs-down", "👎"})
_PEOPLE = frozenset({"human", "annotation"})


@dataclass(frozen=True, slots=True)
class CaseLabel:
    """A person's label of a case, where the case is from, and the text by which its language is known."""

    bad: bool
    source: str
    text: str


class About(NamedTuple):
    """What an annotation is about: an evaluator's question on a span, or with `span_id` empty on a trace."""

    trace_id: str
    span_id: str
    evaluator: str


@dataclass(frozen=True, slots=True)
class Annotations:
    """Labels by what they are about.

    `passed_over` counts annotations that are no person's, or say neither good nor bad.
    """

    bad: Mapping[About, bool]
    passed_over: int


def read_case_labels(lines: Iterable[bytes]) -> dict[str, CaseLabel]:
    """The labels of cases by id; lines that aren't labelled cases are left out."""
    labels = {}
    for line in lines:
        try:
            case = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
        if isinstance(case, dict) and isinstance(case.get("id"), str):
            bad = _is_bad(case.get("label"), case.get("score"))
            if bad is not None:
                labels[case["id"]] = CaseLabel(bad, _words(case.get("source")), _asked(case.get("input")))
    return labels


def read_annotations(text: bytes) -> Annotations:
    """The annotations of an export.

    Args:
        text: a JSON document, or JSON lines.

    Raises:
        ValueError: it is neither; the message says where.
    """
    bad: dict[About, bool] = {}
    passed_over = 0
    for one in _entries(text):
        told = _is_bad(*_told(one))
        about = _about(one)
        if about is None or told is None or not _by_a_person(one):
            passed_over += 1
        else:
            bad[about] = told
    return Annotations(bad, passed_over)


def _entries(text: bytes) -> Iterator[dict[str, Any]]:
    try:
        document = orjson.loads(text)
    except orjson.JSONDecodeError:
        document = [_line(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if isinstance(document, dict):
        document = document.get("data", document.get("annotations", [document]))
    for one in document if isinstance(document, list) else ():
        if isinstance(one, dict):
            yield one


def _line(number: int, line: bytes) -> object:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise ValueError(f"line {number} is no JSON ({error}); give a JSON document or one object per line") from None


def _about(one: Mapping[str, Any]) -> About | None:
    name = one.get("evaluator") or one.get("name") or one.get("annotation_name")
    trace_id = one.get("trace_id") or one.get("traceId") or ""
    span_id = one.get("span_id") or one.get("spanId") or one.get("observationId") or ""
    if not (isinstance(name, str) and isinstance(trace_id, str) and isinstance(span_id, str) and (trace_id or span_id)):
        return None
    # A span's id alone is enough: exports of annotations mostly have no other.
    return About("" if span_id else trace_id.lower(), span_id.lower(), name)


def _told(one: Mapping[str, Any]) -> tuple[object, object]:
    result = one.get("result")
    said = result if isinstance(result, dict) else one
    return said.get("label") or said.get("stringValue"), said.get("score", said.get("value"))


def _by_a_person(one: Mapping[str, Any]) -> bool:
    who = one.get("annotator_kind") or one.get("annotatorKind") or one.get("source")
    return who is None or str(who).lower() in _PEOPLE


def _is_bad(label: object, score: object) -> bool | None:
    if isinstance(label, bool):
        return not label
    if isinstance(label, str) and label.strip():
        word = label.strip().lower()
        return True if word in _BAD else False if word in _GOOD else None
    if isinstance(score, bool):
        return not score
    return score < 0.5 if isinstance(score, int | float) else None


def _asked(given: object) -> str:
    messages = given.get("messages") if isinstance(given, dict) else None
    said = [one.get("content") for one in messages or () if isinstance(one, dict) and one.get("role") == "user"]
    return " ".join(text for text in said if isinstance(text, str))


def _words(value: object) -> str:
    return value if isinstance(value, str) else ""
