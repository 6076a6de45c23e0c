"""Another package's evaluator, held to what the judging of traces relies on.

Everything is passed on to it.  What it gives back is checked, and what it raises becomes a verdict with the status
`judge_error` that names kind and place of the fault and nothing of the trace, and is logged once for each place:
whatever such a class does costs its own verdict, never that of another evaluator or the trace.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

import orjson
from pydantic import BaseModel

from evaluators.cases import Case, JsonValue
from evaluators.evaluator import Evaluator, Screening
from evaluators.judge.question import JudgeAnswer, JudgeFailure, Question
from evaluators.judge.strict_schema import definitions_of
from evaluators.python_class.loading import LoadError, load_evaluator, told_fault
from evaluators.python_class.settings import PythonSettings
from evaluators.verdict import Status, Verdict

_log = logging.getLogger(__name__)
MAX_QUESTION_CHARS = 20_000
_TRAITS = ("rules_decide", "takes_options", "needs")

ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked(Screening):
    """A screening that is open, with what the judge is to be asked."""

    asked: Question


class ClassEvaluator(Evaluator[Case]):
    """An evaluator of somebody else's, under the name that the configuration gives it.

    Raises:
        LoadError: its class can't be used.
    """

    def __init__(self, name: str, settings: PythonSettings) -> None:
        inner = load_evaluator(name, settings)
        super().__init__(inner.settings)
        self._inner: Evaluator[Any] = inner
        self._told: set[str] = set()
        self.name = name
        self.judges, self.level = inner.judges, inner.level
        self.good_label, self.bad_label = inner.good_label, inner.bad_label
        self.code_version, self.facts = inner.code_version, inner.facts
        for trait in _TRAITS:
            setattr(self, trait, getattr(inner, trait))
        try:
            self._criteria = _of_type(str, inner.criteria())
            super().revision()
        except (Exception, SystemExit) as error:
            raise LoadError(
                f"{type(inner).__name__} has no criteria: {told_fault(error)}; correct the package"
            ) from None

    def criteria(self) -> str:
        """Its prompt text."""
        return self._criteria

    def screen(self, case: Case) -> Screening:
        """What its rules say, and what it would ask."""
        return self._contained("screen", lambda: self._screened(case), _broken)

    def question(self, case: Case, screening: Screening) -> Question:
        """What it asks, as it said when it screened the case."""
        assert isinstance(screening, _Asked)
        return screening.asked

    def conclude(self, case: Case, screening: Screening, answer: JudgeAnswer) -> Verdict:
        """Its verdict on an open case."""
        return self._verdict("conclude", screening, lambda: self._inner.conclude(case, screening, answer))

    def conclude_by_rules(self, screening: Screening) -> Verdict:
        """Its verdict without a judge."""
        if screening.status is Status.JUDGE_ERROR:
            return self.unscored(screening, screening.status, screening.reason)
        return self._verdict("conclude_by_rules", screening, lambda: self._inner.conclude_by_rules(screening))

    def conclude_failure(self, screening: Screening, failure: JudgeFailure) -> Verdict:
        """Its verdict when the judge failed."""
        return self._verdict("conclude_failure", screening, lambda: self._inner.conclude_failure(screening, failure))

    def _screened(self, case: Case) -> Screening:
        found = _of_type(Screening, self._inner.screen(case))
        if found.status is not Status.NEEDS_JUDGE:
            return found
        asked = _of_type(Question, self._inner.question(case, found))
        _check(asked)
        known = {one.name: getattr(found, one.name) for one in fields(Screening)}
        return _Asked(**known, asked=replace(asked, evaluator=self.name))

    def _verdict(self, doing: str, screening: Screening, give: Callable[[], object]) -> Verdict:
        def given() -> Verdict:
            verdict = _of_type(Verdict, give())
            # What can't be written as JSON would only be noticed when all verdicts of the trace are written.
            orjson.dumps(dict(verdict.details))
            return replace(verdict, evaluator=self.name, level=self.level)

        return self._contained(doing, given, lambda reason: self.unscored(screening, Status.JUDGE_ERROR, reason))

    def _contained(self, doing: str, do: Callable[[], ResultT], otherwise: Callable[[str], ResultT]) -> ResultT:
        try:
            return do()
        except (Exception, SystemExit) as error:
            # The outermost loop over another package's code. The error's own text may quote the trace.
            reason = f"{type(self._inner).__name__}.{doing} failed: {told_fault(error)}."
            if reason not in self._told:
                self._told.add(reason)
                _log.error("the evaluator %s: %s Its verdicts are judge_error; correct the package", self.name, reason)
            return otherwise(reason)


def _broken(reason: str) -> Screening:
    return Screening(status=Status.JUDGE_ERROR, reason=reason)


def _check(question: Question) -> None:
    """Raises TypeError for what would spoil the request that a question shares with others."""
    if len(question.criteria) + len(question.subject) + sum(map(len, question.findings)) > MAX_QUESTION_CHARS:
        raise TypeError("the question is too long")
    answer_type: object = question.answer_type
    if not isinstance(answer_type, type) or not issubclass(answer_type, BaseModel):
        raise TypeError("the answer type is no pydantic model")
    _, definitions = definitions_of((answer_type,))
    if question.call_ids:
        calls = answer_type.model_fields.get("calls")
        of_call = any("call_id" in _properties(one) for one in definitions.values())
        if calls is None or not of_call:
            raise TypeError("an answer about calls needs a list `calls` of a model with `call_id`")


def _properties(definition: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    found = definition.get("properties")
    return found if isinstance(found, dict) else {}


def _of_type(wanted: type[ResultT], given: object) -> ResultT:
    if not isinstance(given, wanted):
        raise TypeError(f"gave back {type(given).__name__} instead of {wanted.__name__}")
    return given
