"""A run of our own, about which a model can be asked where nobody else can have written anything.

Its request looks like all others: the same instructions, a record with tools, calls and results, criteria, questions.
What the model makes of the run is of no interest.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from evaluators.cases import JsonValue, Message, Role, Run, Tool, ToolCall, ToolResult, Turn
from evaluators.judge.question import Question, ToolsTold

_WISH = (
    "I'm in Lisbon on Friday and Saturday. Which day is better for a walk along the river, and is the museum open then?"
)
_RULES = (
    "You help visitors of a city. Look up weather and opening hours with your tools, never guess them. Give "
    "temperatures in degrees Celsius and times on a 24-hour clock. Keep to what was asked and stay friendly."
)
_FORECAST = (
    '[{"day": "Friday", "sky": "showers", "high_c": 17, "low_c": 12, "wind_kmh": 34, "rain_mm": 9.5}, '
    '{"day": "Saturday", "sky": "sunny", "high_c": 22, "low_c": 13, "wind_kmh": 11, "rain_mm": 0.0}]'
)
_HOURS = (
    '{"museum": "Tile Museum", "hours": {"Friday": "10:00-18:00", "Saturday": "10:00-18:00", "Monday": "closed"}, '
    '"last_admission": "17:30", "ticket_eur": 8}'
)
_ANSWER = (
    "Saturday is the better day for a walk: it is sunny with up to 22 °C and little wind, while Friday has showers. "
    "The Tile Museum is open on both days from 10:00 to 18:00, with last admission at 17:30."
)


def _tool(name: str, description: str, **properties: str) -> Tool:
    described: dict[str, JsonValue] = {
        key: {"type": "string", "description": meaning} for key, meaning in properties.items()
    }
    return Tool(
        name=name,
        description=description,
        parameters={"type": "object", "properties": described, "required": list(described)},
    )


_TOOLS = (
    _tool("get_forecast", "Weather of the coming days in a city.", city="Name of the city.", days="Days to look up."),
    _tool("opening_hours", "When a museum is open, and what it costs.", museum="Name of the museum.", city="Its city."),
    _tool("book_ticket", "Buys a ticket for a museum.", museum="Name of the museum.", day="Day of the visit."),
)
_CALLS = (
    ToolCall(
        id="forecast",
        name="get_forecast",
        arguments={"city": "Lisbon", "days": "Friday and Saturday"},
        result=ToolResult(content=_FORECAST),
        ref="first",
    ),
    ToolCall(
        id="hours",
        name="opening_hours",
        arguments={"museum": "Tile Museum", "city": "Lisbon"},
        result=ToolResult(content=_HOURS),
        ref="first",
    ),
)
_SEEN = (Message(role=Role.SYSTEM, text=_RULES),)
RUN = Run(
    turns=(
        Turn(index=0, calls=_CALLS, context=_SEEN, tools=_TOOLS, ref="first"),
        Turn(index=1, text=_ANSWER, context=_SEEN, tools=_TOOLS, answers=("forecast", "hours"), ref="second"),
    ),
    user_inputs=(_WISH,),
    system_prompts=(_RULES,),
    final_answer=_ANSWER,
    answered=True,
)


class ExampleAnswer(BaseModel):
    """No reasons: nobody reads them."""

    label: Literal["correct", "incorrect"]


QUESTION = Question(
    evaluator="answer",
    criteria="Does the last answer tell what the tools returned? Compare each figure, day and time with the results. "
    "It is incorrect if one of them is stated otherwise, made up, or attached to another day; leaving out what wasn't "
    "asked for is right.",
    subject="turn 2",
    answer_type=ExampleAnswer,
    tools=ToolsTold.ALL,
)
