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
from threading import Lock

from evaluators.cases import Role, Run, Tool, ToolCall, Turn
from evaluators.rules.errors import error_of
from evaluators.rules.evidence import Evidence, Told
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

    @cached_property
    def tools(self) -> tuple[Tool, ...]:
        """The tools that were offered anywhere in the run, by name."""
        told = [turn.tools for turn in self.run.turns] + [call.offered for call in self.run.loose_calls]
        return tuple({tool.name: tool for tools in told for tool in tools or ()}.values())

    @cached_property
    def earlier(self) -> Mapping[str, Sequence[ToolCall]]:
        """Calls of earlier runs that are only known from the conversation's history, by the name of their tool."""
        calls: dict[str, list[ToolCall]] = defaultdict(list)
        for call in self.run.loose_calls:
            if call.earlier:
                calls[call.name].append(call)
        return calls

    def opens(self, turn: Turn) -> bool:
        """Whether no earlier turn of its agent answers the same message of the user; failed requests don't answer."""
        return self._first_answers.get((turn.agent, turn.user_turn), turn.index) >= turn.index

    @cached_property
    def _first_answers(self) -> Mapping[tuple[str | None, int], int]:
        first: dict[tuple[str | None, int], int] = {}
        for turn in self.run.turns:
            if turn.error is None:
                first.setdefault((turn.agent, turn.user_turn), turn.index)
        return first

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
            told, counts = self._told
            count = counts[len(self.run.turns) if turn is None else min(turn.index, len(self.run.turns))]
            self._latest = (turn, Evidence(self._before(turn), told, count))
        return self._latest[1]

    def saw_all(self, turn: Turn | None) -> bool:
        """Whether all that was said and returned up to the turn is known: only then can a value be missed in it."""
        if turn is None or turn.context is None or self._first_gap < turn.index:
            return False
        return not any(
            message.truncated or (message.text is None and message.role in (Role.USER, Role.SYSTEM))
            for message in turn.context
        )

    @property
    def has_all_results(self) -> bool:
        """Whether the trace is whole and so is all that its calls brought back."""
        return self._first_gap == len(self.run.turns)

    @cached_property
    def _first_gap(self) -> int:
        """Index of the first turn of whose calls a result was cut or not captured; -1 if what came before it was."""
        run = self.run
        if run.partial or not all(_came_back(call) for call in run.loose_calls if call.result or not call.earlier):
            return -1
        gaps = (turn.index for turn in run.turns if not all(map(_came_back, turn.calls)))
        return next(gaps, len(run.turns))

    def _before(self, turn: Turn | None) -> list[str]:
        texts = [*self.run.system_prompts, *(self.run.user_inputs or ())]
        if turn is not None:
            texts += [message.text for message in turn.context or () if message.text]
            texts += [turn.text] if turn.text else []
        return texts

    @cached_property
    def _told(self) -> tuple[Told, list[int]]:
        """What turns said and calls brought back, and how much of it was there before each turn and after the last."""
        told, counts = Told(), []
        for call in self.run.loose_calls:
            if call.result is not None and call.result.content:
                told.add(call.result.content)
        for turn in self.run.turns:
            counts.append(len(told.texts))
            for call in turn.calls:
                if call.result is not None and (said := call.result.content or call.result.error):
                    told.add(said)
            if turn.text:
                told.add(turn.text)
        return told, [*counts, len(told.texts)]


def _came_back(call: ToolCall) -> bool:
    """Whether all is known of what the call brought back, if it could bring anything back."""
    if call.is_handoff or call.awaiting_approval:
        return True
    result = call.result
    return result is not None and not result.truncated and (result.content is not None or result.error is not None)


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
