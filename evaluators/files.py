"""Cases as lines of a file, and verdicts as lines of a file: the evaluators without telemetry.

A case is `{"id", "evaluator", "input"}`.  `input` holds `messages` (as in the chat API of OpenAI, old forms too),
`available_tools` (name, description, parameters), `tool_calls` (id, name, arguments), `tool_results` (id, name,
content, error) and `output`.  For evaluators of a step, `messages` is what came before it; for those of a run, the
whole run, and they may be left out where calls alone are compared.  What should have come of a run stands in
`options.reference`, or its calls in `reference_tool_calls`.  Further keys are ignored, so that labelled files can be
read as they are; options that an evaluator takes as settings are checked.  What a line gets wrong is told with what to
do about it; nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby

import orjson
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from evaluators.case_input import CaseInput, CaseLine
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
from evaluators.evaluator import EvaluatorSettings
from evaluators.plans import visible_plans
from evaluators.sessions import session_case
from evaluators.verdict import Verdict

_LONGEST_FAULT = 200


@dataclass(frozen=True, slots=True)
class NamedCase:
    """A case under the id its line gave it, with the name of the evaluator that is to judge it.

    `options` are settings for this case alone, in the place of those that the evaluator has; None where there are none.
    """

    line: int
    case_id: str
    evaluator: str
    case: Case
    options: EvaluatorSettings | None = None


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is no case: its number from 1, what is wrong, and what to do."""

    line: int
    fault: str


def read_cases(
    lines: Iterable[bytes],
    kinds: Mapping[str, CaseKind],
    options: Mapping[str, type[EvaluatorSettings]] | None = None,
) -> Iterator[NamedCase | BadLine]:
    """The case of every line that isn't blank, or why it has none.

    Args:
        lines: one JSON object each.
        kinds: what each evaluator judges, by the evaluator's name; the registry's are `evaluators.registry.CASE_KINDS`.
        options: the settings of the evaluators that take some from a case; the registry's are `CASE_OPTIONS`.
    """
    seen: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        read = _read_line(number, line, kinds, options or {})
        if isinstance(read, NamedCase):
            first = seen.setdefault(read.case_id, number)
            if first != number:
                read = BadLine(number, f"id {_cut(read.case_id)} was used in line {first}; give every case its own")
        yield read


def result_line(case: NamedCase, verdict: Verdict) -> bytes:
    """The answer to a case as one JSON line: label and score are null unless the status is ok."""
    answer = {
        "id": case.case_id,
        "evaluator": case.evaluator,
        "status": str(verdict.status),
        "label": verdict.label,
        "score": verdict.score,
        "passed": verdict.passed,
        "method": str(verdict.method),
        "confidence": verdict.confidence,
        "explanation": verdict.explanation,
        "issues": [
            {
                "code": str(one.code),
                "call_id": one.call_id,
                "severity": str(one.severity),
                "detail": one.detail,
                "conclusive": one.conclusive,
            }
            for one in verdict.issues
        ],
        "calls": [
            {"call_id": one.call_id, "label": one.label, "issues": [str(code) for code in one.issues]}
            for one in verdict.calls
        ],
        "details": dict(verdict.details),
        "requests": verdict.usage.requests,
        "prompt_chars": verdict.usage.prompt_chars,
        "model": verdict.model,
        "revision": verdict.revision,
    }
    return orjson.dumps(answer, option=orjson.OPT_APPEND_NEWLINE)


def _read_line(
    number: int, line: bytes, kinds: Mapping[str, CaseKind], options: Mapping[str, type[EvaluatorSettings]]
) -> NamedCase | BadLine:
    try:
        parsed = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        return BadLine(number, f"is no JSON ({error}); write one JSON object per line")
    name = parsed.get("evaluator") if isinstance(parsed, dict) else None
    if isinstance(name, str) and name not in kinds:
        return BadLine(number, f"evaluator {_cut(name)!r} is unknown; use one of {', '.join(kinds)}")
    try:
        read = CaseLine.model_validate(parsed)
    except ValidationError as error:
        return BadLine(number, _faults(error))
    kind, given = kinds[read.evaluator], read.input
    if given.messages is None and kind is not CaseKind.RUN:
        return BadLine(number, "input.messages: Field required; the form of a case is in docs/commands.md")
    model = options.get(read.evaluator)
    try:
        own = model.model_validate(given.options) if model is not None and given.options else None
    except ValidationError as error:
        return BadLine(number, _faults(error, "input.options."))
    return NamedCase(number, read.id, read.evaluator, _BUILDERS[kind](given), own)


def _faults(error: ValidationError, within: str = "") -> str:
    found = error.errors(include_url=False, include_context=False, include_input=False)
    told = [f"{within}{'.'.join(map(str, one['loc'])) or 'the line'}: {_message(one)}" for one in found[:3]]
    return f"{'; '.join(map(_cut, told))}; the form of a case is in docs/commands.md"


def _message(fault: ErrorDetails) -> str:
    """What is wrong, without the names of our classes."""
    return "has to be an object" if fault["type"] == "model_type" else fault["msg"].removeprefix("Value error, ")


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_FAULT else text[:_LONGEST_FAULT] + "…"


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
    answered = tuple(call for call in calls if call.result is not None)
    return ResponseCase(run=history.run(), calls=answered, turn=turn)


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
