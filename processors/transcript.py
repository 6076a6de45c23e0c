"""The neutral model of a trace: the runs in it, and what could not be known.

Runs are told in the evaluators' own vocabulary (`evaluators.cases`), with span ids (lower-case hex) as `ref`s:

* `Run.ref`         the run's top agent or workflow span; without one, the last LLM span of the user's turn
* `Turn.ref`        the LLM span
* `ToolCall.ref`    the tool span that executed the call; None when there is none
* `ToolResult.ref`  the span on which the result was seen
* `Message.ref`     the span on which the message was seen first
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from evaluators.cases import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """An agent that took part. `parent` is the span id of the agent that called it, None for a top one."""

    name: str | None
    span_id: str
    parent: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """A fact that was looked for and isn't in the trace.

    `fact` is one of user_input, system_prompt, tools, schemas, tool_calls, arguments, tool_results, final_answer;
    `attribute` would carry it, and `switch` is what to do so that it does.
    """

    fact: str
    attribute: str
    switch: str

    @property
    def remedy(self) -> str:
        """Both in one line."""
        return f"{self.attribute}: {self.switch}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """What was understood of one trace.

    `enclosing` gives, for a tool span, the nearest agent span above it or else the run's span.
    `dialects` are the names of the readers that spoke.  Of spans that no reader knew, `unknown` are the ids of those
    that were read by the plain meaning of their keys, and `unread` of those that said nothing.
    `headless`: no span of an agent, or of anything else that holds a whole run, is round what was understood, so that
    the trace may be a piece of a run.  `continues` is the id of the trace
    that it goes on from, where that was looked for.
    """

    trace_id: str
    session_id: str | None = None
    runs: tuple[Run, ...] = ()
    agents: tuple[Agent, ...] = ()
    missing: tuple[Missing, ...] = ()
    dialects: tuple[str, ...] = ()
    enclosing: Mapping[str, str] = field(default_factory=dict)
    unread: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    headless: bool = False
    continues: str | None = None
