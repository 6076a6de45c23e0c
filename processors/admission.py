"""What is judged, and about which of it a judge model is asked: filters, and a sample that is the same for everybody.

In: a case with the span that its verdict goes to.  Out: nothing where it is judged, or why it isn't, in words that end
up in the verdict.  Rules cost next to nothing, so they judge whatever the filters let through; the sample decides about
judge models alone.  What failed and what rules suspect is asked about whatever the sample.

The sample is drawn by a hash of the session's id, or of the trace's where there is no session, so that it is the same
in every process and for every evaluator: with a lower percentage an evaluator takes some of the traces that the others
take.  The hash is salted: samplers of SDKs and Collectors keep traces by the bits of their ids, and of what they let
through those bits say nothing any more.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import cached_property

from evaluators.cases import CallsCase, Case, DecisionCase, JsonValue, ResponseCase, ToolCall, Turn
from evaluators.evaluator import Screening
from processors.admission_settings import AdmissionSettings, Filter, Rules
from processors.otlp import Span, StatusCode

_SALT = b"spanjudge/admission/"
_HASHES = 1 << 64


class Decision(StrEnum):
    """Why a judge model was asked, or why something wasn't judged; what the metrics count."""

    SAMPLED = "sampled"
    ERROR = "error"
    SUSPICION = "suspicion"
    FILTERED = "filtered"
    SAMPLED_OUT = "sampled_out"


@dataclass(frozen=True)
class Subject:
    """What filters look at: a case, and the span that its verdict goes to."""

    case: Case
    span: Span

    @cached_property
    def service(self) -> str:
        """`service.name` of the span's resource; empty where there is none."""
        return _text(self.span.resource.get("service.name", ""))

    @cached_property
    def agents(self) -> frozenset[str]:
        """Names of the agents whose work is judged."""
        return frozenset(turn.agent for turn in _turns(self.case) if turn.agent)

    @cached_property
    def tools(self) -> frozenset[str]:
        """Names of the tools whose calls are judged."""
        return frozenset(call.name for call in _calls(self.case))

    @cached_property
    def failed(self) -> bool:
        """Whether a call, a model request, the whole run or the span itself failed."""
        return (
            self.span.status is StatusCode.ERROR
            or any(call.result is not None and call.result.failed for call in _calls(self.case))
            or any(turn.error is not None for turn in _turns(self.case))
            or (not isinstance(self.case, DecisionCase | CallsCase | ResponseCase) and self.case.run.aborted)
        )

    def attribute(self, key: str) -> str | None:
        """The value of an attribute of the span, or else of its resource, as text."""
        for attributes in (self.span.attributes, self.span.resource):
            if key in attributes:
                return _text(attributes[key])
        return None


class Admission:
    """Decides by the settings; counts what it decided.

    Args:
        settings: for all evaluators and for single ones.
    """

    def __init__(self, settings: AdmissionSettings | None = None) -> None:
        self._settings = settings or AdmissionSettings()
        self._rules: dict[str, Rules] = {}
        self._counted: Counter[tuple[str, Decision]] = Counter()

    def excluded(self, evaluator: str, subject: Subject) -> str | None:
        """Why the evaluator doesn't judge this at all; None if it does."""
        rules = self._rules_of(evaluator)
        reason = None
        if any(_matches(one, subject) for one in rules.exclude):
            reason = "Left out by admission::exclude."
        elif rules.include and not any(_matches(one, subject) for one in rules.include):
            reason = "Not among what admission::include describes."
        if reason is not None:
            self._counted[evaluator, Decision.FILTERED] += 1
        return reason

    def declined(self, evaluator: str, subject: Subject, screening: Screening, key: str) -> str | None:
        """Why no judge model is asked about what rules left open; None if one is.

        Args:
            evaluator: the evaluator's name.
            subject: what is to be judged.
            screening: what rules say of it.
            key: id of the session, or else of the trace.
        """
        rules = self._rules_of(evaluator)
        if sampled(key, rules.sampling_percentage):
            decision = Decision.SAMPLED
        elif "errors" in rules.always and subject.failed:
            decision = Decision.ERROR
        elif "suspicions" in rules.always and screening.issues:
            decision = Decision.SUSPICION
        else:
            decision = Decision.SAMPLED_OUT
        self._counted[evaluator, decision] += 1
        if decision is not Decision.SAMPLED_OUT:
            return None
        share = f"{rules.sampling_percentage:g}"
        return (
            f"Not in the sample: a judge is asked about {share} of a hundred traces (admission::sampling_percentage)."
        )

    def take_counts(self) -> Counter[tuple[str, Decision]]:
        """How often what was decided for which evaluator since the last time."""
        taken, self._counted = self._counted, Counter()
        return taken

    def _rules_of(self, evaluator: str) -> Rules:
        if evaluator not in self._rules:
            self._rules[evaluator] = self._settings.rules_of(evaluator)
        return self._rules[evaluator]


def sampled(key: str, percentage: float) -> bool:
    """Whether a session or trace is in a sample of so many of a hundred; one in a sample is in every larger one."""
    digest = hashlib.blake2b(_SALT + key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest) < percentage / 100 * _HASHES


def _matches(described: Filter, subject: Subject) -> bool:
    return (
        (not described.service or _any_matches(described.service, (subject.service,)))
        and (not described.agent or _any_matches(described.agent, subject.agents))
        and (not described.tool or _any_matches(described.tool, subject.tools))
        and all(
            (value := subject.attribute(key)) is not None and _any_matches(patterns, (value,))
            for key, patterns in described.attributes.items()
        )
        and (described.status is None or subject.failed is (described.status == "error"))
    )


def _any_matches(patterns: Iterable[str], values: Iterable[str]) -> bool:
    return any(fnmatchcase(value, pattern) for value in values for pattern in patterns)


def _turns(case: Case) -> tuple[Turn, ...]:
    if isinstance(case, DecisionCase | CallsCase | ResponseCase):
        return () if case.turn is None else (case.turn,)
    return case.run.turns


def _calls(case: Case) -> tuple[ToolCall, ...]:
    match case:
        case DecisionCase(turn=turn):
            return turn.calls
        case CallsCase(calls=calls) | ResponseCase(calls=calls):
            return calls
        case _:
            return case.run.calls


def _text(value: JsonValue) -> str:
    match value:
        case bool():
            return str(value).lower()
        case str() | int() | float():
            return str(value)
        case _:
            return ""
