"""What the rules cost: CPU time per judged step, and per judged run.

    python -m bench.rule_checks

Two runs are judged without a judge, over and over: six model turns with four tool calls, and a conversation of sixty
turns whose every call returns two kilobytes, so that each step has all the results before it as context.  Every time
the run is a new one, of which nothing has been read yet.  Printed is the CPU time of `screen` alone, per case and
evaluator; a step is judged by three evaluators.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable

from evaluators.cases import (
    CallsCase,
    DecisionCase,
    Message,
    ResponseCase,
    Role,
    Run,
    RunCase,
    Tool,
    ToolCall,
    ToolResult,
    Turn,
)
from evaluators.evaluation import Item
from evaluators.registry import EVALUATORS
from evaluators.rules.reading import reading_of
from evaluators.verdict import Level
from tests.evaluators.judge_cases import items_of, six_steps

REPETITIONS = 30
TURNS = 60
PROMISED_MS_PER_STEP = 1.0

_ORDERS = Tool(
    name="find_orders",
    description="Finds the orders of a customer.",
    parameters={
        "type": "object",
        "properties": {
            "customer_id": {"type": "string", "description": "ids have the form c_<digits>"},
            "since": {"type": "string", "description": "YYYY-MM-DD"},
            "state": {"type": "string", "enum": ["open", "closed"]},
            "limit": {"type": "integer"},
        },
        "required": ["customer_id"],
    },
)


def long_run() -> Run:
    """A conversation about one customer after another."""
    messages: list[Message] = [Message(role=Role.SYSTEM, text="You look orders up. " * 50)]
    turns: list[Turn] = []
    for number in range(TURNS // 2):
        asked = f"Which orders of customer c_{1000 + number} are open since 2026-03-{number % 28 + 1:02}?"
        messages.append(Message(role=Role.USER, text=asked))
        orders = [{"id": f"o_{number}_{place}", "total": 10.5 * place + number, "state": "open"} for place in range(40)]
        call = ToolCall(
            id=f"call_{number}",
            name=_ORDERS.name,
            arguments={
                "customer_id": f"c_{1000 + number}",
                "since": f"2026-03-{number % 28 + 1:02}",
                "state": "open",
                "limit": 40,
            },
            result=ToolResult(content=json.dumps(orders)),
        )
        calling = Turn(index=len(turns), calls=(call,), context=tuple(messages), tools=(_ORDERS,), user_turn=number)
        messages.append(Message(role=Role.ASSISTANT, calls=(call,)))
        messages.append(Message(role=Role.TOOL, text=json.dumps(orders), call_id=call.id))
        said = f"There are 40 open orders, the largest of {10.5 * 39 + number:.2f} USD."
        answering = Turn(
            index=len(turns) + 1,
            text=said,
            context=tuple(messages),
            tools=(_ORDERS,),
            answers=(call.id,),
            user_turn=number,
        )
        messages.append(Message(role=Role.ASSISTANT, text=said))
        turns += [calling, answering]
    users = tuple(message.text for message in messages if message.role is Role.USER and message.text)
    return Run(turns=tuple(turns), user_inputs=users, final_answer=turns[-1].text, answered=True)


def items(run: Run) -> list[Item]:
    """Every case of the long run, for every evaluator."""
    made = {name: entry.create() for name, entry in EVALUATORS.items()}
    found: list[Item] = []
    for turn in run.turns:
        if turn.calls:
            found.append(Item(made["tool_selection"], DecisionCase(run=run, turn=turn)))
            found.append(Item(made["tool_invocation"], CallsCase(run=run, calls=turn.calls, turn=turn)))
        else:
            answered = tuple(call for call in run.calls if call.id in turn.answers)
            found.append(Item(made["tool_response_handling"], ResponseCase(run=run, calls=answered, turn=turn)))
    whole = RunCase(run=run)
    return [*found, Item(made["task_completion"], whole), Item(made["step_efficiency"], whole)]


def measure(name: str, cases: Callable[[], list[Item]]) -> float:
    """Prints the milliseconds per case of each evaluator; returns those of a step, judged by all of its evaluators."""
    spent_ms: dict[str, list[float]] = defaultdict(list)
    per_step_ms = 0.0
    for _ in range(REPETITIONS):
        # so long that nothing else is kept beside it
        reading_of(" " * 2_000_000)
        for item in cases():
            started = time.thread_time()
            item.evaluator.screen(item.case)
            spent_ms[item.evaluator.name].append((time.thread_time() - started) * 1000)
    print(name)
    for evaluator, times in spent_ms.items():
        mean = statistics.fmean(times)
        level = EVALUATORS[evaluator].evaluator_type.level
        if level is Level.SPAN:
            per_step_ms += mean
        print(f"  {evaluator:24}{mean:8.3f} ms per {'step' if level is Level.SPAN else 'run'}")
    print(f"  {'a step, all three':24}{per_step_ms:8.3f} ms (promised: below {PROMISED_MS_PER_STEP})")
    return per_step_ms


def main() -> int:
    """Measures both runs; 1 when a step costs more than promised."""
    short = measure("six turns", lambda: items_of(six_steps(), None))
    long = measure(f"{TURNS} turns", lambda: items(long_run()))
    slowest = max(short, long)
    return int(slowest > PROMISED_MS_PER_STEP)


if __name__ == "__main__":
    sys.exit(main())
