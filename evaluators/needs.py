"""What has to be judged of a run before an evaluator can derive its verdict from others': the run itself and its steps.

In goes an item whose evaluator needs others' verdicts, out come the items that these are given on.  It is for runs that
are complete and alone; traces have places, and their verdicts are put together where those are known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from evaluators.cases import CallsCase, Case, CaseKind, DecisionCase, ResponseCase, Run, RunCase, ToolCall
from evaluators.evaluation import Item
from evaluators.evaluator import Evaluator
from evaluators.judge.question import Judge
from evaluators.rules.run_index import index_of

_MOST_LATER = 256


def needed_items(
    item: Item, evaluators: Mapping[str, Evaluator[Any]], judge_of: Callable[[Evaluator[Any]], Judge | None]
) -> list[Item]:
    """The items whose verdicts the item's evaluator needs, as far as there are evaluators for them.

    Args:
        item: a run and the evaluator that is to judge it.
        evaluators: those that there are, by name.
        judge_of: the judge of each.
    """
    if not isinstance(item.case, RunCase):
        return []
    found = [evaluators[name] for name in item.evaluator.needs if name in evaluators]
    return [Item(one, case, judge_of(one)) for one in found for case in cases_of(item.case, one.judges)]


def cases_of(case: RunCase, kind: CaseKind) -> Iterator[Case]:
    """The cases of one kind that a run holds: itself, or its turns and what they saw and asked for."""
    run = case.run
    match kind:
        case CaseKind.RUN:
            yield case
        case CaseKind.DECISION:
            for turn in run.turns:
                if turn.calls or (turn.tools and turn.error is None and index_of(run).opens(turn)):
                    yield DecisionCase(run=run, turn=turn)
        case CaseKind.CALLS:
            yield from (CallsCase(run=run, calls=turn.calls, turn=turn) for turn in run.turns if turn.calls)
            yield from (CallsCase(run=run, calls=(call,)) for call in run.loose_calls if not call.earlier)
        case CaseKind.RESPONSE:
            yield from _responses(run)
        case CaseKind.SESSION:
            return


def _responses(run: Run) -> Iterator[ResponseCase]:
    asked: dict[str, ToolCall] = {call.id: call for call in run.loose_calls}
    for turn in run.turns:
        answered = tuple(asked[one] for one in turn.answers if one in asked and asked[one].result is not None)
        if answered:
            after = run.turns[turn.index + 1 : turn.index + 1 + _MOST_LATER]
            later = tuple(one for one in after if one.user_turn == turn.user_turn)
            yield ResponseCase(run=run, calls=answered, turn=turn, later=later)
        asked.update((call.id, call) for call in turn.calls)
