"""Verdicts as tables for a terminal: what each evaluator found, and every fault with its reason.

Texts come from spans and from models; they are cleaned before they reach the terminal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from collector.exporters.span_view import clean
from collector.judging.setup import compares
from evaluators.verdict import Status, Verdict
from processors.verdicts.telling import PlacedVerdict

NAME_CHARS = 40
REASON_CHARS = 300
MAX_FAULTS = 50
MEASURED = "measured"
NO_REFERENCE = "there is no reference to compare with; see docs/references.md"
HINTS = {
    Status.MISSING_INPUT: "`spanjudge transcript --summary` tells what these files lack, and how to capture it",
    Status.NEEDS_JUDGE: "rules alone can't decide it; a judge model can, see docs/judge.md",
}
MAX_REASONS = 5
UNANSWERED = frozenset((Status.JUDGE_ERROR, Status.TIMED_OUT, Status.TOO_LARGE, Status.OVER_BUDGET))


class VerdictTable:
    """Collects verdicts as they come and prints them in the end. Keeps the first faults and counts the rest."""

    def __init__(self) -> None:
        self._outcomes: dict[str, Counter[str]] = {}
        self._measured: dict[str, float] = {}
        self._faults: list[PlacedVerdict] = []
        self._more_faults = 0
        self._unanswered: Counter[str] = Counter()
        self._hints: dict[str, None] = {}

    def add(self, verdicts: Iterable[PlacedVerdict]) -> None:
        """Take the verdicts of a trace."""
        for placed in verdicts:
            verdict = placed.verdict
            outcome = _outcome(verdict)
            self._outcomes.setdefault(verdict.evaluator, Counter())[outcome] += 1
            if verdict.status in UNANSWERED:
                self._unanswered[f"{verdict.status}: {verdict.explanation}"] += 1
            if verdict.status in HINTS:
                lacks_reference = verdict.status is Status.MISSING_INPUT and compares(verdict.evaluator)
                hint = NO_REFERENCE if lacks_reference else HINTS[verdict.status]
                self._hints[f"{verdict.status}: {hint}"] = None
            if outcome == MEASURED and verdict.score is not None:
                self._measured[verdict.evaluator] = self._measured.get(verdict.evaluator, 0.0) + verdict.score
            if outcome == "bad":
                if len(self._faults) < MAX_FAULTS:
                    self._faults.append(placed)
                else:
                    self._more_faults += 1

    def print(self, console: Console) -> None:
        """Print both tables; without any verdict one line."""
        if not self._outcomes:
            console.print("nothing in these traces could be judged")
            return
        console.print(self._summary())
        if self._faults:
            console.print()
            console.print(self._list_of_faults())
        if self._more_faults:
            console.print(f"and {self._more_faults} more faults; --verdicts FILE writes them all")
        reasons = [
            f"{clean(reason, REASON_CHARS)} ({count} times)"
            for reason, count in self._unanswered.most_common(MAX_REASONS)
        ]
        if told := [*reasons, *self._hints]:
            console.print()
            console.print(Text("\n".join(told), style="dim"))

    def _summary(self) -> Table:
        table = Table("evaluator", "passed", "failed", "neither", box=None, pad_edge=False)
        for evaluator, outcomes in self._outcomes.items():
            bad = outcomes["bad"]
            others = [outcome for outcome in outcomes if outcome not in (*Status, "good", "bad")]
            reasons = [f"{outcome} {outcomes[outcome]}" for outcome in (*Status, *others) if outcomes[outcome]]
            if outcomes[MEASURED]:
                reasons.append(f"mean {self._measured[evaluator] / outcomes[MEASURED]:.4g}")
            table.add_row(
                evaluator,
                Text(str(outcomes["good"]), style="green" if outcomes["good"] else "dim"),
                Text(str(bad), style="bold red" if bad else "dim"),
                Text(", ".join(reasons), style="dim"),
            )
        return table

    def _list_of_faults(self) -> Table:
        table = Table("trace", "span", "evaluator", "score", "fault", box=None, pad_edge=False)
        for placed in self._faults:
            verdict = placed.verdict
            codes = dict.fromkeys(str(issue.code) for issue in verdict.issues if issue.conclusive)
            fault = Text(", ".join(codes), style="red")
            if verdict.explanation:
                fault.append(("\n" if codes else "") + clean(verdict.explanation, REASON_CHARS), style="default")
            table.add_row(
                placed.trace_id[:8],
                Text(clean(placed.span_name, NAME_CHARS)),
                verdict.evaluator,
                f"{verdict.score:g}",
                fault,
            )
        return table


def _outcome(verdict: Verdict) -> str:
    if verdict.uncalibrated:
        return "uncalibrated"
    if verdict.passed is None:
        # a category is told by its label, a measure without a threshold is neither good nor bad
        return verdict.label or (MEASURED if verdict.status is Status.OK else str(verdict.status))
    return "good" if verdict.passed else "bad"
