"""Recordings of programs in Java."""

from __future__ import annotations

from tests.recorder.recordings.recording import Recording

_LOGGED = "Spring AI writes what is said to the application's log, and never on spans"

RECORDINGS: tuple[Recording, ...] = (
    Recording(
        dialect="spring-ai__native",
        framework="Spring AI",
        instrumentation="native",
        environment="spring-ai",
        program="SpringAiAgent.java",
        scenarios=("lend", "retry", "parallel"),
        why={
            **dict.fromkeys(("user_input", "system_prompt", "final_answer"), _LOGGED),
            "schemas": "only tools that were called are described, on their own spans",
        },
    ),
)
