"""A run of six turns with four tool calls, one of which fails and is repeated, and toy questions about it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from evaluators.cases import (
    CallsCase,
    DecisionCase,
    JsonValue,
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
from evaluators.judge.question import Judge, Question, call_name, turn_name
from evaluators.registry import EVALUATORS

PLAN = "I look the flights up first, then the hotel, and sum up at the end."
ANSWER = "The cheapest flight to Rome is AZ610 at 189 EUR, and Hotel Aurora costs 120 EUR a night."

_FLIGHTS = Tool(
    name="search_flights",
    description="Finds flights between two cities on a date (YYYY-MM-DD).",
    parameters={
        "type": "object",
        "properties": {
            "origin": {"type": "string"},
            "destination": {"type": "string"},
            "date": {"type": "string", "format": "date"},
        },
        "required": ["origin", "destination", "date"],
    },
)
_HOTELS = Tool(
    name="search_hotels",
    description="Finds hotels in a city.",
    parameters={"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)
TOOLS = (_FLIGHTS, _HOTELS)


class PerCall(BaseModel):
    call_id: str
    explanation: str
    label: Literal["correct", "incorrect"]


class CallsAnswer(BaseModel):
    calls: list[PerCall]


class ChoiceAnswer(BaseModel):
    explanation: str = Field(description="Why, in a sentence.")
    label: Literal["correct", "incorrect"]


class Goal(BaseModel):
    goal: str
    state: Literal["done", "partly", "not", "unverified"]
    evidence: list[str]


class GoalsAnswer(BaseModel):
    goals: list[Goal]
    sureness: int = Field(ge=0, le=10)


def span(number: int) -> str:
    return f"{number:016x}"


def call(number: int, name: str, arguments: dict[str, JsonValue], result: ToolResult | None = None) -> ToolCall:
    return ToolCall(
        id=f"call_{number:024d}",
        name=name,
        arguments=arguments,
        result=result,
        ref=span(100 + number),
    )


CALLS = (
    call(
        1,
        "search_flights",
        {"origin": "Berlin", "destination": "Rome", "date": "12 May"},
        ToolResult(error="invalid date: use YYYY-MM-DD", ref=span(101)),
    ),
    call(
        2,
        "search_flights",
        {"origin": "Berlin", "destination": "Rome", "date": "2026-05-12"},
        ToolResult(content='[{"id":"AZ610","price_eur":189},{"id":"LH232","price_eur":240}]', ref=span(102)),
    ),
    call(3, "search_hotels", {"city": "Rome"}, ToolResult(content='[{"name":"Aurora","eur":120}]', ref=span(103))),
    call(4, "search_hotels", {"city": "Roma"}, ToolResult(content="[]", ref=span(104))),
)
TASK = "Find me the cheapest flight from Berlin to Rome on 12 May 2026, and a hotel."
SYSTEM = "You are a travel assistant. Answer with what the tools say."


def six_steps() -> Run:
    """The run, with the history repeated on every turn as instrumentations record it."""
    texts = (PLAN, "", "", "", "Nothing more under that name.", ANSWER)
    calls = ((), (CALLS[0],), (CALLS[1],), (CALLS[2],), (CALLS[3],), ())
    history: list[Message] = [Message(role=Role.SYSTEM, text=SYSTEM), Message(role=Role.USER, text=TASK)]
    turns: list[Turn] = []
    new: tuple[str, ...] = ()
    for index, (text, made) in enumerate(zip(texts, calls, strict=True)):
        turns.append(
            Turn(
                index=index,
                text=text,
                calls=made,
                context=tuple(history),
                tools=TOOLS,
                answers=new,
                agent="travel",
                ref=span(index + 1),
            )
        )
        history.append(Message(role=Role.ASSISTANT, text=text, calls=made))
        for one in made:
            assert one.result is not None
            said = one.result.content or one.result.error
            history.append(Message(role=Role.TOOL, text=said, call_id=one.id))
        new = tuple(one.id for one in made)
    return Run(
        turns=tuple(turns),
        user_inputs=(TASK,),
        system_prompts=(SYSTEM,),
        final_answer=ANSWER,
        answered=True,
        ref=span(1),
    )


def choice(index: int, evaluator: str = "tool_selection") -> Question:
    return Question(
        evaluator=evaluator,
        criteria="Were the right tools chosen?",
        subject=f"the choice made at {turn_name(index)}",
        answer_type=ChoiceAnswer,
    )


def invocation(*calls: ToolCall) -> Question:
    return Question(
        evaluator="tool_invocation",
        criteria="Are the arguments right?",
        subject="the arguments of " + ", ".join(call_name(one.id) for one in calls),
        answer_type=CallsAnswer,
        findings=tuple(f"the date of {call_name(one.id)} is not in the form YYYY-MM-DD" for one in calls[:1]),
        call_ids=tuple(one.id for one in calls),
    )


def goals() -> Question:
    return Question(
        evaluator="task_completion",
        criteria="Which sub-goals were reached?",
        subject="the run as a whole",
        answer_type=GoalsAnswer,
    )


FIVE = ("tool_selection", "tool_invocation", "tool_response_handling", "task_completion", "step_efficiency")


def items_of(run: Run, judge: Judge | None) -> list[Item]:
    """Every case of the run for the five evaluators of `FIVE`, with the judge for what rules leave open."""
    selection, invocation, handling, completion, efficiency = (EVALUATORS[name].create() for name in FIVE)
    items = [Item(selection, DecisionCase(run=run, turn=turn), judge) for turn in run.turns]
    items += [
        Item(invocation, CallsCase(run=run, calls=(call,), turn=turn), judge)
        for turn in run.turns
        for call in turn.calls
    ]
    items += [
        Item(
            handling,
            ResponseCase(
                run=run,
                calls=tuple(call for call in run.calls if call.id in turn.answers),
                turn=turn,
                later=run.turns[turn.index + 1 :],
            ),
            judge,
        )
        for turn in run.turns
        if turn.answers
    ]
    return [*items, Item(completion, RunCase(run=run), judge), Item(efficiency, RunCase(run=run), judge)]
