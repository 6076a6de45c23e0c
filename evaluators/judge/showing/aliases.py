"""Short names for calls and places of a run: `c1`, `c2` … and `e1`, `e2` …

Ids of providers and spans are long, mean nothing to a model and invite made-up ones.  In: ids and refs in the order in
which they are shown.  Out: aliases, and the way back.  Never invents an id for an alias that it didn't give.
"""

from __future__ import annotations

import re

from evaluators.cases import Run

_DISTINCTIVE_LENGTH = 6


class Aliases:
    """The aliases of one run, given in order of first mention."""

    def __init__(self, run: Run) -> None:
        self._alias_of_call: dict[str, str] = {}
        self._alias_of_ref: dict[str, str] = {}
        self._call_of_alias: dict[str, str] = {}
        self._ref_of_alias: dict[str, str] = {}
        for call in run.calls:
            self.call(call.id)

    def call(self, call_id: str) -> str:
        """The alias of a call."""
        alias = self._alias_of_call.setdefault(call_id, f"c{len(self._alias_of_call) + 1}")
        self._call_of_alias[alias] = call_id
        return alias

    def place(self, ref: str) -> str:
        """The alias of a place where a fact was seen."""
        alias = self._alias_of_ref.setdefault(ref, f"e{len(self._alias_of_ref) + 1}")
        self._ref_of_alias[alias] = ref
        return alias

    @property
    def calls(self) -> tuple[str, ...]:
        """Every alias of a call, in order."""
        return tuple(self._call_of_alias)

    @property
    def places(self) -> tuple[str, ...]:
        """Every alias of a place, in order."""
        return tuple(self._ref_of_alias)

    def call_id(self, alias: str) -> str | None:
        """The call behind an alias; None when there is no such alias."""
        return self._call_of_alias.get(alias)

    def ref(self, alias: str) -> str | None:
        """The ref behind an alias; None when there is no such alias."""
        return self._ref_of_alias.get(alias)

    def speak(self, text: str) -> str:
        """The text of an evaluator with the ids of calls replaced by their aliases.

        Only ids that can't be mistaken for another word are replaced where they stand bare; `call_name` marks any id.
        """
        marked = {f"‹{call_id}›": alias for call_id, alias in self._alias_of_call.items()}
        bare = {
            call_id: alias
            for call_id, alias in self._alias_of_call.items()
            if len(call_id) >= _DISTINCTIVE_LENGTH and any(letter.isdigit() or letter in "_-" for letter in call_id)
        }
        for mark, alias in marked.items():
            text = text.replace(mark, alias)
        if not bare:
            return text
        longest_first = sorted(bare, key=len, reverse=True)
        pattern = r"(?<![\w-])(?:" + "|".join(map(re.escape, longest_first)) + r")(?![\w-])"
        return re.sub(pattern, lambda found: bare[found.group()], text)
