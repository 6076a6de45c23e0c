"""What the cases of one run all need of it, worked out once for the run instead of once per case.

In goes a run, out comes its index: its calls, which of them failed, its steps, and what was said before each turn.  The
indexes of the last few runs are remembered, by identity, until they are forgotten: cases of one run are judged one
after another.  Whatever is asked about one turn costs no more for being asked in a long run.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from threading import Lock

from evaluators.cases import Run, Turn
from evaluators.rules.errors import error_of
from evaluators.rules.evidence import Evidence
from evaluators.rules.repetition import Step, steps_of

_MOST_RUNS = 4


@dataclass(frozen=True, slots=True)
class Steps:
    """A run's steps in order, earlier runs' first, and the same by turn and by call."""

    every: Sequence[Step]
    of_turn: Mapping[int, Sequence[Step]]
    alike: Mapping[tuple[str, str], Sequence[Step]]


class RunIndex:
    """The index of one run; nothing in it may be changed."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._steps: dict[tuple[tuple[str, ...], tuple[str, ...]], Steps] = {}
        self._latest: tuple[Turn | None, Evidence] | None = None

    @cached_property
    def failed(self) -> Mapping[str, frozenset[str]]:
        """Ids of the calls that failed, by the name of their tool."""
        ids: dict[str, set[str]] = defaultdict(set)
        for call in self.run.calls:
            if error_of(call.result) is not None:
                ids[call.name].add(call.id)
        return {name: frozenset(found) for name, found in ids.items()}

    @cached_property
    def results(self) -> frozenset[str]:
        """What calls brought back, as texts without blanks around them."""
        return frozenset((call.result.content or "").strip() for call in self.run.calls if call.result is not None)

    def steps(self, read_tools: tuple[str, ...], write_tools: tuple[str, ...]) -> Steps:
        """The steps of the run, for an evaluator that was told these of its tools."""
        found = self._steps.get((read_tools, write_tools))
        if found is None:
            every = steps_of(self.run, read_tools=read_tools, write_tools=write_tools, with_earlier=True)
            of_turn: dict[int, list[Step]] = defaultdict(list)
            alike: dict[tuple[str, str], list[Step]] = defaultdict(list)
            for step in every:
                if step.turn is not None:
                    of_turn[step.turn.index].append(step)
                if step.arguments is not None:
                    alike[step.call.name, step.arguments].append(step)
            found = self._steps[read_tools, write_tools] = Steps(every, of_turn, alike)
        return found

    def evidence(self, turn: Turn | None) -> Evidence:
        """What was said and returned up to the turn; for a turn that wasn't captured, in the whole run."""
        if self._latest is None or self._latest[0] is not turn:
            self._latest = (turn, Evidence(dict.fromkeys(self._seen(turn))))
        return self._latest[1]

    def _seen(self, turn: Turn | None) -> list[str]:
        run = self.run
        texts = [*run.system_prompts, *(run.user_inputs or ())]
        if turn is not None and turn.context is not None:
            texts += [message.text for message in turn.context if message.text]
        said, counts = self._said
        texts += said if turn is None else said[: counts[min(turn.index, len(run.turns))]]
        texts += self._said_loosely
        if turn is not None and turn.text:
            texts.append(turn.text)
        return texts

    @cached_property
    def _said(self) -> tuple[list[str], list[int]]:
        """The texts of turns and their calls' results in order, and how many of them stand before each turn."""
        parts = [_said_in(turn) for turn in self.run.turns]
        return [text for part in parts for text in part], [0, *accumulate(map(len, parts))]

    @cached_property
    def _said_loosely(self) -> list[str]:
        results = [call.result for call in self.run.loose_calls if call.result is not None]
        return [result.content for result in results if result.content]


def _said_in(turn: Turn) -> list[str]:
    results = [call.result for call in turn.calls if call.result is not None]
    texts = [result.content or result.error or "" for result in results]
    return [text for text in (*texts, turn.text) if text]


class _Indexes:
    """Those of the last few runs."""

    def __init__(self) -> None:
        self._kept: OrderedDict[int, RunIndex] = OrderedDict()
        self._lock = Lock()

    def get(self, run: Run) -> RunIndex:
        with self._lock:
            found = self._kept.get(id(run))
            if found is None or found.run is not run:
                found = self._kept[id(run)] = RunIndex(run)
                if len(self._kept) > _MOST_RUNS:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(id(run))
            return found

    def forget(self, run: Run) -> None:
        with self._lock:
            self._kept.pop(id(run), None)


_indexes = _Indexes()


def index_of(run: Run) -> RunIndex:
    """The index of a run, the one that is remembered if there is one."""
    return _indexes.get(run)


def forget(run: Run) -> None:
    """Gives up what is remembered of a run that has been judged."""
    _indexes.forget(run)
