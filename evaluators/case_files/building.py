"""From the checked input of a case to the case: messages, calls and results as turns of a run.

In: a `CaseInput` and the kind of case that is wanted.  Out: the case.  What the input leaves out stays unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import groupby

from evaluators.case_files.form import CaseInput
from evaluators.cases import (
    CallsCase,
    Case,
    CaseKind,
    DecisionCase,
    Message,
    ResponseCase,
    Role,
    Run,
    RunCase,
    Tool,
    ToolCall,
    ToolResult,
    Turn,
)
from evaluators.plans import visible_plans
from evaluators.sessions import session_case


def build_case(kind: CaseKind, given: CaseInput) -> Case:
    """The case of this kind that the input describes."""
    return _BUILDERS[kind](given)


class _History:
    """Turns the messages and calls of a case into turns; `refs` are places in the list of messages."""

    def __init__(self, given: CaseInput) -> None:
        self._given = given
        self.tools = (
            None
            if given.available_tools is None
            else tuple(
                Tool(name=one.name, description=one.description, parameters=one.parameters)
                for one in given.available_tools
            )
        )
        self._results = {one.id: one.as_result() for one in given.tool_results}
        for message in given.messages or ():
            if message.is_result and message.tool_call_id and message.tool_call_id not in self._results:
                self._results[message.tool_call_id] = ToolResult(content=message.content)
        self.messages: list[Message] = []
        self.turns: list[Turn] = []
        self._user_turn = -1
        self._unanswered: tuple[str, ...] = ()
        for number, message in enumerate(given.messages or (), 1):
            self._add(message.as_message(f"m{number}", self._results))

    def _add(self, message: Message) -> None:
        if message.role is Role.USER:
            self._user_turn += 1
        if message.role is Role.ASSISTANT:
            self.turn(message.text, message.calls, ref=message.ref)
        else:
            if message.role is Role.TOOL and message.call_id is not None:
                self._unanswered = (*self._unanswered, message.call_id)
            self.messages.append(message)

    def turn(self, text: str | None, calls: tuple[ToolCall, ...], *, ref: str | None = None) -> Turn:
        """Adds a turn that saw everything so far; its message becomes part of what later ones see."""
        made = Turn(
            index=len(self.turns),
            text=text,
            calls=calls,
            context=tuple(self.messages),
            tools=self.tools,
            answers=self._unanswered,
            user_turn=max(self._user_turn, 0),
            ref=ref or "judged",
        )
        self._unanswered = ()
        self.turns.append(made)
        self.messages.append(Message(role=Role.ASSISTANT, text=text, calls=calls, ref=made.ref))
        return made

    def results(self, calls: Iterable[ToolCall]) -> None:
        """Adds the results of calls as messages, for the next turn to see."""
        for call in calls:
            if call.result is not None:
                text = call.result.content if call.result.content is not None else call.result.error
                self.messages.append(Message(role=Role.TOOL, text=text, call_id=call.id))
                self._unanswered = (*self._unanswered, call.id)

    def calls(self) -> tuple[ToolCall, ...]:
        """The calls of `tool_calls`, with their results."""
        return tuple(one.as_call(self._results) for one in self._given.tool_calls or ())

    def run(self) -> Run:
        """The run of all turns so far."""
        user = tuple(one.text for one in self.messages if one.role is Role.USER and one.text)
        system = tuple(one.text for one in self.messages if one.role is Role.SYSTEM and one.text)
        return Run(turns=tuple(self.turns), user_inputs=user or None, system_prompts=system, ref="run")


def _decision(given: CaseInput) -> Case:
    history = _History(given)
    turn = history.turn(given.output, history.calls())
    return DecisionCase(run=history.run(), turn=turn)


def _invocation(given: CaseInput) -> Case:
    history = _History(given)
    turn = history.turn(given.output, history.calls())
    return CallsCase(run=history.run(), calls=turn.calls, turn=turn)


def _response(given: CaseInput) -> Case:
    history = _History(given)
    calls = history.calls()
    known = {call.id for turn in history.turns for call in turn.calls}
    new = tuple(call for call in calls if call.id not in known)
    if new:
        history.turn(None, new, ref="calls")
        history.results(new)
    turn = history.turn(given.output, ())
    if given.tool_calls is None:
        told = {call.id: call for before in history.turns for call in before.calls}
        calls = tuple(told[one] for one in turn.answers if one in told)
    answered = tuple(call for call in calls if call.result is not None)
    return ResponseCase(run=history.run(), calls=answered or calls, turn=turn)


def _session(given: CaseInput) -> Case:
    """Every message of the user begins a run."""
    whole = _whole_run(given)
    run = whole.run
    parts = [tuple(turns) for _, turns in groupby(run.turns, lambda turn: turn.user_turn)]
    inputs = run.user_inputs or ()
    runs = [
        replace(
            run,
            turns=tuple(replace(turn, index=place) for place, turn in enumerate(turns)),
            user_inputs=inputs[number : number + 1] if len(inputs) == len(parts) else inputs,
            final_answer=turns[-1].text if number < len(parts) - 1 else run.final_answer,
            answered=turns[-1].text is not None if number < len(parts) - 1 else run.answered,
        )
        for number, turns in enumerate(parts)
    ]
    return session_case(runs or [run], whole.reference)


def _whole_run(given: CaseInput) -> RunCase:
    history = _History(given)
    calls = history.calls()
    known = {call.id for turn in history.turns for call in turn.calls}
    new = tuple(call for call in calls if call.id not in known)
    if new:
        history.turn(None, new, ref="calls")
        history.results(new)
    last = history.turns[-1].text if history.turns else None
    if given.output and given.output != last:
        history.turn(given.output, (), ref="answer")
    unseen = ("tool_calls",) if given.tool_calls is None and given.messages is None else ()
    run = history.run()
    run = replace(
        run,
        plans=visible_plans(run.turns, run.user_inputs or ()),
        final_answer=given.output,
        answered=given.output is not None,
        missing=unseen,
    )
    options = {**given.options, "trace": given.trace} if "trace" in given.model_fields_set else given.options
    return RunCase(run=run, reference=given.known(), options=options)


_BUILDERS: Mapping[CaseKind, Callable[[CaseInput], Case]] = {
    CaseKind.DECISION: _decision,
    CaseKind.CALLS: _invocation,
    CaseKind.RESPONSE: _response,
    CaseKind.RUN: _whole_run,
    CaseKind.SESSION: _session,
}
