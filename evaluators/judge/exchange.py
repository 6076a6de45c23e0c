"""One conversation with a judge: what has been asked and answered so far, and what it has cost each question.

In: replies, failures and what requests have cost.  Out: one answer per question, in order.  Never talks to anybody.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from evaluators.judge.answer import Junk, Read, read_reply
from evaluators.judge.prompt import Prompt, ShownRun
from evaluators.judge.question import Answer, JudgeAnswer, JudgeFailure, NamedQuestion
from evaluators.judge.request import Reply, Tally
from evaluators.judge.shares import add, share, total
from evaluators.rules.secrets import redact
from evaluators.verdict import NO_USAGE, Status, Usage


@dataclass(slots=True, kw_only=True)
class Exchange:
    """What has been asked and answered in one call, and what it has cost each question."""

    shown: ShownRun
    asked: Sequence[NamedQuestion]
    model: str
    prompt: Prompt | None = None
    tally: Tally = field(default_factory=lambda: Tally(usages=[]))
    _read: dict[str, Read] = field(default_factory=dict)
    _junk: dict[str, Junk] = field(default_factory=dict)
    _failed: dict[str, tuple[Status, str]] = field(default_factory=dict)
    _usage: dict[str, Usage] = field(default_factory=dict)

    @property
    def open(self) -> list[NamedQuestion]:
        """The questions without a valid answer."""
        return [(name, question) for name, question in self.asked if name not in self._read]

    def settle(self) -> None:
        """Shares what has been spent since the last time among the questions it was spent on."""
        names = [name for name, _ in self.open]
        for name, part in zip(names, share(total(self.tally.usages), len(names)), strict=True):
            self._usage[name] = add(self._usage.get(name, NO_USAGE), part)
        self.tally.usages.clear()

    def take(self, reply: Reply) -> None:
        """Reads a reply for all that is open."""
        self.settle()
        for name, result in read_reply(reply.text, self.open, self.shown.aliases, redact).items():
            if isinstance(result, Read):
                self._read[name] = result
            else:
                self._junk[name] = result

    def faults(self) -> list[str]:
        """What was wrong with the answers to what is open, each fault once."""
        return list(dict.fromkeys(fault for name, _ in self.open for fault in self._junk[name].faults))

    def fail(self, status: Status, reason: str) -> None:
        """Gives up on all that is open."""
        for name, _ in self.open:
            self._failed[name] = (status, reason)

    def stopped(self) -> list[Answer]:
        """What there is to say when the judge is closed."""
        self.fail(Status.JUDGE_ERROR, "the judge is being stopped")
        return self.answers()

    def fail_junk(self) -> None:
        """Gives up on answers that were not valid, twice."""
        for name, _ in self.open:
            faults = "; ".join(self._junk[name].faults)
            self._failed[name] = (Status.JUDGE_ERROR, f"{self.model} gave no valid answer, twice: {faults}")

    def answers(self) -> list[Answer]:
        """What came of each question, in order."""
        return [self._answer(name) for name, _ in self.asked]

    def _answer(self, name: str) -> Answer:
        usage = self._usage.get(name, NO_USAGE)
        read = self._read.get(name)
        if read is None:
            status, reason = self._failed[name]
            return JudgeFailure(status=status, reason=reason, model=self.model, usage=usage)
        return JudgeAnswer(
            content=read.content,
            evidence=read.evidence,
            made_up_evidence=read.made_up_evidence,
            input_cut=self.prompt is not None and self.prompt.cut,
            model=self.model,
            usage=usage,
            trace_id=self.tally.trace_id,
        )
