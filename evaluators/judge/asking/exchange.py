"""One conversation with a judge: what has been asked and answered so far, and what it has cost each question.

In: replies, failures and what requests have cost.  Out: one answer per question, in order, and what there is to tell
about them.  Never talks to anybody.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from evaluators.judge.answering.answer import Junk, Read, read_reply
from evaluators.judge.cache.answer_cache import Kept
from evaluators.judge.endpoint.request import Reply, Tally
from evaluators.judge.limits.not_asked import IS_STOPPED
from evaluators.judge.question import Answer, JudgeAnswer, JudgeFailure, NamedQuestion
from evaluators.judge.report import Asked, QuestionsReport
from evaluators.judge.showing.prompt import Prompt, ShownRun
from evaluators.rules.secrets import redact
from evaluators.usage import add, share, total
from evaluators.verdict import NO_USAGE, Status, Usage

_ASKED = {
    Status.TIMED_OUT: Asked.TIMED_OUT,
    Status.TOO_LARGE: Asked.TOO_LARGE,
    Status.OVER_BUDGET: Asked.OVER_BUDGET,
}
# The request that failed has been reported with its reason.
_TOLD_ALREADY = frozenset((Asked.FAILED, Asked.TOO_LARGE, Asked.STOPPED))
# The model answered, and what it said is of no use.
_USELESS = frozenset((Asked.JUNK, Asked.REFUSED, Asked.CUT_OFF, Asked.UNPROTECTED))

_STEERED = "a text of the run speaks to whoever judges it, and has probably steered the model"
_STEERED_UNSEEN = "beside a harmless run it answers them rightly, so something in this run has steered or confused it"
_UNDECIDED = "asked for them beside a harmless run, it gave no answer that tells whether it can"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answered:
    read: Read
    left_out: float
    unchecked: bool
    trace_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Failed:
    status: Status
    reason: str
    asked: Asked


@dataclass(slots=True, kw_only=True)
class Exchange:
    """What has been asked and answered in one call, and what it has cost each question.

    `unchecked`: it goes without the control statements that belong to it, as the model is too weak for them.
    """

    shown: ShownRun
    asked: Sequence[NamedQuestion]
    model: str
    prompt: Prompt | None = None
    unchecked: bool = False
    tally: Tally = field(default_factory=lambda: Tally(usages=[]))
    _answered: dict[str, _Answered] = field(default_factory=dict)
    _junk: dict[str, Junk] = field(default_factory=dict)
    _failed: dict[str, _Failed] = field(default_factory=dict)
    _usage: dict[str, Usage] = field(default_factory=dict)

    @property
    def open(self) -> list[NamedQuestion]:
        """The questions without a valid answer that haven't been given up."""
        return [
            (name, question) for name, question in self.asked if name not in self._answered and name not in self._failed
        ]

    @property
    def was_sent(self) -> bool:
        """Whether any request was made about it, of those that have been settled."""
        return any(usage.requests for usage in self._usage.values())

    @property
    def misread(self) -> bool:
        """Whether the last answer got control statements wrong."""
        return any(junk.unreading for name, _ in self.open if (junk := self._junk.get(name)) is not None)

    def go_unchecked(self) -> None:
        """Do without control statements from now on."""
        assert not self.shown.steering, "a text speaks to the judge, and nothing else tells whether it listened"
        self.shown = replace(self.shown, control=None)
        self.prompt = None
        self.unchecked = True

    def settle(self) -> None:
        """Shares what has been spent since the last time among the questions it was spent on."""
        names = [name for name, _ in self.open]
        for name, part in zip(names, share(total(self.tally.usages), len(names)), strict=True):
            self._usage[name] = add(self._usage.get(name, NO_USAGE), part)
        self.tally.usages.clear()

    def take(self, reply: Reply) -> None:
        """Reads a reply for all that is open."""
        self._read(reply, 0.0 if self.prompt is None else self.prompt.left_out)

    def take_unchecked(self, reply: Reply) -> None:
        """Reads a reply again, whatever it says to the control statements."""
        left_out = 0.0 if self.prompt is None else self.prompt.left_out
        self.go_unchecked()
        self._read(reply, left_out)

    def _read(self, reply: Reply, left_out: float) -> None:
        self.settle()
        for name, result in read_reply(reply.text, self.open, self.shown.aliases, redact, self.shown.control).items():
            if isinstance(result, Read):
                self._answered[name] = _Answered(
                    read=result, left_out=left_out, unchecked=self.unchecked, trace_id=self.tally.trace_id
                )
            else:
                self._junk[name] = result

    def part(self, asked: Sequence[NamedQuestion]) -> Exchange:
        """An exchange about some of the questions, to be joined in the end."""
        return Exchange(shown=self.shown, asked=asked, model=self.model, unchecked=self.unchecked)

    def join(self, part: Exchange) -> None:
        """Take over what came of a part."""
        part.settle()
        self._answered |= part._answered
        self._failed |= part._failed
        for name, usage in part._usage.items():
            self._usage[name] = add(self._usage.get(name, NO_USAGE), usage)

    def faults(self) -> list[str]:
        """What was wrong with the answers to what is open, each fault once."""
        return list(dict.fromkeys(fault for name, _ in self.open for fault in self._junk[name].faults))

    def fail(self, status: Status, reason: str, asked: Asked | None = None) -> None:
        """Gives up on all that is open. `asked` is what it counts as, where the status doesn't say."""
        counted = asked or _ASKED.get(status, Asked.FAILED)
        for name, _ in self.open:
            self._failed[name] = _Failed(status=status, reason=reason, asked=counted)

    def stop(self) -> None:
        """Gives up because the judge is closed."""
        self.fail(Status.JUDGE_ERROR, IS_STOPPED, Asked.STOPPED)

    def fail_unprotected(self) -> None:
        """Gives up, as the model is too weak to be checked and a text of the run speaks to it."""
        self.fail(
            Status.JUDGE_ERROR,
            f"{self.model} gets control statements wrong even beside a harmless run, and a text of this one speaks "
            f"to whoever judges it: nothing would show whether the model obeyed; use a larger one",
            Asked.UNPROTECTED,
        )

    def fail_junk(self, passes_example: bool | None) -> None:
        """Gives up on answers that were not valid, twice.

        Args:
            passes_example: whether the model answers control statements beside a harmless run, if it is known.
        """
        for name, _ in self.open:
            junk = self._junk[name]
            reason = f"{self.model} gave no valid answer, twice: {'; '.join(junk.faults)}"
            if junk.unreading:
                unseen = _STEERED_UNSEEN if passes_example else _UNDECIDED
                reason += f"; {_STEERED if self.shown.steering else unseen}"
            self._failed[name] = _Failed(status=Status.JUDGE_ERROR, reason=reason, asked=Asked.JUNK)

    def answers(self) -> list[Answer]:
        """What came of each question, in order."""
        return [self._answer(name) for name, _ in self.asked]

    def kept(self) -> list[Kept | None]:
        """What of each answer is worth keeping, in order; None for failures."""
        return [
            None
            if (found := self._answered.get(name)) is None
            else Kept(found.read.written, found.left_out, found.unchecked)
            for name, _ in self.asked
        ]

    def reports(self) -> Iterator[QuestionsReport]:
        """What there is to tell of the questions, equal things together."""
        believed = Counter(Asked.UNCHECKED if one.unchecked else Asked.ANSWERED for one in self._answered.values())
        for asked, questions in believed.items():
            yield QuestionsReport(asked=asked, questions=questions)
        for failed, questions in Counter(self._failed.values()).items():
            problem = "" if failed.asked in _TOLD_ALREADY else failed.reason
            yield QuestionsReport(asked=failed.asked, questions=questions, problem=problem)

    def _answer(self, name: str) -> Answer:
        usage = self._usage.get(name, NO_USAGE)
        found = self._answered.get(name)
        if found is None:
            failed = self._failed[name]
            return JudgeFailure(
                status=failed.status,
                reason=failed.reason,
                junk=failed.asked in _USELESS,
                model=self.model,
                usage=usage,
            )
        return answer_of(
            found.read,
            self.shown,
            left_out=found.left_out,
            unchecked=found.unchecked,
            model=self.model,
            usage=usage,
            trace_id=found.trace_id,
        )


def answer_of(
    read: Read,
    shown: ShownRun,
    *,
    left_out: float,
    unchecked: bool,
    model: str,
    usage: Usage = NO_USAGE,
    trace_id: str | None = None,
) -> JudgeAnswer:
    """What an evaluator is given of an answer about a run that was read."""
    return JudgeAnswer(
        content=read.content,
        evidence=read.evidence,
        made_up_evidence=read.made_up_evidence,
        input_cut=left_out > 0,
        left_out=left_out,
        steering=shown.steering,
        unchecked=unchecked,
        model=model,
        usage=usage,
        trace_id=trace_id,
    )
