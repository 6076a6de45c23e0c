"""Recordings of agent frameworks."""

from __future__ import annotations

from collections.abc import Iterable

from tests.recorder.recordings.recording import Recording
from tests.recorder.scenarios import Call

_ASK = Call("ask_catalogue", {"question": "Where does The Salt Road stand?"})
_ALL = ("lend", "retry", "parallel", "turns", "unknown_tool", "broken_arguments", "model_fails", "no_tool")
_MOST = ("lend", "retry", "parallel", "turns", "unknown_tool")


def _pydantic_ai(variant: str, scenarios: Iterable[str], *, major: str = "2", **variables: str) -> Recording:
    team = "-delegate" if "DESK_TEAM" in variables else ""
    openinference = "DESK_OPENINFERENCE" in variables
    return Recording(
        dialect=f"pydantic-ai{major if major == '1' else ''}{team}__{variant}",
        framework="pydantic-ai",
        instrumentation="openinference-instrumentation-pydantic-ai" if openinference else "pydantic-ai",
        environment="pydantic-ai1" if major == "1" else "pydantic-ai",
        program="pydantic_ai_agent.py",
        scenarios=tuple(scenarios),
        variables=variables,
        handed_over=_ASK,
    )


_PYDANTIC_AI = (
    *(_pydantic_ai(f"native-v{version}", ("lend", "retry"), DESK_VERSION=version) for version in "234"),
    _pydantic_ai("native-v5", ("lend", "retry", "turns"), DESK_VERSION="5", DESK_CONVERSATION="1"),
    _pydantic_ai("native-v6", _ALL, DESK_VERSION="6", DESK_CONVERSATION="1"),
    _pydantic_ai("native-v6-stream", ("lend", "parallel"), DESK_VERSION="6", DESK_STREAM="1"),
    _pydantic_ai("native-v6-prompt", ("lend",), DESK_VERSION="6", DESK_PROMPT="1"),
    _pydantic_ai("native-v6-nocontent", ("lend",), DESK_VERSION="6", DESK_CONTENT="off"),
    _pydantic_ai("native-v6", ("delegate",), DESK_VERSION="6", DESK_TEAM="delegate"),
    _pydantic_ai("native-v2", ("delegate",), DESK_VERSION="2", DESK_TEAM="delegate"),
    _pydantic_ai("openinference", ("lend", "retry", "unknown_tool"), DESK_OPENINFERENCE="1"),
    _pydantic_ai("native-v1", ("lend", "retry", "turns"), major="1", DESK_VERSION="1", DESK_EVENTS="attributes"),
    _pydantic_ai("native-v1-logs", ("lend", "retry", "unknown_tool"), major="1", DESK_VERSION="1", DESK_EVENTS="logs"),
    _pydantic_ai("native-v3", ("lend", "retry"), major="1", DESK_VERSION="3"),
)

RECORDINGS: tuple[Recording, ...] = (*_PYDANTIC_AI,)
