"""A run as a judge is shown it: what it was told, offered, asked, what it called, got back and answered, in order.

In: a `Run`.  Out: blocks of pieces (`evaluators.judge.showing.pieces`), our words apart from the run's, with short
aliases for calls and places.  What repeats on every turn (history, tools) is told once.  Never decides anything about
the run, nor what of it is left out when there is not room for everything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from evaluators.cases import Arguments, Message, Role, Run, ToolCall, ToolResult, Turn
from evaluators.judge.question import turn_name
from evaluators.judge.showing.aliases import Aliases
from evaluators.judge.showing.blanks import without_blanks
from evaluators.judge.showing.notebook import Notebook, Redact
from evaluators.judge.showing.offers import offers_of
from evaluators.judge.showing.pieces import Block, Brief, Returned
from evaluators.judge.showing.tools_told import tell_tools
from evaluators.judge.showing.whose_words import agents_by_prompt, inputs_by_turn, is_told
from evaluators.judge.showing.wording import compact_json, plain_name, without_frames
from evaluators.judge.steering import Kind, Steering

_FAILED = ", the call failed"
_KINDS = {Role.SYSTEM: Kind.SYSTEM, Role.USER: Kind.TASK, Role.ASSISTANT: Kind.EARLIER}
_SPOKEN = {Role.SYSTEM: "system prompt", Role.USER: "user", Role.ASSISTANT: "assistant, earlier"}


@dataclass(frozen=True, slots=True)
class Record:
    """A run as blocks, and those of its texts that speak to a judge."""

    blocks: list[Block]
    steering: tuple[Steering, ...]


def record(run: Run, aliases: Aliases, redact: Redact | None = None) -> Record:
    """The record of `run`, with `redact` applied to every text of it."""
    notes = _Recorder(run, aliases, redact).notes()
    return Record(notes.blocks, tuple(notes.steering))


class _Recorder:
    """Writes one run, from top to bottom."""

    def __init__(self, run: Run, aliases: Aliases, redact: Redact | None) -> None:
        self._notes = Notebook(aliases, redact, run.ref)
        self._run = run
        self._aliases = aliases
        self._spoken: Counter[tuple[Role, str]] = Counter()
        self._calls = {call.id: call for call in run.calls}
        self._loose = {call.id: call for call in run.loose_calls}
        self._results_shown: set[int] = set()
        self._made: Counter[tuple[str, str]] = Counter()
        self._made_by_content: dict[str, list[ToolCall]] = {}
        self._earlier_calls: set[str] = set()
        self._awaited = {call_id for turn in run.turns for call_id in turn.answers}
        self._inputs = inputs_by_turn(run)
        self._several_agents = len({turn.agent for turn in run.turns}) > 1

    def notes(self) -> Notebook:
        """What was written."""
        run = self._run
        self._head()
        tell_tools(offers_of(run.turns), {call.name for call in run.calls}, self._notes)
        for turn in run.turns:
            self._turn(turn)
        self._notes.blocks.append(Block())
        for texts in self._inputs.values():
            for text in texts:
                self._say(Role.USER, text, "user")
        if self._loose:
            self._notes.line("calls that no recorded turn asked for")
            for call in self._loose.values():
                self._call(call)
                self._result(call)
        self._end()
        return self._notes

    # -- parts

    def _head(self) -> None:
        run = self._run
        if run.partial:
            self._notes.line("Part of this run never arrived; what is absent may still have happened.")
        if run.missing:
            self._notes.line("Not recorded: " + ", ".join(fact.replace("_", " ") for fact in run.missing) + ".")
        whose = agents_by_prompt(run) if self._several_agents else {}
        for prompt in run.system_prompts:
            agents = whose.get(prompt.strip(), ())
            names = f" of {' and '.join(f'agent {plain_name(agent)}' for agent in agents)}" if agents else ""
            self._say(Role.SYSTEM, prompt, f"system prompt{names}")

    def _turn(self, turn: Turn) -> None:
        name, place = turn_name(turn.index), self._notes.at(turn.ref)
        brief = Brief(name=name, place=place, said_chars=len(turn.text or ""))
        self._notes.blocks.append(Block(turn=turn.index, brief=brief))
        self._notes.place = turn.ref
        notes = [name + place]
        if turn.agent and self._several_agents:
            notes.append(f"agent {plain_name(turn.agent)}")
        if turn.tool_choice not in (None, "auto"):
            notes.append(f"tool choice {plain_name(str(turn.tool_choice))}")
        if turn.partial:
            notes.append("cut off")
        self._notes.line(", ".join(notes))
        self._context(turn.context or ())
        for text in self._inputs.pop(turn.index, ()):
            self._say(Role.USER, text, "user")
        for call_id in turn.answers:
            if (call := self._calls.get(call_id)) is not None:
                self._result(call)
        if turn.error is not None:
            self._notes.line("the request to the model failed")
            if turn.error:
                self._notes.text("", turn.error, "this error", Kind.ERROR)
        if turn.text:
            self._notes.line("says")
            kind = Kind.ANSWER if turn.text == self._run.final_answer else Kind.TEXT
            self._notes.text("", turn.text, f"the text of {name}", kind)
            self._spoken[Role.ASSISTANT, turn.text.strip()] += 1
        elif turn.text is None and not turn.calls and turn.error is None:
            self._notes.line("answer not recorded")
        for call in turn.calls:
            self._call(call)
        for call in turn.calls:
            if call.id not in self._awaited:
                self._result(call)

    def _context(self, context: Sequence[Message]) -> None:
        """What of a context hasn't been shown: the n-th occurrence of a text, where n - 1 have been shown so far."""
        heard: Counter[tuple[Role, str]] = Counter()
        repeated: Counter[tuple[str, str]] = Counter()
        returned: Counter[str] = Counter()
        for message in context:
            if message.role is Role.TOOL:
                text = (message.text or "").strip()
                own = self._made_by_content.get(text, []) if message.call_id is None else []
                returned[text] += 1
                if returned[text] <= len(own):
                    self._result(own[returned[text] - 1])
                else:
                    self._context_result(message)
                continue
            for call in message.calls:
                if call.id in self._loose:
                    self._call(self._loose.pop(call.id), "asked for before this turn: ")
                if call.id in self._calls or call.id in self._earlier_calls:
                    continue
                # A history without ids names the run's own calls again.
                alike = _as_made(call)
                repeated[alike] += 1
                if repeated[alike] > self._made[alike]:
                    self._earlier_call(call)
            if message.text is None or not (text := message.text.strip()):
                continue
            heard[message.role, text] += 1
            if heard[message.role, text] > self._spoken[message.role, text]:
                self._say(message.role, message.text, _SPOKEN[message.role], truncated=message.truncated)

    def _earlier_call(self, call: ToolCall) -> None:
        self._earlier_calls.add(call.id)
        self._notes.line(f"earlier call {plain_name(call.name)}")
        self._arguments(call.arguments, "the arguments of an earlier call", None)

    def _context_result(self, message: Message) -> None:
        call = self._calls.get(message.call_id or "")
        if call is not None and call.result is not None and (call.result.content is not None or call.result.error):
            self._result(call)
            return
        key = (Role.TOOL, f"{message.call_id}\0{message.text}")
        if message.text is None or self._spoken[key]:
            return
        self._spoken[key] += 1
        whose, failed = "result of an earlier call", ""
        if call is not None:
            self._results_shown.add(id(call))
            whose = f"result of {self._aliases.call(call.id)}"
            failed = _FAILED if call.result is not None and call.result.failed else ""
        alias = None if call is None else self._aliases.call(call.id)
        self._returned(alias, message.text, failed=bool(failed))
        self._notes.line(whose + self._notes.at(message.ref) + failed + _cut_note(message.truncated))
        text = without_blanks(message.text)
        self._notes.text("", text, f"the {whose}", Kind.EARLIER if call is None else Kind.RESULT, alias)

    def _call(self, call: ToolCall, when: str = "") -> None:
        self._made[_as_made(call)] += 1
        if call.result is not None and call.result.content:
            self._made_by_content.setdefault(call.result.content.strip(), []).append(call)
        alias = self._aliases.call(call.id)
        self._notes.tool_name(call.name, Kind.ARGUMENTS, f"the name of the tool of {alias}")
        if (brief := self._notes.blocks[-1].brief) is not None:
            brief.calls.append((alias, plain_name(call.name)))
        notes = [f"{when}calls {alias}{self._notes.at(call.ref)} {plain_name(call.name)}"]
        if call.is_handoff:
            notes.append("a hand-off or output, no tool use")
        if call.provider_executed:
            notes.append("run by the model's provider")
        if call.awaiting_approval:
            notes.append("waits for a person's approval")
        if call.truncated:
            notes.append("recorded incompletely")
        if not call.from_model:
            notes.append("arguments as the tool received them, perhaps filled in by the framework")
        self._notes.line(", ".join(notes))
        self._arguments(call.arguments, f"the arguments of {alias}", alias)

    def _arguments(self, arguments: Arguments, label: str, call: str | None) -> None:
        if arguments is None:
            self._notes.line("arguments not recorded")
        elif isinstance(arguments, str):
            self._notes.text(" arguments, not a JSON object", arguments, label, Kind.ARGUMENTS, call)
        else:
            self._notes.text("", compact_json(arguments), label, Kind.ARGUMENTS, call)

    def _result(self, call: ToolCall) -> None:
        if id(call) in self._results_shown:
            return
        self._results_shown.add(id(call))
        alias = self._aliases.call(call.id)
        result = call.result
        if result is None:
            if not (call.is_handoff or call.awaiting_approval):
                self._notes.line(f"result of {alias} not recorded")
            return
        self._notes.line(f"result of {alias}" + self._result_notes(call, result))
        error, content = without_frames(result.error or ""), result.content
        if result.failed and content is not None:
            content = without_frames(content)
        self._returned(alias, content or "", failed=result.failed)
        if error and (content is None or is_told(content, error) or not is_told(error, content)):
            self._notes.text(" error", error, f"the error of {alias}", Kind.ERROR, alias)
        if content is not None and not (error and is_told(content, error)):
            kind = Kind.ERROR if result.failed else Kind.RESULT
            self._notes.text("", without_blanks(content), f"the result of {alias}", kind, alias)

    def _returned(self, alias: str | None, content: str, *, failed: bool) -> None:
        if alias is not None and (brief := self._notes.blocks[-1].brief) is not None:
            brief.returned.append(Returned(call=alias, chars=len(content), failed=failed))

    def _result_notes(self, call: ToolCall, result: ToolResult) -> str:
        notes = self._notes.at(result.ref) if result.ref != call.ref else ""
        if result.failed:
            notes += _FAILED
        elif result.content is None:
            notes += ", content not recorded"
        return notes + _cut_note(result.truncated)

    def _end(self) -> None:
        run = self._run
        if run.final_answer is not None:
            self._notes.line("final answer to the user")
            last_text = next((turn for turn in reversed(run.turns) if turn.text), None)
            if last_text is not None and last_text.text == run.final_answer:
                self._notes.blocks[-1].pieces.append(f" is the text of {turn_name(last_text.index)}")
            else:
                self._notes.text("", run.final_answer, "the final answer", Kind.ANSWER)
        elif run.answered is False:
            self._notes.line("The run ended without an answer to the user.")
        else:
            self._notes.line("final answer not recorded")
        if run.aborted:
            self._notes.line("The run broke off" + ("" if run.abort_reason else "."))
            if run.abort_reason:
                self._notes.text("", run.abort_reason, "the reason", Kind.ERROR)

    def _say(self, role: Role, text: str, words: str, *, truncated: bool = False) -> None:
        if role is Role.SYSTEM and self._spoken[role, text.strip()]:
            return
        self._spoken[role, text.strip()] += 1
        self._notes.line(words + _cut_note(truncated))
        self._notes.text("", text, f"the {words} above", _KINDS[role])


def _as_made(call: ToolCall) -> tuple[str, str]:
    """What is left of a call where its id isn't told."""
    arguments = call.arguments
    return call.name, arguments if isinstance(arguments, str) else compact_json(arguments or {})


def _cut_note(truncated: bool) -> str:
    return ", recorded incompletely" if truncated else ""
