"""Of the tools on offer no more is told than a question needs, and what isn't told is said."""

from __future__ import annotations

from evaluators.cases import Run, Tool, ToolCall, Turn
from evaluators.judge.question import ToolsTold
from evaluators.judge.showing.aliases import Aliases
from evaluators.judge.showing.fence import Fence
from evaluators.judge.showing.fitting import show
from evaluators.judge.showing.mattering import Interest
from evaluators.judge.showing.record import record
from evaluators.judge.showing.tools_told import with_tools


def _tool(name: str) -> Tool:
    schema = {"type": "object", "properties": {f"{name}_field": {"type": "string"}}}
    return Tool(name=name, description=f"Does {name}.", parameters=schema)  # type: ignore[arg-type]


def _lines(
    tools: ToolsTold, called: str = "weather", offered: tuple[str, ...] = ("hotel", "weather", "car")
) -> list[str]:
    call = ToolCall(id="1", name=called, arguments={})
    run = Run(turns=(Turn(index=0, calls=(call,), tools=tuple(map(_tool, offered))),))
    shown = show(with_tools(record(run, Aliases(run)).blocks, tools), Fence("m"), 10_000, Interest())
    assert shown is not None
    lines = shown.text.splitlines()
    return lines[: lines.index("turn 1")]


def test_a_choice_is_judged_by_all_of_them() -> None:
    assert _lines(ToolsTold.ALL) == [
        "tools offered at every turn",
        "- hotel [m]Does hotel. {hotel_field?: string}[/m]",
        "- weather [m]Does weather. {weather_field?: string}[/m]",
        "- car [m]Does car. {car_field?: string}[/m]",
    ]


def test_arguments_are_judged_by_the_tools_that_were_called() -> None:
    assert _lines(ToolsTold.CALLED) == [
        "tools offered at every turn",
        "- weather [m]Does weather. {weather_field?: string}[/m]",
        "- not shown: 2 never called",
    ]


def test_results_are_judged_by_what_their_tools_are_for() -> None:
    assert _lines(ToolsTold.PURPOSES) == [
        "tools offered at every turn",
        "- weather [m]Does weather.[/m]",
        "- not shown: parameters, 2 never called",
    ]


def test_a_tool_that_is_called_by_another_spelling_of_its_name_is_called() -> None:
    assert _lines(ToolsTold.CALLED, called="functions.weather")[1].startswith("- weather ")


def test_where_all_were_called_nothing_is_said() -> None:
    assert _lines(ToolsTold.CALLED, offered=("weather",)) == _lines(ToolsTold.ALL, offered=("weather",))
