"""The request to a judge, in words: instructions, then the run, then criteria, then questions.

In: a run and named questions about it.  Out: two messages, and the aliases needed to read the answer.  The run comes
before what is asked of it, so that all requests about one run begin alike; an evaluator's criteria stand once.  Texts
of the run stand inside a fence; so do the subjects and findings of questions, which may quote it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from evaluators.cases import Run
from evaluators.judge.aliases import Aliases
from evaluators.judge.fence import Fence, fence_for
from evaluators.judge.pieces import Quoted, show
from evaluators.judge.question import NamedQuestion
from evaluators.judge.record import Redact, record
from evaluators.judge.wording import clean

INSTRUCTIONS = files("evaluators.judge").joinpath("instructions.md").read_text("utf-8").strip()
CORRECTION_CHARS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRun:
    """A run made ready to be shown, whatever is asked about it."""

    pieces: tuple[str | Quoted, ...]
    aliases: Aliases
    fence: Fence
    redact: Redact | None

    def quote(self, text: str) -> str:
        """What a question says, fenced like the run itself, with aliases for ids of calls."""
        spoken = self.aliases.speak(text)
        return self.fence.around(clean(self.redact(spoken) if self.redact is not None else spoken))


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What is sent: a system and a user message.

    `shared_chars` are those at its beginning that depend on the run alone.  `cut`: long texts were cut to fit.
    """

    system: str
    user: str
    shared_chars: int
    cut: bool

    @property
    def chars(self) -> int:
        """Length of both messages."""
        return len(self.system) + len(self.user)


def prepare(run: Run, redact: Redact | None = None) -> ShownRun:
    """The run as pieces, with the aliases and the fence that all requests about it share."""
    aliases = Aliases(run)
    pieces = record(run, aliases, redact)
    fence = fence_for(piece.text for piece in pieces if isinstance(piece, Quoted))
    return ShownRun(pieces=tuple(pieces), aliases=aliases, fence=fence, redact=redact)


def build_prompt(shown: ShownRun, asked: Sequence[NamedQuestion], max_chars: int) -> Prompt | None:
    """The messages that ask the questions; None when they can't be kept within `max_chars`."""
    fence = shown.fence
    head = f"RECORD OF THE RUN. Texts of the run stand between {fence.opening} and {fence.closing}.\n"
    tail = f"\n\n{_criteria(asked)}\n\n{_questions(asked, shown)}"
    room = max_chars - len(INSTRUCTIONS) - len(head) - len(tail)
    showing = show(shown.pieces, fence, room)
    if showing is None:
        return None
    user = head + showing.text + tail
    shared = len(INSTRUCTIONS) + len(head) + len(showing.text)
    return Prompt(system=INSTRUCTIONS, user=user, shared_chars=shared, cut=showing.cut)


def correction(faults: Sequence[str], names: Sequence[str]) -> str:
    """What is said after the questions to a judge whose first answer was no valid one; at most `CORRECTION_CHARS`."""
    ending = f"\nAnswer {', '.join(names)} anew, as one JSON object of exactly the form that is asked for."
    listed = "\n\nAn earlier answer to this was not valid:" + "".join(f"\n- {fault}" for fault in faults)
    return listed[: CORRECTION_CHARS - len(ending)] + ending


def _criteria(asked: Sequence[NamedQuestion]) -> str:
    once = dict.fromkeys((question.evaluator, question.criteria.strip()) for _, question in asked)
    return "CRITERIA\n" + "\n\n".join(f"## {evaluator}\n{criteria}" for evaluator, criteria in once)


def _questions(asked: Sequence[NamedQuestion], shown: ShownRun) -> str:
    lines = ["QUESTIONS"]
    for name, question in asked:
        calls = " ".join(map(shown.aliases.call, question.call_ids))
        about = f" on {calls}" if calls else ""
        lines.append(f"{name} {question.evaluator}{about}: {shown.quote(question.subject)}")
        lines += [f"  suspicion: {shown.quote(finding)}" for finding in question.findings]
    return "\n".join(lines)
