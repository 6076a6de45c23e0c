"""What an evaluator judges: a run of an agent, and the place in it that is to be judged.

The vocabulary is that of agents, not of telemetry.  `ref` fields are opaque ids that say where a fact was seen; they
come back in `Verdict.evidence` and `Issue.ref`.  Whoever builds cases from spans puts span ids (lower-case hex) there,
whoever builds them from files may leave them out.

Absent is a state of its own everywhere: None means "not captured", an empty tuple or string means "captured, and there
was none".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from evaluators.status import Status

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
Arguments: TypeAlias = "Mapping[str, JsonValue] | str | None"


class Role(StrEnum):
    """Who speaks."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool as it was offered to the model.

    `parameters` is its JSON Schema; None when only the name (and perhaps the description) was captured.
    `read_only`: its server says that it changes nothing, or that it may (MCP's `readOnlyHint`); None: it doesn't say.
    """

    name: str
    description: str | None = None
    parameters: Mapping[str, JsonValue] | None = None
    read_only: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What came back from a call.

    `content` is the text as the model saw it (None: not captured), `error` the error's text when the call failed
    (an empty string: it failed and the text is unknown).  A result can carry both.
    """

    content: str | None = None
    error: str | None = None
    truncated: bool = False
    duration_s: float | None = None
    started_s: float | None = None
    ref: str | None = None

    @property
    def failed(self) -> bool:
        """Whether the call failed, by its structure and not by words in its text."""
        return self.error is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call that the model asked for, with its outcome.

    `arguments` are an object, or the raw text where it was not JSON, or None where they were not captured.
    `from_model` is False when they were only seen on the tool's own span, where frameworks add and fill in arguments.
    `is_handoff` marks plumbing: hand-offs to another agent and output tools, which are no tool use to be judged.
    `provider_executed` marks tools the provider runs itself (web search, code interpreter).
    `awaiting_approval`: a human has to confirm it first; there is no result yet.
    `earlier`: it was asked for before this run began and is known from the conversation's history only, so that its
    choice and arguments are judged where it was asked for; its result may still be new to this run.
    `offered`, of a call that no captured turn asked for: the tools of the agent that made it; None when not captured.
    """

    id: str
    name: str
    arguments: Arguments = None
    result: ToolResult | None = None
    from_model: bool = True
    truncated: bool = False
    is_handoff: bool = False
    provider_executed: bool = False
    awaiting_approval: bool = False
    earlier: bool = False
    offered: tuple[Tool, ...] | None = None
    ref: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message that a model saw. Results of tools stand in `ToolCall.result` and again here, under role tool."""

    role: Role
    text: str | None = None
    calls: tuple[ToolCall, ...] = ()
    call_id: str | None = None
    truncated: bool = False
    ref: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One answer of a model: its text and the calls it asked for.

    `index`      its place in `Run.turns`.
    `context`    every message this model saw before it answered, oldest first; None when not captured.
    `tools`      the tools offered to this agent at this turn; None when not captured.
    `answers`    ids of the calls whose results this turn is the first of its agent to see.
    `tool_choice` "auto", "none", "required", or the name of the tool that was forced; None when not captured.
    `user_turn`  counts the user's messages from 0: turns of the same number answer the same message.
    `partial`    the stream was cut or cancelled.
    `error`      the model request failed (then there is no answer to judge).
    `ref`        where it was seen; None for a decision inferred from the tools' own records alone.
    """

    index: int
    text: str | None = None
    calls: tuple[ToolCall, ...] = ()
    context: tuple[Message, ...] | None = None
    tools: tuple[Tool, ...] | None = None
    answers: tuple[str, ...] = ()
    tool_choice: str | None = None
    agent: str | None = None
    user_turn: int = 0
    partial: bool = False
    error: str | None = None
    ref: str | None = None


class PlanSource(StrEnum):
    """Where a plan was seen.

    `TEXT` what an agent said before it acted, `LIST` a list that it keeps with a tool (todos, plan tools), `SPAN` a
    planning step that a framework recorded, `DELEGATION` tasks that it handed to other agents, `REASONING` what a model
    thought and didn't say.
    """

    TEXT = "text"
    LIST = "list"
    SPAN = "span"
    DELEGATION = "delegation"
    REASONING = "reasoning"


class PlanState(StrEnum):
    """What a kept list says of a step, the last time it was written."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanStep:
    """A step that an agent means to take.

    `state` is None where nothing keeps track of it.  `owner` is who it was handed to, `call_id` the call that did.
    """

    text: str
    state: PlanState | None = None
    owner: str | None = None
    call_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Steps that an agent announced, in its order.

    `turn` is the index in `Run.turns` of the turn that stated it; what was planned before the first turn has -1.
    `revises`: it takes the place of an earlier plan of the same agent, which holds up to `turn`.
    """

    steps: tuple[PlanStep, ...]
    source: PlanSource
    turn: int
    agent: str | None = None
    revises: bool = False
    ref: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Delegation:
    """The part of a run that another agent did for it.

    `task` is what it was told; None when not captured.  `turns` are indexes in `Run.turns`, `calls` ids of the loose
    calls that are its own, both with those of agents that it asked in turn.  `call_id` is the call that asked for it.
    `answer` is what it came back with.
    """

    turns: tuple[int, ...]
    task: str | None = None
    agent: str | None = None
    calls: tuple[str, ...] = ()
    call_id: str | None = None
    answer: str | None = None
    ref: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What one agent (with its sub-agents) did for one task.

    `turns`        every model turn in order of start, sub-agents' included.
    `loose_calls`  executed calls that no captured model turn asked for, in order.
    `user_inputs`  what the human said in this run; None when not captured.
    `plans`        what agents announced they would do, in order; empty when no plan is visible.
    `delegations`  the parts of the run that agents did which other agents of the run had asked.
    `final_answer` the last text to the user; None when there was none or it was not captured, see `answered`.
    `answered`     True: there is an answer; False: it is known that the run ended without one; None: not captured.
    `aborted`      the run is known to have crashed or to have been closed without an answer.
    `partial`      part of the trace never arrived.
    `missing`      names of the facts that were looked for and not captured.
    """

    turns: tuple[Turn, ...] = ()
    loose_calls: tuple[ToolCall, ...] = ()
    user_inputs: tuple[str, ...] | None = None
    system_prompts: tuple[str, ...] = ()
    plans: tuple[Plan, ...] = ()
    delegations: tuple[Delegation, ...] = ()
    final_answer: str | None = None
    answered: bool | None = None
    aborted: bool = False
    abort_reason: str | None = None
    partial: bool = False
    truncated: bool = False
    missing: tuple[str, ...] = ()
    session_id: str | None = None
    ref: str | None = None

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """Every call of the run in order, those of no captured turn last."""
        return tuple(call for turn in self.turns for call in turn.calls) + self.loose_calls


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionCase:
    """A turn whose choice of tools, or whose calls, are to be judged."""

    run: Run
    turn: Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class CallsCase:
    """Calls to judge by their arguments: those of one turn, or a call that no captured turn asked for (turn None).

    `later`: where a call failed without saying why, the next one of the same tool that its agent made in a later turn.
    """

    run: Run
    calls: tuple[ToolCall, ...]
    turn: Turn | None = None
    later: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseCase:
    """What a turn made of the results new to it.

    `turn` saw the results of `calls` first; `later` are the turns after it up to the next message of the user.
    `turn` is None for results that no captured turn consumed.
    """

    run: Run
    calls: tuple[ToolCall, ...]
    turn: Turn | None
    later: tuple[Turn, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceCall:
    """A call that was expected. `arguments` None: any; `output` None: whatever comes of it."""

    name: str
    arguments: Mapping[str, JsonValue] | None = None
    output: JsonValue = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """What is known from outside the run of what should have come of it.

    `task`              what was really wanted, where it isn't what the user says in the run.
    `outcome`           the state or answer that is right, in words.
    `tool_calls`        the calls of a good run in order; None when not given, empty when there should be none.
    `required_outputs`  what the user must have been told.
    `key_actions`       names of the tools that a good run can't do without.
    `source`            where it is from: a case, a file, or the attributes of the judged side itself.
    """

    task: str | None = None
    outcome: str | None = None
    tool_calls: tuple[ReferenceCall, ...] | None = None
    required_outputs: tuple[str, ...] | None = None
    key_actions: tuple[str, ...] | None = None
    source: str = "case"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceVerdict:
    """What another evaluator said of a run or of one of its steps, as far as a verdict can be derived from it.

    `ref` is where that verdict stands, `revision` the verdict's own.  `uncalibrated`: its judge isn't known to agree
    with people.
    """

    evaluator: str
    status: Status
    score: float | None = None
    passed: bool | None = None
    confidence: float | None = None
    ref: str | None = None
    revision: str = ""
    uncalibrated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCase:
    """A whole run, with what should have come of it where that is known.

    `sources` are the verdicts of the evaluators that are needed, for an evaluator that derives its own from others.
    """

    run: Run
    reference: Reference | None = None
    options: Mapping[str, JsonValue] = field(default_factory=dict)
    sources: tuple[SourceVerdict, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionCase:
    """The runs of one session in order of their beginning. `run` is all of them as one, the way a judge is shown it."""

    run: Run
    runs: tuple[Run, ...]
    reference: Reference | None = None


Case: TypeAlias = DecisionCase | CallsCase | ResponseCase | RunCase | SessionCase


class CaseKind(StrEnum):
    """What an evaluator is given to judge, one member per type of case."""

    DECISION = "decision"
    CALLS = "calls"
    RESPONSE = "response"
    RUN = "run"
    SESSION = "session"
