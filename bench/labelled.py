"""How well rules do on labelled cases, beside checks of a few lines.

    python -m bench.labelled CASES.jsonl…

A case is a line as `spanjudge evaluate` reads it, with a `label`.  Printed per evaluator and source: precision and
recall of what rules conclude, of what they conclude or suspect, and of a check that anybody would write first.  Bad is
the positive class; a case that rules say nothing about counts as called good.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import orjson

from evaluators.calibration.agreement import Agreement, Pair, agreement_of
from evaluators.calibration.labels import CaseLabel, read_case_labels
from evaluators.case_files.lines import NamedCase, read_cases
from evaluators.evaluation import judge_by_rules
from evaluators.registry import CASE_KINDS, EVALUATORS
from evaluators.verdict import Verdict

_NUMBER = re.compile(r"\d[\d.,]*\d")


def same_call_twice(given: Mapping[str, Any]) -> bool:
    """Two calls of one tool with the same arguments."""
    calls = [orjson.dumps([one["name"], one.get("arguments")]) for one in given.get("tool_calls") or ()]
    return len(set(calls)) < len(calls)


def breaks_strict_schema(given: Mapping[str, Any]) -> bool:
    """An argument that the schema of the tool forbids or doesn't know."""
    schemas = {one["name"]: one.get("parameters") or {} for one in given.get("available_tools") or ()}
    for one in given.get("tool_calls") or ():
        schema = {"additionalProperties": False, **schemas.get(one["name"], {})}
        try:
            if not jsonschema.Draft202012Validator(schema).is_valid(one.get("arguments")):
                return True
        except jsonschema.SchemaError:
            continue
    return False


def unknown_tool(given: Mapping[str, Any]) -> bool:
    """A call of a tool that isn't among those on offer."""
    known = {one["name"] for one in given.get("available_tools") or ()}
    return any(one["name"] not in known for one in given.get("tool_calls") or ())


def number_from_nowhere(given: Mapping[str, Any]) -> bool:
    """A number of several digits in the answer that stands nowhere before it."""
    seen = orjson.dumps([given.get(key) for key in ("messages", "tool_calls", "tool_results")]).decode()
    return any(found[0] not in seen for found in _NUMBER.finditer(given.get("output") or ""))


SIMPLE: Mapping[str, Callable[[Mapping[str, Any]], bool]] = {
    "step_efficiency": same_call_twice,
    "tool_invocation": breaks_strict_schema,
    "tool_selection": unknown_tool,
    "tool_response_handling": number_from_nowhere,
}


def figures(pairs: Iterable[Pair]) -> str:
    """Precision, recall and balanced accuracy in one cell."""
    found: Agreement | None = agreement_of(pairs)
    if found is None:
        return "–"
    told, bad = found.caught + found.false_alarms, found.caught + found.missed
    precision = f"{found.caught / told:.2f}" if told else "–"
    recall = f"{found.caught / bad:.2f}" if bad else "–"
    balanced = f"{found.balanced_accuracy.value:.2f}" if found.balanced_accuracy else "–"
    return f"P {precision} R {recall} bal {balanced}"


def measure(path: Path) -> None:
    """Judges the cases of a file by rules and prints what that is worth."""
    lines = path.read_bytes().splitlines()
    labels = read_case_labels(lines)
    given = {one["id"]: one["input"] for one in map(orjson.loads, lines)}
    judged: list[tuple[NamedCase, CaseLabel, Verdict]] = []
    for case in read_cases(lines, CASE_KINDS):
        if isinstance(case, NamedCase) and case.case_id in labels:
            verdict = judge_by_rules(EVALUATORS[case.evaluator].create(), case.case)
            judged.append((case, labels[case.case_id], verdict))
    for evaluator in dict.fromkeys(case.evaluator for case, _, _ in judged):
        own = [one for one in judged if one[0].evaluator == evaluator]
        simple = SIMPLE.get(evaluator)
        for source in ("", *sorted({label.source for _, label, _ in own})):
            some = [one for one in own if source in ("", one[1].source)]
            concluded = [Pair(label.bad, verdict.passed is False) for _, label, verdict in some]
            suspected = [Pair(label.bad, verdict.passed is False or bool(verdict.issues)) for _, label, verdict in some]
            floor = [Pair(label.bad, simple(given[case.case_id])) for case, label, _ in some] if simple else []
            name = f"  {source}" if source else evaluator
            print(f"{name:26}{len(some):>5}  {figures(concluded):28}{figures(suspected):28}{figures(floor):28}")


def main() -> int:
    """Measures every file that is named."""
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    print(f"{'':26}{'cases':>5}  {'concluded':28}{'concluded or suspected':28}{'a check of a few lines':28}")
    for name in sys.argv[1:]:
        measure(Path(name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
