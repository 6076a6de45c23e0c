"""Recordings of older versions that many still run, and of further clients and frameworks."""

from __future__ import annotations

from tests.recorder.recordings import spellings
from tests.recorder.recordings.recording import Recording

RECORDINGS: tuple[Recording, ...] = (
    Recording(
        dialect="anthropic__openinference-0.1",
        framework="anthropic SDK",
        instrumentation="openinference-instrumentation-anthropic",
        environment="openinference-anthropic-old",
        program="openinference_loop.py",
        scenarios=("parallel",),
        variables={"DESK_API": "messages", "RECORDER_MODEL": "claude-sonnet-4-5"},
    ),
    Recording(
        dialect="strands-0.1__native",
        framework="strands",
        instrumentation="strands-agents",
        environment="strands-old",
        program="strands_agent.py",
        scenarios=("retry", "unknown_tool"),
    ),
    Recording(
        dialect="portkey__openinference",
        framework="Portkey SDK",
        instrumentation="openinference-instrumentation-portkey",
        environment="portkey",
        program="portkey_loop.py",
        scenarios=("retry",),
    ),
    Recording(
        dialect="ag2__openinference",
        framework="AG2",
        instrumentation="openinference-instrumentation-autogen",
        environment="ag2",
        program="ag2_agent.py",
        scenarios=("retry", "parallel"),
    ),
    Recording(
        dialect="crewai-0.130__openinference",
        framework="crewai",
        instrumentation="openinference-instrumentation-crewai",
        environment="crewai-old",
        program="crewai_agent.py",
        scenarios=("lend", "retry"),
        spelling=spellings.react_lines,
    ),
    Recording(
        dialect="openai__agentops",
        framework="openai SDK",
        instrumentation="agentops",
        environment="agentops",
        program="agentops_loop.py",
        scenarios=("retry",),
    ),
)
