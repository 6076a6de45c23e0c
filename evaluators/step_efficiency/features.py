"""Counts that describe how a run went about its task, for people and dashboards; nothing is judged by them.

In go the steps and labels of a run, out come JSON values.  Content never appears in them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from evaluators.cases import JsonValue, Run
from evaluators.judge.tokens import tokens, weigh
from evaluators.rules.effects import Effect
from evaluators.rules.fingerprint import fingerprint
from evaluators.rules.raw_arguments import read_arguments
from evaluators.rules.reading import reading_of
from evaluators.rules.repetition import Step, same_call
from evaluators.rules.structured import scalars

_LONGEST_ACKNOWLEDGEMENT = 12
_MOST_TOLD = 20
_RESOURCE_NAMES = frozenset(
    {
        "path",
        "file",
        "filename",
        "file_path",
        "filepath",
        "file_name",
        "url",
        "uri",
        "link",
        "resource",
        "document",
        "路径",
    }
)
_EMPTY = frozenset({"", "[]", "{}", "null", "none", '""'})
_WORD = re.compile(r"[^\W_]{2,}(?:[.:-][^\W_]+)*|\d+(?:[.,]\d+)*")


def used_results(run: Run, steps: Sequence[Step]) -> list[bool | None]:
    """Per step whether anything of its result shows up in the answer, in a later text or in later arguments.

    None for writes, for mere acknowledgements, and for results that weren't captured.
    """
    texts: list[set[str]] = [set() for _ in range(len(steps) + 1)]
    texts[len(steps)] = _words(run.final_answer or "")
    at = {step.call.id: step.index for step in steps}
    for turn in run.turns:
        mine = [at[call.id] for call in turn.calls if call.id in at]
        if turn.text:
            texts[min(mine, default=len(steps))] |= _words(turn.text)
    for step in steps:
        arguments = " ".join(str(scalar) for scalar in scalars(dict(read_arguments(step.call).value)))
        texts[step.index] |= _words(arguments)
    later: set[str] = set(texts[len(steps)])
    used: list[bool | None] = [None] * len(steps)
    for step in reversed(steps):
        content = step.call.result.content if step.call.result is not None else None
        informs = content is not None and not _is_acknowledgement(content)
        if step.effect is not Effect.WRITE and step.succeeded and content is not None and informs:
            # words that the call's own arguments already had prove nothing
            used[step.index] = bool((_result_words(content) - texts[step.index]) & later)
        later |= texts[step.index]
    return used


def features(run: Run, steps: Sequence[Step], used: Sequence[bool | None]) -> dict[str, JsonValue]:
    """The counts of a run."""
    signatures = Counter((step.call.name, step.arguments) for step in steps if step.arguments is not None)
    after_failure = list(_after_failures(steps))
    known = [step for step in steps if step.succeeded and step.call.result is not None]
    reads = [flag for flag in used if flag is not None]
    durations, weights = _durations(steps), _weights(steps)
    return {
        "total_steps": len(run.turns),
        "tool_calls": len(steps),
        "same_tool_same_args_repeats": sum(count - 1 for count in signatures.values()),
        "consecutive_same_tool_runs": _runs_of_same_tool(steps),
        "failed_tool_retries": len(after_failure),
        "unchanged_failed_retries": sum(same_call(a, b) for a, b in after_failure),
        "arguments_changed_after_failure": sum(
            b.arguments is not None and a.arguments is not None and a.arguments != b.arguments for a, b in after_failure
        ),
        "empty_result_ratio": _share(sum(_is_empty(step) for step in known), len(known)),
        "unused_result_ratio": _share(sum(not flag for flag in reads), len(reads)),
        "reads_per_resource": _told(_reads_per_resource(steps)),
        "tool_duration_s": round(sum(durations.values()) / 1e6, 6) if durations else None,
        "duration_share": _shares(durations),
        "tool_tokens": tokens(sum(weights.values())),
        "token_share": _shares(weights),
        "trace_truncated": run.partial or run.truncated,
    }


def _after_failures(steps: Sequence[Step]) -> Iterator[tuple[Step, Step]]:
    """Each failed call with the next one that its agent made of the same tool, whatever came in between."""
    before: dict[tuple[str, str | None], Step] = {}
    for step in steps:
        last = before.get((step.call.name, step.agent))
        if last is not None and last.succeeded is False:
            yield last, step
        before[step.call.name, step.agent] = step


def _runs_of_same_tool(steps: Sequence[Step]) -> int:
    """How many stretches of two or more calls of one tool there are."""
    starts = 0
    for at in range(1, len(steps)):
        same = steps[at].call.name == steps[at - 1].call.name
        before = at > 1 and steps[at - 1].call.name == steps[at - 2].call.name
        starts += same and not before
    return starts


def _reads_per_resource(steps: Sequence[Step]) -> Counter[str]:
    """Successful reads per file or URL, whatever part of it was read."""
    reads: Counter[str] = Counter()
    for step in steps:
        if step.effect is Effect.WRITE or not step.succeeded:
            continue
        for name, value in read_arguments(step.call).value.items():
            if name.lower() in _RESOURCE_NAMES and isinstance(value, str) and value:
                reads[value] += 1
    return reads


def _told(reads: Counter[str]) -> list[JsonValue]:
    """The resources that were read more than once, most often read first, by a fingerprint of their names."""
    return [
        {"resource": fingerprint(name), "reads": count} for name, count in reads.most_common(_MOST_TOLD) if count > 1
    ]


def _durations(steps: Sequence[Step]) -> Counter[str]:
    """Microseconds spent in each tool, whole ones, so that a Counter of ints stays exact."""
    spent: Counter[str] = Counter()
    for step in steps:
        if step.call.result is not None and step.call.result.duration_s:
            spent[step.call.name] += round(step.call.result.duration_s * 1e6)
    return spent


def _is_empty(step: Step) -> bool:
    content = step.call.result.content if step.call.result is not None else None
    if content is None:
        return False
    return content.strip().lower() in _EMPTY or reading_of(content).value in ([], {})


def _is_acknowledgement(content: str) -> bool:
    """Whether a result says no more than that the call went well."""
    return len(content) <= _LONGEST_ACKNOWLEDGEMENT and not any(c.isdigit() for c in content)


def _weights(steps: Sequence[Step]) -> Counter[str]:
    """What arguments and results of each tool take of a model's context, by the estimated weight of their tokens."""
    weights: Counter[str] = Counter()
    for step in steps:
        read, result = read_arguments(step.call), step.call.result
        texts = [read.text or " ".join(str(scalar) for scalar in scalars(dict(read.value)))]
        texts += [result.content or "", result.error or ""] if result is not None else []
        weights[step.call.name] += sum(weigh(text) for text in texts)
    return weights


def _shares(amounts: Counter[str]) -> dict[str, JsonValue]:
    """Each tool's share of the whole, the largest ones first."""
    total = sum(amounts.values())
    return {name: round(value / total, 4) for name, value in amounts.most_common(_MOST_TOLD)} if total else {}


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


def _result_words(content: str) -> set[str]:
    read = reading_of(content)
    return _words(content if read.value is None else " ".join(map(str, scalars(read.value))))
