"""Which tools were offered at which turns, told once.

In: the turns of a run.  Out: each definition of a tool once, and sentences that say where it was on offer.  "Not
recorded" and "none" are told apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from evaluators.cases import Tool, Turn
from evaluators.judge.question import turn_name
from evaluators.judge.showing.wording import compact_json, plain_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Offers:
    """Definitions under the names by which the sentences speak of them.

    `recorded`: something is known of any turn.  `everywhere`: all were on offer at every turn, so that there are no
    sentences.
    """

    definitions: tuple[tuple[str, Tool], ...]
    sentences: tuple[str, ...]
    recorded: bool
    everywhere: bool


def offers_of(turns: Sequence[Turn]) -> Offers:
    """What was offered in these turns."""
    named = _Definitions()
    places: dict[tuple[str, ...] | None, list[str]] = {}
    for turn in turns:
        offered = None if turn.tools is None else tuple(named.name(tool) for tool in turn.tools)
        places.setdefault(offered, []).append(turn_name(turn.index))
    everywhere = bool(named.found) and list(places) == [tuple(name for name, _ in named.found)]
    sentences = []
    for offered, where in places.items():
        if offered is None:
            what = "not recorded"
        elif set(offered) == {name for name, _ in named.found}:
            what = "all of these" if offered else "none"
        else:
            what = ", ".join(offered) or "none"
        sentences.append(f"offered at {'every turn' if len(places) == 1 else ', '.join(where)}: {what}")
    return Offers(
        definitions=tuple(named.found),
        sentences=() if everywhere else tuple(sentences),
        recorded=bool(set(places) - {None}),
        everywhere=everywhere,
    )


class _Definitions:
    """Gives each definition one name; of several with the same name the later ones are numbered."""

    def __init__(self) -> None:
        self.found: list[tuple[str, Tool]] = []
        self._names: dict[str, str] = {}
        self._known: dict[int, str] = {}
        self._same_name: Counter[str] = Counter()

    def name(self, tool: Tool) -> str:
        """The name of this definition, which is noted when it is new."""
        # Turns mostly share the very same objects: they need not be written out to be recognised.
        known = self._known.get(id(tool))
        if known is None:
            known = self._known[id(tool)] = self._name_of_form(tool)
        return known

    def _name_of_form(self, tool: Tool) -> str:
        parameters = None if tool.parameters is None else compact_json(tool.parameters)
        form = repr((tool.name, tool.description, parameters))
        if form not in self._names:
            self._same_name[tool.name] += 1
            number = self._same_name[tool.name]
            self._names[form] = plain_name(tool.name) + (f" (definition {number})" if number > 1 else "")
            self.found.append((self._names[form], tool))
        return self._names[form]
