"""Which offered tool a call means, and which names are no tools of the agent's own."""

import pytest

from evaluators.cases import Tool, ToolCall
from evaluators.rules.tool_names import find_tool, is_plumbing, is_providers_own, may_be_unlisted, says_no_such_tool


@pytest.mark.parametrize(
    ("called", "offered", "known"),
    [
        ("get_weather", "get_weather", True),
        ("functions.get_weather", "get_weather", True),
        ("get_weather", "weather__get_weather", True),
        ("server.get_weather", "server__get_weather", True),
        ("weather.get", "weather_get", True),
        ("get-weather", "get_weather", True),
        ("GetWeather", "getweather", True),
        ("getWeather", "get_weather", True),
        ("get_weather", "GetWeather", True),
        ("mcp/server/get_weather", "get_weather", True),
        ("查天气", "查天气", True),
        ("get_train_times", "get_weather", False),
        ("get_weather_forecast", "get_weather", False),
        ("weather", "get_weather", False),
        ("查火车", "查天气", False),
    ],
)
def test_spellings_of_one_name_are_one_tool(called: str, offered: str, known: bool) -> None:
    assert (find_tool(called, [Tool(name="other"), Tool(name=offered)]) is not None) is known


def test_the_exact_name_goes_before_another_spelling() -> None:
    offered = [Tool(name="a.search"), Tool(name="search")]
    assert find_tool("search", offered) is offered[1]


@pytest.mark.parametrize(
    ("name", "plumbing"),
    [
        ("transfer_to_billing", True),
        ("transfer_to_human_agents", True),
        ("handoff_to_writer", True),
        ("handoff", True),
        ("final_answer", True),
        ("final_result", True),
        ("finish", True),
        ("transfer_money", False),
        ("finish_order", False),
        ("get_final_answers_report", False),
    ],
)
def test_hand_offs_and_output_tools_are_plumbing(name: str, plumbing: bool) -> None:
    assert is_plumbing(ToolCall(id="1", name=name)) is plumbing


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("web_search", True),
        ("web_search_preview", True),
        ("file_search", True),
        ("code_interpreter", True),
        ("computer_use_preview", True),
        ("search_web_pages", False),
        ("computer_store", False),
    ],
)
def test_tools_that_the_provider_runs(name: str, own: bool) -> None:
    assert is_providers_own(ToolCall(id="1", name=name)) is own
    assert is_providers_own(ToolCall(id="1", name="anything", provider_executed=True))


@pytest.mark.parametrize(
    ("called", "may_be"),
    [
        ("srv_get_weather", True),
        ("multi_tool_use.parallel", True),
        ("final_result_Trip", True),
        ("RouteResponse", True),
        ("delegate_to_researcher", True),
        ("Delegate work to coworker", True),
        ("ask_question_to_coworker", True),
        ("bash", True),
        ("attempt_completion", True),
        ("get_train_times", False),
        ("weather", False),
        ("get_weather_forecast", False),
    ],
)
def test_names_that_may_be_tools_without_being_listed(called: str, may_be: bool) -> None:
    assert may_be_unlisted(called, [Tool(name="get_weather"), Tool(name="search")]) is may_be


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no tool named 'get_train_times'", True),
        ("get_train_times is not a valid tool, try one of [get_weather].", True),
        ("AI_NoSuchToolError: Model tried to call unavailable tool 'get_train_times'.", True),
        ("Tool get_train_times not found in agent", True),
        ("Unknown tool: get_train_times", True),
        ("Error: Tool 'x' does not exist.", True),
        ("未知工具:get_train_times", True),
        ("工具 get_train_times 不存在", True),
        ("invalid tool arguments: city", False),
        ("city not found", False),
        ("the tool was fine, the file does not exist", False),
        ("Function error: division by zero", False),
        ("工具调用失败", False),
    ],
)
def test_answers_that_deny_a_tool(text: str, said: bool) -> None:
    assert says_no_such_tool(text) is said
