"""The quality gate as an evaluator: the rubric's engine over an artifact, with scanners' hits and a report of its own.

The artifact is what counts, not how it came about: who made it isn't told.  Red lines are never missed: what a scanner
or a pattern suspects is put to the judge, and without a judge the verdict stays open and names the candidates.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime
from functools import cached_property

from evaluators.cases import CaseKind, JsonValue, RunCase
from evaluators.evaluator import Screening
from evaluators.issues import Severity
from evaluators.judge.question import JudgeAnswer, Question
from evaluators.qa_judge.answer import defects_type
from evaluators.qa_judge.artifact import MAX_FILE_BYTES, File, artifact_of
from evaluators.qa_judge.assignment import assignment_of
from evaluators.qa_judge.masking import SECRETIVE, Masking, masking_of
from evaluators.qa_judge.order import Order, OrderedMaterial
from evaluators.qa_judge.report import judgment_of
from evaluators.qa_judge.scanners import installed, scan
from evaluators.qa_judge.settings import QaJudgeSettings
from evaluators.rubric.answer import RubricAnswer
from evaluators.rubric.evaluator import RubricCase, RubricEvaluator
from evaluators.rubric.files import shipped_rubric
from evaluators.rubric.findings import Applicable, Finding
from evaluators.rubric.material import Material
from evaluators.rubric.quotes import find_quote
from evaluators.rubric.reporting import Case
from evaluators.verdict import Issue, Level, Status, Verdict

CANDIDATE = "redline_candidate"
MAX_SHOWN_CHARS = 20_000
_MOST_ORDERS = 16


class QaJudge(RubricEvaluator):
    """PASS from 85 points on, REWORK from 50, RETRAIN_REQUIRED below and for every red line or lack of capability.

    Args:
        settings: threshold, judge, where artifacts are.
        now: the clock of the report.
    """

    name = "qa_judge"
    judges = CaseKind.RUN
    level = Level.TRACE

    def __init__(
        self, settings: QaJudgeSettings | None = None, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._own = settings or QaJudgeSettings()
        super().__init__(shipped_rubric(__package__ or ""), self._own)
        self._now = now
        # A case is looked at when it is screened, and judged as it was then, also when its files change meanwhile.
        self._orders: OrderedDict[int, tuple[RubricCase, Order]] = OrderedDict()

    @cached_property
    def _answer_type(self) -> type[RubricAnswer]:
        return defects_type(self.rubric)

    def screen(self, case: RubricCase) -> Screening:
        """Whether there is something to judge; what rules and scanners show of it and suspect."""
        order = self._order(case)
        if order.assignment.original_task is None:
            return Screening(status=Status.MISSING_INPUT, reason="The task of the artifact was not captured.")
        if order.artifact is None:
            return Screening(
                status=Status.MISSING_INPUT,
                reason="No artifact was captured: no tool wrote a file, and there is no final answer.",
            )
        if not order.artifact.files:
            return Screening(status=Status.NOT_APPLICABLE, reason="A picture can't be judged by reading.")
        screening = super().screen(case)
        found = [one for one in screening.issues if not one.conclusive and self._is_redline(one)]
        candidates = (_candidate(found),) if found else ()
        masking = _masking(order, None)
        return replace(screening, issues=tuple(_masked(one, masking) for one in screening.issues) + candidates)

    def question(self, case: RubricCase, screening: Screening) -> Question:
        """The artifact against its task, with what is suspected of it."""
        asked = super().question(case, screening)
        settled = asked.subject.removeprefix("The whole run.").strip()
        return replace(asked, subject="\n".join(filter(None, (*_told(self._order(case)), settled))))

    def conclude(self, case: RubricCase, screening: Screening, answer: JudgeAnswer) -> Verdict:
        """The engine's verdict, with secrets masked."""
        verdict = super().conclude(case, screening, answer)
        masking = _masking(self._order(case), answer.content if isinstance(answer.content, RubricAnswer) else None)
        issues = tuple(_masked(one, masking) for one in verdict.issues)
        return replace(verdict, issues=issues, explanation=masking.text(verdict.explanation))

    def details(self, case: Case) -> Mapping[str, JsonValue]:
        """The reckoning, and the report where something was decided."""
        told = {name: value for name, value in super().details(case).items() if name != "report"}
        material = case.material
        assert isinstance(material, OrderedMaterial)
        order = material.order
        if order.artifact is not None and order.artifact.unseen:
            told["unseen"] = list(order.artifact.unseen)
        if case.judged is not None or any(one.certain for one in case.findings):
            told["judgment"] = judgment_of(case, order, self._now()).model_dump(mode="json")
        masking = _masking(order, case.answer)
        masked = masking.value(told)
        assert isinstance(masked, dict)
        return masked

    def texts(self, case: RubricCase) -> Mapping[str, str]:
        """The artifact, in which quotes stand, and its type."""
        artifact = self._order(case).artifact
        if artifact is None:
            return {}
        return {"artifact": artifact.text, "artifact_type": str(artifact.kind)}

    def further(self, applies: Applicable, material: Material) -> Sequence[Finding]:
        """What scanners hit."""
        assert isinstance(material, OrderedMaterial)
        checks = {one.id: one for one in applies.checks}
        files = {one.name: one for one in material.order.artifact.files} if material.order.artifact else {}
        return [
            Finding(
                check=checks[hit.check],
                detail=f"{hit.told}.",
                passage=find_quote(material, hit.words),
                certain=hit.certain,
                by_rule=True,
                ref=files[hit.file].ref or material.ref,
            )
            for hit in material.order.hits
            if hit.check in checks
        ]

    def _material(self, case: RubricCase) -> Material:
        plain, order = super()._material(case), self._order(case)
        known = {one.name: getattr(plain, one.name) for one in fields(plain)}
        files = order.artifact.files if order.artifact is not None else ()
        cut = any(one.cut or len(one.text) > _room(files) for one in files)
        return OrderedMaterial(**{**known, "uncut": plain.uncut and not cut}, order=order)

    def _order(self, case: RubricCase) -> Order:
        kept = self._orders.get(id(case))
        if kept is not None and kept[0] is case:
            return kept[1]
        assert isinstance(case, RunCase)
        assignment = assignment_of(case, self._own)
        artifact = artifact_of(case.run, assignment, self._own)
        files = artifact.files if artifact is not None else ()
        order = Order(
            assignment=assignment,
            artifact=artifact,
            hits=scan(files, with_scanners=self._own.scanners),
            scanners=installed() if self._own.scanners else (),
            seen_at=self._now(),
            ref=case.run.ref,
        )
        self._orders[id(case)] = (case, order)
        while len(self._orders) > _MOST_ORDERS:
            self._orders.popitem(last=False)
        return order

    def _is_redline(self, issue: Issue) -> bool:
        return any(check.name == issue.code and "redline" in check.tags for check in self.rubric.checks)


def _candidate(found: Sequence[Issue]) -> Issue:
    named = ", ".join(dict.fromkeys(str(one.code) for one in found))
    return Issue(
        code=CANDIDATE,
        detail=f"May be red lines: {named}.",
        severity=Severity.CRITICAL,
        ref=found[0].ref,
        conclusive=False,
    )


def _masking(order: Order, answer: RubricAnswer | None) -> Masking:
    """What must not be told of an order: what scanners and the judge took for secrets."""
    quotes = [hit.words for hit in order.hits if hit.check in SECRETIVE]
    quotes += [one.quote for one in answer.violations if one.check in SECRETIVE] if answer is not None else []
    return masking_of(quotes)


def _masked(issue: Issue, masking: Masking) -> Issue:
    return replace(issue, detail=masking.text(issue.detail))


def _told(order: Order) -> list[str]:
    """The order in words for a judge. Who carried it out isn't among them."""
    assignment, artifact = order.assignment, order.artifact
    assert artifact is not None
    told = ["The artifact that was delivered.", f"Task: {assignment.original_task}"]
    if assignment.acceptance_criteria:
        told.append("Acceptance criteria:")
        told += [f"{number}. {one}" for number, one in enumerate(assignment.acceptance_criteria, 1)]
    names = ", ".join(one.name for one in artifact.files)
    told.append(f"Type: {artifact.kind}. Files: {names}.")
    if artifact.unseen:
        told.append(f"Not to be judged, as they are pictures: {', '.join(artifact.unseen)}.")
    elsewhere = [one for one in artifact.files if not one.in_record]
    room = _room(artifact.files)
    for one in elsewhere:
        cut = " (its beginning and end)" if len(one.text) > room else ""
        told.append(f"--- {one.name}{cut}\n{_fitted(one.text, room)}")
    return told


def _room(files: Sequence[File]) -> int:
    """How much of each file that isn't in the record of the run is shown, in characters."""
    elsewhere = sum(not one.in_record for one in files)
    return MAX_SHOWN_CHARS // elsewhere if elsewhere else MAX_FILE_BYTES


def _fitted(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[: room // 2]}\n…\n{text[-room // 2 :]}"
