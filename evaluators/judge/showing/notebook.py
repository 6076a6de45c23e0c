"""Where a record is written: our words, and texts of the run, redacted and looked at once.

In: words and texts in the order of the run.  Out: blocks of pieces, and which of the texts speak to a judge.  Knows
nothing of runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from evaluators.judge.showing.aliases import Aliases
from evaluators.judge.showing.pieces import Block, Quoted
from evaluators.judge.showing.wording import clean
from evaluators.judge.steering import Kind, Steering
from evaluators.rules.steering import speaks_to_a_judge

Redact: TypeAlias = Callable[[str], str]


class Notebook:
    """Blocks that are written to one after another."""

    def __init__(self, aliases: Aliases, redact: Redact | None, place: str | None) -> None:
        self.blocks: list[Block] = [Block()]
        self.steering: list[Steering] = []
        self.place = place
        """The ref of what is being told."""
        self._examined: set[str] = set()
        self._aliases = aliases
        self._redact = redact

    def line(self, words: str) -> None:
        """A new line of our words."""
        is_first = len(self.blocks) == 1 and not self.blocks[0].pieces
        self.blocks[-1].pieces.append(("" if is_first else "\n") + words)

    def text(self, words: str, text: str, label: str, kind: Kind = Kind.TEXT, call: str | None = None) -> None:
        """A text of the run after our words."""
        self.blocks[-1].pieces.append(f"{words} ")
        self.more(text, label, kind, call)

    def more(self, text: str, label: str, kind: Kind, call: str | None = None) -> None:
        """A text of the run that goes on with the one before it."""
        shown = clean(self._redact(text) if self._redact is not None else text)
        self.blocks[-1].pieces.append(Quoted(shown, kind, label, call))
        # Whoever writes system prompts runs the agent, and may well write for one that judges.
        if kind is not Kind.SYSTEM:
            self._examine(shown, kind, label)

    def tool_name(self, name: str, kind: Kind, label: str) -> None:
        """A name that was told outside the fence: its words can be an order, as one would say it."""
        self._examine(re.sub(r"[_./-]+", " ", name), kind, label)

    def at(self, ref: str | None) -> str:
        """How a place is told; nothing for none."""
        return f" [{self._aliases.place(ref)}]" if ref is not None else ""

    def _examine(self, text: str, kind: Kind, label: str) -> None:
        """Note whether a text speaks to a judge; the same text is looked at once."""
        if text not in self._examined:
            self._examined.add(text)
            if speaks_to_a_judge(text):
                self.steering.append(Steering(kind=kind, label=label, ref=self.place))
