"""The evaluator that a prompt file defines: whether it applies by code, the label by a judge, the score by the file.

Rules decide nothing here but that a case lacks its inputs.  Without a judge every verdict is `needs_judge`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

from evaluators.cases import CallsCase, Case, CaseKind, DecisionCase, JsonValue, ResponseCase, SessionCase
from evaluators.evaluator import Evaluator, EvaluatorSettings, Screening
from evaluators.issues import Severity
from evaluators.judge.question import JudgeAnswer, Question, call_name, turn_name
from evaluators.prompt_file.answer import CallLabelAnswer, CallsAnswer, LabelAnswer, answer_type
from evaluators.prompt_file.inputs import judged_calls, judged_turn, missing_input
from evaluators.prompt_file.settings import PromptSettings
from evaluators.rules.judged import judged_confidence
from evaluators.verdict import CallVerdict, Issue, Method, Status, Verdict

_RULES = "1"
_LESS_WITHOUT_EVIDENCE = 0.2


class PromptEvaluator(Evaluator[Case]):
    """One question of an operator's own, with the labels of its file and what each is worth."""

    def __init__(self, name: str, settings: PromptSettings) -> None:
        definition = settings.definition
        threshold = definition.threshold if settings.threshold is None else settings.threshold
        super().__init__(EvaluatorSettings(threshold=threshold, judge=settings.judge))
        self.name = name
        self.judges = definition.judges
        self.level = definition.level
        self.facts = tuple(need.value for need in definition.required)
        self._threshold = threshold
        scored = {label: score for label, score in definition.labels.items() if score is not None}
        self.good_label, self.bad_label = max(scored, key=scored.__getitem__), min(scored, key=scored.__getitem__)
        # Whatever the file says can change a verdict; where it lies can't.
        said = definition.model_dump_json(exclude={"judge", "threshold"})
        self.code_version = f"{_RULES}-{hashlib.sha256(said.encode()).hexdigest()[:12]}"
        self._definition = definition
        self._labels = definition.labels
        self._answer_type = answer_type(name, definition.labels, per_call=self.judges is CaseKind.CALLS)

    def criteria(self) -> str:
        """The text of the file."""
        return self._definition.criteria

    def screen(self, case: Case) -> Screening:
        """Whether there is something to judge, and everything to judge it by."""
        run, turn, calls = case.run, judged_turn(case), judged_calls(case)
        if self.judges in (CaseKind.RUN, CaseKind.SESSION) and run.partial:
            return Screening(status=Status.MISSING_INPUT, reason="Part of the trace never arrived.")
        if self.judges in (CaseKind.CALLS, CaseKind.RESPONSE) and not calls:
            return Screening(status=Status.NOT_APPLICABLE, reason="No tool was called here.")
        if self.judges is CaseKind.DECISION and turn is not None and turn.error is not None:
            return Screening(status=Status.NOT_APPLICABLE, reason="The request to the model failed.")
        if self.judges is CaseKind.RESPONSE and turn is None:
            return Screening(status=Status.MISSING_INPUT, reason="What was made of the results was not captured.")
        reason = missing_input(case, self._definition.required)
        if reason is not None:
            return Screening(status=Status.MISSING_INPUT, reason=reason)
        return Screening(status=Status.NEEDS_JUDGE, reason="This can only be said by a judge.")

    def question(self, case: Case, screening: Screening) -> Question:
        """The case in the words of the record, with the file's criteria."""
        call_ids = tuple(dict.fromkeys(call.id for call in judged_calls(case))) if self._is_per_call else ()
        return Question(
            evaluator=self.name,
            criteria=self.criteria(),
            subject=_subject(case),
            answer_type=self._answer_type,
            call_ids=call_ids,
        )

    def conclude(self, case: Case, screening: Screening, answer: JudgeAnswer) -> Verdict:
        """The label's score. Of several calls the mean, with the label of the worst; all of them have to pass."""
        content = answer.content
        assert isinstance(content, LabelAnswer | CallsAnswer)
        answers: Sequence[LabelAnswer] = content.calls if isinstance(content, CallsAnswer) else [content]
        judged = [(score, one) for one in answers if (score := self._labels[one.label]) is not None]
        told = replace(screening, evidence=answer.evidence, details={"answers": [_told(one) for one in answers]})
        if not judged:
            return self.unscored(told, Status.NOT_APPLICABLE, answers[0].explanation)
        _, worst = min(judged, key=lambda pair: pair[0])
        failed = [one for score, one in judged if score < self._threshold]
        refs = {call.id: call.ref for call in judged_calls(case)}
        told = replace(
            told,
            issues=tuple(_issue(one, refs) for one in failed),
            calls=tuple(self._of_call(one) for one in answers if isinstance(one, CallLabelAnswer)),
        )
        confidence = judged_confidence(cut=answer.input_cut or case.run.truncated or case.run.partial)
        if not answer.evidence:
            confidence -= _LESS_WITHOUT_EVIDENCE
        score = sum(score for score, _ in judged) / len(judged)
        explanation = " ".join(dict.fromkeys(one.explanation for one in failed)) or worst.explanation
        verdict = self.scored(told, score, confidence, method=Method.JUDGE, explanation=explanation)
        return replace(verdict, label=worst.label, passed=not failed)

    def _of_call(self, one: CallLabelAnswer) -> CallVerdict:
        score = self._labels[one.label]
        if score is None:
            return CallVerdict(call_id=one.call_id, label=None)
        passed = score >= self._threshold
        return CallVerdict(
            call_id=one.call_id, label="pass" if passed else "fail", issues=() if passed else (one.label,)
        )

    @property
    def _is_per_call(self) -> bool:
        return self.judges is CaseKind.CALLS


def _subject(case: Case) -> str:
    match case:
        case DecisionCase(turn=turn):
            return f"What the model decided in {turn_name(turn.index)}."
        case CallsCase():
            return "Each of these calls: " + _named(case)
        case ResponseCase(turn=turn):
            where = "the run" if turn is None else f"{turn_name(turn.index)} and those after it"
            return f"What {where} made of the results of: {_named(case)}"
        case SessionCase():
            return "The whole session."
        case _:
            return "The whole run."


def _named(case: Case) -> str:
    return ", ".join(dict.fromkeys(call_name(call.id) for call in judged_calls(case)))


def _told(one: LabelAnswer) -> JsonValue:
    told: dict[str, JsonValue] = {"call_id": one.call_id} if isinstance(one, CallLabelAnswer) else {}
    return {**told, "label": one.label, "explanation": one.explanation}


def _issue(one: LabelAnswer, refs: Mapping[str, str | None]) -> Issue:
    call_id = one.call_id if isinstance(one, CallLabelAnswer) else None
    ref = refs.get(call_id) if call_id is not None else None
    return Issue(code=one.label, detail=one.explanation, severity=Severity.MAJOR, call_id=call_id, ref=ref)
