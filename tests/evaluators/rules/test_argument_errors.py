"""When the words of a failed tool blame its arguments."""

import pytest

from evaluators.issues import IssueCode
from evaluators.rules.argument_errors import ArgumentError, argument_error
from evaluators.rules.errors import ToolError, classify

KNOWN = ("user_id", "date", "origin", "city", "nights")
VALUES = (("user_id", "4471"), ("date", "tomorrow"), ("origin", "NYC"), ("city", "Rome"))


def blame(
    text: str, *, certain: bool = True, given: tuple[str, ...] = KNOWN, said_by_user: str = ""
) -> ArgumentError | None:
    error = ToolError(text, classify(text), certain)
    return argument_error(error, known=KNOWN, given=given, values=VALUES, said_by_user=said_by_user)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("invalid arguments: date 'tomorrow' does not match YYYY-MM-DD; origin 'NYC' is a city code", "bad_format"),
        ("user_id '4471' not found: ids have the form u_<digits>", "bad_format"),
        ("Invalid params: -32602", "wrong_value"),
        ("1 validation error for book\ndate\n  Field required [type=missing, input_value={}]", "missing_argument"),
        ("TypeError: get_weather() missing 1 required positional argument: 'city'", "missing_argument"),
        ("get_weather() got an unexpected keyword argument 'city'", "unexpected_argument"),
        ("'nights' must be an integer", "wrong_type"),
        ("nights must be between 1 and 30", "wrong_value"),
        ("Value 'NYC' is not one of the allowed values", "not_in_enum"),
        ("City is required.", "missing_argument"),
        ("Could not parse date: tomorrow", "bad_format"),
        ('[{"code":"invalid_type","expected":"string","path":["city"],"message":"Required"}]', "wrong_type"),
        ('{"detail":[{"loc":["body","date"],"msg":"invalid date format"}]}', "bad_format"),
        ("Unknown parameter: 'state'", "unexpected_argument"),
        ("Additional properties are not allowed ('cabin' was unexpected)", "unexpected_argument"),
        ("user id is malformed", "bad_format"),
        ("参数错误:日期格式不正确,应为YYYY-MM-DD", "bad_format"),
        ("缺少必填参数 city", "missing_argument"),
        ("date 格式错误", "bad_format"),
        ("user_id 不能为空", "wrong_value"),
    ],
)
def test_a_tool_that_says_an_argument_is_wrong_is_believed(text: str, code: str) -> None:
    found = blame(text)
    assert found is not None
    assert found.conclusive
    assert found.code is IssueCode(code)


@pytest.mark.parametrize(
    "text",
    [
        "user_id '4471' not found",
        "404 Not Found",
        "No such city: Rome",
        "用户不存在",
        "An error occurred while running the tool. Please try again.",
        "Error executing tool book_flight",
        "400 Bad Request",
        "KeyError: 'temperature'",
        "[Errno 22] Invalid argument",
        "Order cannot be cancelled: it has been delivered",
        "1 validation error for WeatherResponse\ntemperature\n  Input should be a number",
        "TypeError: get_weather() missing 1 required positional argument: 'ctx'",
        "get_weather() got an unexpected keyword argument 'run_manager'",
        "flight must be in state scheduled",
        "date is too large for the balance",
        "No availability: date is outside the range of the published calendar",
        "Invalid state transition: user_id is not valid for cancellation",
        "The user_id is not valid any more",
        "1 validation error for WeatherResponse\ncity\n  Field required [type=missing]",
        "Response does not match schema: date is required",
    ],
)
def test_an_error_that_does_not_give_its_reason_or_only_found_nothing_is_a_suspicion(text: str) -> None:
    found = blame(text)
    assert found is not None
    assert not found.conclusive


@pytest.mark.parametrize(
    "text",
    [
        "upstream timed out after 10s (transient, safe to retry)",
        "503 Service Unavailable from hotel provider",
        "429 Too Many Requests",
        "You do not have permission to read user_id 4471",
        "403 Forbidden",
        "Unauthorized: invalid API key",
        "authentication is required",
        "Internal server error",
        "Connection refused",
        "Insufficient funds",
        "no tool named 'get_train_times'",
        "Tool get_train_times not found",
        "get_train_times is not a valid tool, try one of [get_weather].",
        "请求超时,请稍后重试",
        "没有权限访问",
    ],
)
def test_time_outs_permission_servers_and_unknown_tools_blame_no_argument(text: str) -> None:
    assert blame(text) is None


@pytest.mark.parametrize(
    ("text", "conclusive"),
    [
        ("Error: invalid parameter city", True),
        ("Error: user_id '4471' not found: ids have the form u_<digits>", True),
        ("Error: date must be in the format YYYY-MM-DD", True),
        ("Error: ValueError: invalid arguments: date 'tomorrow' does not match YYYY-MM-DD", True),
        ("Error: invalid parameter --verbose in line 3 of build.log", False),
        ("Error: invalid syntax in the file of the city", False),
        ("Error: expected ';' before the end of the line", False),
        ("Error: invalid input\ncity: Rome", False),
    ],
)
def test_an_error_that_only_a_plain_text_tells_of_must_blame_an_argument_by_name(text: str, conclusive: bool) -> None:
    found = blame(text, certain=False)
    assert found is not None
    assert found.conclusive is conclusive


def test_a_value_that_the_user_gave_is_no_fault_of_the_agent_when_it_is_refused() -> None:
    text = "Rome is not a valid city"
    sure, given = blame(text), blame(text, said_by_user="The weather in Rome, please")
    assert sure is not None and sure.conclusive
    assert given is not None and not given.conclusive
    unquoted = "Invalid city: it must be in Italy"
    sure, given = blame(unquoted), blame(unquoted, said_by_user="The weather in Rome, please")
    assert sure is not None and sure.conclusive
    assert given is not None and not given.conclusive
    form = blame("'tomorrow' does not match YYYY-MM-DD", said_by_user="flights tomorrow")
    assert form is not None and form.conclusive


@pytest.mark.parametrize(
    ("text", "argument"),
    [
        ("error: unrecognized arguments: --foo", "command"),
        ("ValueError: invalid argument x", "code"),
        ("TypeError: add() missing 1 required positional argument: 'b'", "command"),
        ("HTTP 422: missing parameter 'q'", "url"),
        ('{"error":"missing required parameter: town"}', "url"),
    ],
)
def test_what_a_program_or_page_says_of_its_own_arguments_is_a_suspicion(text: str, argument: str) -> None:
    found = argument_error(ToolError(text, classify(text)), known=(argument,), given=(argument,), values=())
    assert found is not None and not found.conclusive


def test_what_a_query_is_told_by_its_database_is_a_suspicion_and_by_its_search_is_not() -> None:
    text = 'invalid input syntax for type integer: "query"'
    for query, sure in (("SELECT * FROM orders WHERE id = 'query'", False), ("trains to Rome", True)):
        found = argument_error(
            ToolError(text, classify(text)), known=("query",), given=("query",), values=(("query", query),)
        )
        assert found is not None and found.conclusive is sure


def test_the_quote_is_short_and_without_secrets() -> None:
    found = blame("invalid arguments: card 4111 1111 1111 1111 " + "x" * 500)
    assert found is not None
    assert "4111 1111" not in found.detail
    assert len(found.detail) < 220


def test_hostile_text_is_worked_through() -> None:
    for unit in ("invalid ", "arguments is a ", "a" * 50 + " ", "must be ", "required "):
        blame(unit * 50_000)
