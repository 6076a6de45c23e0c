"""Cases as lines of a file, and verdicts as lines of a file: the evaluators without telemetry.

A case is `{"id", "evaluator", "input"}`.  `input` holds `messages` (as in the chat API of OpenAI, old forms too),
`available_tools` (name, description, parameters), `tool_calls` (id, name, arguments), `tool_results` (id, name,
content, error) and `output`.  For evaluators of a step, `messages` is what came before it; for those of a run, the
whole run, and they may be left out where calls alone are compared.  What should have come of a run stands in
`options.reference`, or its calls in `reference_tool_calls`.  Further keys are ignored, so that labelled files can be
read as they are; options that an evaluator takes as settings are checked.  What a line gets wrong is told with what to
do about it; nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import orjson
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from evaluators.case_files.building import build_case
from evaluators.case_files.form import CaseLine
from evaluators.cases import Case, CaseKind
from evaluators.evaluator import EvaluatorSettings
from evaluators.verdict import Verdict

_LONGEST_FAULT = 200


@dataclass(frozen=True, slots=True)
class NamedCase:
    """A case under the id its line gave it, with the name of the evaluator that is to judge it.

    `options` are settings for this case alone, in the place of those that the evaluator has; None where there are none.
    """

    line: int
    case_id: str
    evaluator: str
    case: Case
    options: EvaluatorSettings | None = None


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is no case: its number from 1, what is wrong, and what to do."""

    line: int
    fault: str


def read_cases(
    lines: Iterable[bytes],
    kinds: Mapping[str, CaseKind],
    options: Mapping[str, type[EvaluatorSettings]] | None = None,
) -> Iterator[NamedCase | BadLine]:
    """The case of every line that isn't blank, or why it has none.

    Args:
        lines: one JSON object each.
        kinds: what each evaluator judges, by the evaluator's name; the registry's are `evaluators.registry.CASE_KINDS`.
        options: the settings of the evaluators that take some from a case; the registry's are `CASE_OPTIONS`.
    """
    seen: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        read = _read_line(number, line, kinds, options or {})
        if isinstance(read, NamedCase):
            first = seen.setdefault(read.case_id, number)
            if first != number:
                read = BadLine(number, f"id {_cut(read.case_id)} was used in line {first}; give every case its own")
        yield read


def result_line(case: NamedCase, verdict: Verdict) -> bytes:
    """The answer to a case as one JSON line: label and score are null unless the status is ok."""
    answer = {
        "id": case.case_id,
        "evaluator": case.evaluator,
        "status": str(verdict.status),
        "label": verdict.label,
        "score": verdict.score,
        "passed": verdict.passed,
        "method": str(verdict.method),
        "confidence": verdict.confidence,
        "explanation": verdict.explanation,
        "issues": [
            {
                "code": str(one.code),
                "call_id": one.call_id,
                "severity": str(one.severity),
                "detail": one.detail,
                "conclusive": one.conclusive,
            }
            for one in verdict.issues
        ],
        "calls": [
            {"call_id": one.call_id, "label": one.label, "issues": [str(code) for code in one.issues]}
            for one in verdict.calls
        ],
        "details": dict(verdict.details),
        "requests": verdict.usage.requests,
        "prompt_chars": verdict.usage.prompt_chars,
        "model": verdict.model,
        "revision": verdict.revision,
    }
    return orjson.dumps(answer, option=orjson.OPT_APPEND_NEWLINE)


def _read_line(
    number: int, line: bytes, kinds: Mapping[str, CaseKind], options: Mapping[str, type[EvaluatorSettings]]
) -> NamedCase | BadLine:
    try:
        parsed = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        return BadLine(number, f"is no JSON ({error}); write one JSON object per line")
    name = parsed.get("evaluator") if isinstance(parsed, dict) else None
    if isinstance(name, str) and name not in kinds:
        return BadLine(number, f"evaluator {_cut(name)!r} is unknown; use one of {', '.join(kinds)}")
    try:
        read = CaseLine.model_validate(parsed)
    except ValidationError as error:
        return BadLine(number, _faults(error))
    kind, given = kinds[read.evaluator], read.input
    if given.messages is None and kind is not CaseKind.RUN:
        return BadLine(number, "input.messages: Field required; the form of a case is in docs/commands.md")
    model = options.get(read.evaluator)
    try:
        own = model.model_validate(given.options) if model is not None and given.options else None
    except ValidationError as error:
        return BadLine(number, _faults(error, "input.options."))
    return NamedCase(number, read.id, read.evaluator, build_case(kind, given), own)


def _faults(error: ValidationError, within: str = "") -> str:
    found = error.errors(include_url=False, include_context=False, include_input=False)
    told = [f"{within}{'.'.join(map(str, one['loc'])) or 'the line'}: {_message(one)}" for one in found[:3]]
    return f"{'; '.join(map(_cut, told))}; the form of a case is in docs/commands.md"


def _message(fault: ErrorDetails) -> str:
    """What is wrong, without the names of our classes."""
    return "has to be an object" if fault["type"] == "model_type" else fault["msg"].removeprefix("Value error, ")


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_FAULT else text[:_LONGEST_FAULT] + "…"
