"""Recordings of the providers' SDKs and agent SDKs."""

from __future__ import annotations

from tests.recorder.recordings.recording import Recording

_REDACTED = "hidden by OPENINFERENCE_HIDE_INPUTS and OPENINFERENCE_HIDE_OUTPUTS"


def _openinference(variant: str, *scenarios: str, **variables: str) -> Recording:
    return Recording(
        dialect=f"openai__openinference{variant}",
        framework="openai SDK, plain tool loop",
        instrumentation="openinference-instrumentation-openai",
        environment="openinference-openai",
        program="openinference_loop.py",
        scenarios=scenarios or ("lend", "retry"),
        variables=variables,
        why={"session_id": "needs using_session(...)"},
    )


RECORDINGS: tuple[Recording, ...] = (
    _openinference("", "lend", "retry", "parallel", "turns", "unknown_tool", "no_tool", DESK_API="chat"),
)
