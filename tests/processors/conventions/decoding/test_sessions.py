"""Session ids among an application's own metadata."""

from __future__ import annotations

import pytest

from processors.conventions.decoding.sessions import session_in


@pytest.mark.parametrize(
    "name",
    ["sessionId", "session_id", "SESSION-ID", "session", "langfuseSessionId", "chatId", "thread_id", "conversation"],
)
def test_a_session_is_known_by_its_name_however_it_is_spelt(name: str) -> None:
    assert session_in({f"app.meta.{name}": "s-1", "app.meta.userId": "u-7"}, "app.meta.") == "s-1"


@pytest.mark.parametrize("name", ["userId", "id", "sessionCount", "chatModel", "threads", "requestId"])
def test_other_names_are_no_session(name: str) -> None:
    assert session_in({f"app.meta.{name}": "x"}, "app.meta.") is None


def test_a_session_stands_before_a_thread_and_only_the_given_prefixes_count() -> None:
    attributes = {"app.meta.threadId": "t", "app.meta.sessionId": "s", "other.sessionId": "o"}
    assert session_in(attributes, "app.meta.") == "s"
    assert session_in(attributes, "nothing.") is None
    assert session_in({"app.meta.sessionId": 7, "app.meta.chatId": ""}, "app.meta.") is None
