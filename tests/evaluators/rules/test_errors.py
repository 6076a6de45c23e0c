"""Errors are known by structure; words only tell their class."""

import pytest

from evaluators.cases import ToolResult
from evaluators.rules.errors import ErrorClass, classify, error_of

PERMANENT, TRANSIENT, OPAQUE = ErrorClass.PERMANENT, ErrorClass.TRANSIENT, ErrorClass.OPAQUE


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("user_id '4471' not found: ids have the form u_<digits>", PERMANENT),
        ("invalid arguments: date 'tomorrow' does not match YYYY-MM-DD", PERMANENT),
        ("1 validation error for Input: city field required", PERMANENT),
        ("PermissionError: access denied", PERMANENT),
        ("Unknown tool: get_wether", PERMANENT),
        ("Model tried to call unavailable tool 'get_wether'. Available tools: get_weather", PERMANENT),
        ("HTTP 404", PERMANENT),
        ("invalid confirmation number", PERMANENT),
        ("Error code: 422", PERMANENT),
        ("参数错误: 日期格式不正确", PERMANENT),
        ("用户不存在", PERMANENT),
        ("upstream timed out after 10s", TRANSIENT),
        ("429 Too Many Requests: retry after 30s", TRANSIENT),
        ("503 Service Unavailable from hotel provider", TRANSIENT),
        ("status: 502", TRANSIENT),
        ("The tool is unavailable", TRANSIENT),
        ("ECONNRESET", TRANSIENT),
        ("resource exhausted, try again later", TRANSIENT),
        ("请求超时", TRANSIENT),
        ("服务器繁忙,请稍后再试", TRANSIENT),
        ("job not found yet", TRANSIENT),
        ("invalid response from upstream: connection reset", TRANSIENT),
        ("404 Not Found (eventual consistency, try again shortly)", TRANSIENT),
        ("resource version not valid: conflict, refetch and retry", TRANSIENT),
        ("EACCES: permission denied, lock held", TRANSIENT),
        ("403 Forbidden: rate limit exceeded", TRANSIENT),
        ("403 Forbidden: too fast", TRANSIENT),
        ("Unknown host: api.example.com", TRANSIENT),
        ("Permission denied: the user has to approve first", TRANSIENT),
        ("model not found: loading", TRANSIENT),
        ("401 unauthorized: token expired", OPAQUE),
        ("Element #submit not found", OPAQUE),
        ("session not found", OPAQUE),
        ("Invalid JSON in the response", OPAQUE),
        ("missing data", OPAQUE),
        ("An unknown error occurred", OPAQUE),
        ("未知错误", OPAQUE),
        ("KeyError: 'data'", OPAQUE),
        ("TypeError: 'NoneType' object is not subscriptable", OPAQUE),
        ("An error occurred while running the tool. Please try again.", OPAQUE),
        ("boom", OPAQUE),
        ("", OPAQUE),
        ("order u_404 exploded", OPAQUE),
        ("row 4290", OPAQUE),
    ],
)
def test_the_class_is_what_the_words_say_and_never_permanent_when_it_may_pass(text: str, kind: ErrorClass) -> None:
    assert classify(text) is kind


def test_please_try_again_is_boilerplate_around_the_real_error() -> None:
    text = "An error occurred while running the tool. Please try again. Error: invalid id"
    assert classify(text) is PERMANENT


@pytest.mark.parametrize(
    "content",
    [
        '{"error": {"code": "rate_limit", "message": "429 Too Many Requests"}}',
        '{"output": null, "exception": "Token not found"}',
        '{"isError": true, "content": [{"type": "text", "text": "boom"}]}',
        '{"success": false, "message": "no"}',
        '{"status": "error", "detail": "no"}',
        '{"errors": [{"message": "no"}]}',
        "{'error': 'Invalid id'}",
        '[{"type": "text", "text": "{\\"error\\": \\"no such user\\"}"}]',
    ],
)
def test_a_returned_object_can_say_that_the_call_failed(content: str) -> None:
    assert error_of(ToolResult(content=content)) is not None


@pytest.mark.parametrize(
    "content",
    [
        '{"errors": [], "data": 1}',
        '{"error": null, "result": 5}',
        '{"error": false}',
        '{"error": ""}',
        '{"output": 1, "exception": null}',
        '{"status": "failed", "order_id": "W1"}',
        '{"success": false, "failed_tests": 3}',
        '{"data": {"id": 1}, "errors": [{"message": "one field is missing"}]}',
        '{"log": "error: disk full"}',
        "The log says: error 404 not found",
        "[]",
        "",
    ],
)
def test_words_and_data_are_no_errors(content: str) -> None:
    assert error_of(ToolResult(content=content)) is None


def test_an_error_written_at_the_start_of_a_text_is_uncertain() -> None:
    found = error_of(ToolResult(content="Error: user not found"))
    assert found is not None and found.kind is PERMANENT and not found.certain


@pytest.mark.parametrize(
    "text", ["An error occurred while running the tool. Please try again.", "Error executing tool book_flight"]
)
def test_what_frameworks_put_in_place_of_an_error_is_an_uncertain_one(text: str) -> None:
    found = error_of(ToolResult(content=text))
    assert found is not None and found.kind is OPAQUE and not found.certain


def test_an_error_object_in_the_content_tells_the_class_of_what_the_span_calls_an_error() -> None:
    content = '{"error": {"type": "not_found", "booking": "X"}}'
    found = error_of(ToolResult(content=content, error="there is no booking X"))
    assert found is not None and found.kind is PERMANENT and found.certain
    assert found.text.startswith("there is no booking X")
    unavailable = error_of(ToolResult(content='{"error": {"status": 503}}', error="booking not found"))
    assert unavailable is not None and unavailable.kind is TRANSIENT
    plain = error_of(ToolResult(content="no error object: not found", error="boom"))
    assert plain is not None and plain.kind is OPAQUE


def test_a_call_that_raised_failed_whatever_its_text() -> None:
    assert error_of(ToolResult(error="")) is not None
    assert error_of(None) is None


def test_hostile_depth_is_no_error() -> None:
    assert error_of(ToolResult(content="[" * 100_000)) is None
    assert error_of(ToolResult(content='{"error":' * 5_000 + "1" + "}" * 5_000)) is None
