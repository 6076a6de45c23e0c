"""The three signs of a loop that DeepEval's loop detection weighs, each 1 (none), 0.5 or 0.

Source: DeepEval 4.3.1, `AgentLoopDetection`.  In: steps as a tree of `Step`s.  Kept as published, known faults
included: the same call counts as a repetition whatever came of it; 1 and 1.0 are different arguments, 1 and "1" the
same; inputs that begin with the same 64 characters are the same input.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import pairwise

from evaluators.cases import JsonValue

TOOL, MODEL = "tool", "llm"
_FEWEST_WORDS = 20
_SHORTEST_WORD = 3
_SAME_FROM, _IDENTICAL_ABOVE = 0.85, 0.95
_INPUT_CHARS = 64
_MOST_CHARS = 20_000
# the words that the published metric leaves out; without them its numbers can't be met
_LEFT_OUT = frozenset(
    re.findall(
        r"\w+",
        "a about above an and are as at based be below but by do for from going has have i in information is it its "
        "let my next not now of on or provided so step that the this to up was were will with",
    )
)


NO_INPUT: JsonValue = {}
"""Stands, as this object, for an input that isn't there: no arguments of a call, and no text elsewhere."""


@dataclass(frozen=True, slots=True)
class Step:
    """A span of the peer's trace: `kind` is tool, llm, agent or another word."""

    kind: str
    name: str
    input: JsonValue = field(default_factory=lambda: NO_INPUT)
    output: JsonValue = ""
    children: tuple[Step, ...] = ()


def steps_of(root: Step) -> Iterator[Step]:
    """A step and all below it, in order."""
    waiting = [root]
    while waiting:
        step = waiting.pop()
        yield step
        waiting.extend(reversed(step.children))


def repetition(steps: Sequence[Step], threshold: int) -> float:
    """By how often the most frequent call of a tool was made: from the threshold 0.5, from twice the threshold 0."""
    counts = Counter((step.name, _arguments(step.input)) for step in steps if step.kind == TOOL)
    most = max(counts.values(), default=0)
    return 0.0 if most >= 2 * threshold else 0.5 if most >= threshold else 1.0


def stagnation(steps: Sequence[Step]) -> float:
    """By the most alike neighbours among the outputs of models."""
    outputs = [step.output for step in steps if step.kind == MODEL]
    words = [_words(output) if isinstance(output, str) else [] for output in outputs]
    alike = [
        max(_common_pairs(one, other), _ratio(" ".join(one), " ".join(other)))
        for one, other in pairwise(words)
        if len(one) >= _FEWEST_WORDS and len(other) >= _FEWEST_WORDS
    ]
    most = max(alike, default=0.0)
    return 1.0 if most < _SAME_FROM else 0.0 if most > _IDENTICAL_ABOVE else 0.5


def cycle(root: Step) -> float:
    """0 if a step with the same kind, name and beginning of its input is below itself."""
    waiting: list[tuple[Step, frozenset[str]]] = [(root, frozenset())]
    while waiting:
        step, above = waiting.pop()
        label = f"{step.kind}:{step.name}:{_beginning(step.input)}"
        if label in above:
            return 0.0
        waiting.extend((child, above | {label}) for child in step.children)
    return 1.0


def _arguments(given: JsonValue) -> tuple[object, ...]:
    if isinstance(given, str):
        with contextlib.suppress(ValueError):
            given = json.loads(given)
    if isinstance(given, Mapping):
        return tuple(sorted((str(key), str(value)) for key, value in given.items()))
    return (str(given),)


def _words(text: str) -> list[str]:
    words = text[:_MOST_CHARS].lower().split()
    return [word for word in words if word not in _LEFT_OUT and len(word) >= _SHORTEST_WORD]


def _common_pairs(one: Sequence[str], other: Sequence[str]) -> float:
    first, second = set(pairwise(one)), set(pairwise(other))
    return len(first & second) / len(first | second)


def _ratio(one: str, other: str) -> float:
    matcher = SequenceMatcher(None, one, other)
    # An upper bound that is cheap: below the threshold the number makes no difference.
    bound = matcher.quick_ratio()
    return bound if bound < _SAME_FROM else matcher.ratio()


def _beginning(given: JsonValue) -> str:
    if given is NO_INPUT:
        return ""
    text = json.dumps(given, sort_keys=True) if isinstance(given, dict) else str(given)
    return text[:_INPUT_CHARS]
