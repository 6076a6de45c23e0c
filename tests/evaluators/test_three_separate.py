"""What was chosen, how it was called and what was made of the result: three questions, and no fault is in two of them.

The judge here knows tools alone: it blames the choice of the wrong one and, asked anything else, finds nothing. What is
wrong with arguments and answers, rules find.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest

from evaluators.cases import (
    CallsCase,
    DecisionCase,
    JsonValue,
    Message,
    ResponseCase,
    Role,
    Run,
    Tool,
    ToolCall,
    ToolResult,
    Turn,
)
from evaluators.evaluation import Item, evaluate
from evaluators.judge.question import Answer, JudgeAnswer, Question
from evaluators.tool_invocation import ToolInvocation
from evaluators.tool_response_handling import ToolResponseHandling
from evaluators.tool_selection import ToolSelection

CITY: dict[str, JsonValue] = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS = (
    Tool(name="get_weather", description="The weather of now.", parameters=CITY),
    Tool(name="get_forecast", description="The weather of tomorrow.", parameters=CITY),
)
USER = Message(role=Role.USER, text="How warm is it in Lima?")


class _KnowsTools:
    model = "m"

    def __init__(self, chosen: str) -> None:
        self._right = chosen == "get_weather"

    async def ask(self, run: Run, questions: Sequence[Question]) -> list[Answer]:
        return [self._answer(question) for question in questions]

    def _answer(self, question: Question) -> JudgeAnswer:
        wrong = question.evaluator == "tool_selection" and not self._right
        said = {"label": "incorrect" if wrong else "correct", "issues": ["wrong_tool"] if wrong else []}
        answer: dict[str, Any] = {
            "calls": [{"call_id": one, "explanation": "So.", **said} for one in question.call_ids]
        }
        return JudgeAnswer(content=question.answer_type.model_validate(answer), model=self.model)


@pytest.mark.parametrize(("chosen", "called", "handled"), list(product((True, False), repeat=3)))
async def test_each_of_the_eight_combinations_is_told_as_it_is(chosen: bool, called: bool, handled: bool) -> None:
    call = ToolCall(
        id="c1",
        name="get_weather" if chosen else "get_forecast",
        arguments={"city": "Lima"} if called else {},
        result=ToolResult(content='{"temperature": 18, "unit": "celsius"}'),
    )
    first = Turn(index=0, calls=(call,), context=(USER,), tools=TOOLS, ref="chose")
    text = "It is 18 °C in Lima." if handled else "It is 31 °C in Lima."
    last = Turn(index=1, text=text, context=(USER,), tools=TOOLS, answers=("c1",), ref="answered")
    run = Run(turns=(first, last), user_inputs=("How warm is it in Lima?",), final_answer=text, answered=True)
    judge = _KnowsTools(call.name)
    verdicts = await evaluate(
        [
            Item(ToolSelection(), DecisionCase(run=run, turn=first), judge),
            Item(ToolInvocation(), CallsCase(run=run, calls=(call,), turn=first), judge),
            Item(ToolResponseHandling(), ResponseCase(run=run, calls=(call,), turn=last), judge),
        ]
    )
    assert [one.passed for one in verdicts] == [chosen, called, handled]
    assert [one.label for one in verdicts] == [
        "correct" if right else "incorrect" for right in (chosen, called, handled)
    ]
