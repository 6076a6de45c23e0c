"""Which reference is for which run: entries of a file, found by what is known of a run.

In: what is known of a run (attributes, session, what the user said).  Out: the first entry of the file of which all
conditions hold.  One look-up costs as much as the run has attributes, however large the file is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evaluators.cases import Reference, Run
from evaluators.reference.file import Entry, input_hash, match_keys, value_text

FILE = "file"


class References:
    """References of a file, ready to be looked up."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = [(match_keys(entry.match), entry.as_reference(FILE)) for entry in entries]
        self._places: dict[tuple[tuple[str, str], str], list[int]] = {}
        for at, (asked, _) in enumerate(self._entries):
            self._places.setdefault(next(iter(asked.items())), []).append(at)
        self._attributes = {key for (kind, key), _ in self._places if kind == "attribute"}

    def find(self, run: Run, attributes: Sequence[Mapping[str, object]] = ()) -> Reference | None:
        """The reference for a run; None when there is none.

        Args:
            run: its session and what the user said count.
            attributes: those of its span and of what is around it, nearest first; of equal keys the first counts.
        """
        if not self._entries:
            return None
        known: dict[tuple[str, str], object] = {}
        if run.session_id is not None:
            known["session", ""] = run.session_id
        if run.user_inputs:
            known["input", ""] = input_hash(run.user_inputs)
        for near in attributes:
            for key, value in near.items():
                known.setdefault(("attribute", key), value_text(value))
        candidates = sorted(
            at for pair in known.items() if isinstance(pair[1], str) for at in self._places.get((pair[0], pair[1]), ())
        )
        for at in candidates:
            asked, reference = self._entries[at]
            if all(known.get(key) == value for key, value in asked.items()):
                return reference
        return None
