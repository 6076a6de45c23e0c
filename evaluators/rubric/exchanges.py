"""The conversation of runs as exchanges: a message of the user, and all that the agent did until they spoke again.

In: runs, one after another.  Out: exchanges, what was called in them, and whether that is known to be everything.  What
the first run was told of the time before it counts as history.  Sub-agents' words are no outputs; their calls count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from evaluators.cases import JsonValue, Message, Role, Run, ToolCall, Turn
from evaluators.rubric.texts import Shape, as_text, object_in

_PREFIX = re.compile(r"^(?:transfer|hand[_-]?off|delegate)[_-](?:back[_-])?to[_-]", re.IGNORECASE)
_SEPARATORS = re.compile(r"__|[./:]")
_LONGEST_GIVEN = 4_000
_DELEGATES = re.compile(r"agent|worker|assignee|recipient|delegate|^(?:name|to|target|type)$", re.IGNORECASE)
_LONGEST_NAME = 64


@dataclass(frozen=True)
class Output:
    """Something the agent wrote: a text (to the user, or on the way), with the JSON object it holds."""

    text: str
    ref: str | None
    place: int

    @cached_property
    def read(self) -> tuple[dict[str, JsonValue] | None, Shape]:
        """The object in it, and how it holds it."""
        return object_in(self.text)

    @cached_property
    def holders(self) -> Sequence[Mapping[str, JsonValue]]:
        """The objects that may hold fields: that one, and those in it."""
        found = self.read[0]
        return [found, *(one for one in found.values() if isinstance(one, dict))] if found is not None else []


@dataclass(frozen=True, slots=True)
class Made:
    """A call, or a turn of another agent, under all names it goes by, at its place in the order of everything.

    `mentions`: its name and what it was given, as one text in which names may occur.  `exchange`: in which one it was.
    """

    names: tuple[str, ...]
    call: ToolCall | None
    ref: str | None
    place: int
    exchange: int
    text: str | None = None
    mentions: str = ""


@dataclass(slots=True)
class Exchange:
    """A message of the user (None: not known) and what the agent did until they spoke again.

    `is_history`: it was over before the case began.  `called`: tools or other agents were used.
    """

    user: str | None
    outputs: list[Output] = field(default_factory=list)
    is_history: bool = False
    called: bool = False


class ExchangeReader:
    """Puts runs one after another into exchanges."""

    def __init__(self, asks_back: str | None) -> None:
        self._asks_back = asks_back
        self.exchanges: list[Exchange] = []
        self.made: list[Made] = []
        self.opened = False
        self.all_calls = True
        self._place = 0

    def read(self, run: Run) -> None:
        """Adds a run; what it shows of the time before it counts only where no run before it was read."""
        main = next((turn.agent for turn in run.turns), None)
        first = next((turn for turn in run.turns if turn.agent == main and turn.context is not None), None)
        is_first = not self.exchanges
        inputs = list(run.user_inputs or ())
        if is_first and first is not None:
            self.opened = True
            self._history([one for one in first.context or () if one.role is not Role.SYSTEM])
        for call in run.loose_calls:
            if call.earlier and is_first:
                self._call(call, None)
        seen = None
        for turn in run.turns:
            if turn.agent == main and (seen is None or turn.user_turn > seen):
                self._user(self._said_at(turn, inputs, opening=seen is None))
                seen = turn.user_turn
            self._turn(turn, is_main=turn.agent == main)
        if seen is None:
            self._user("\n".join(inputs) or None)
        for call in run.loose_calls:
            if not call.earlier:
                self._call(call, None)
        outputs = self.exchanges[-1].outputs
        # what is made for the user of an object that the agent wrote is no output of the agent's
        if run.final_answer is not None and not (
            outputs and (outputs[-1].read[0] is not None or outputs[-1].text.strip() == run.final_answer.strip())
        ):
            outputs.append(Output(run.final_answer, run.ref, self._next()))

    def _history(self, messages: Sequence[Message]) -> None:
        """What was said before the message that the run answers."""
        last = max((at for at, one in enumerate(messages) if one.role is Role.USER), default=len(messages))
        known = {call.id for one in messages for call in one.calls}
        for message in messages[:last]:
            if message.role is Role.USER:
                self.exchanges.append(Exchange(message.text, is_history=True))
            elif message.role is Role.ASSISTANT:
                if not self.exchanges:
                    self.exchanges.append(Exchange(None, is_history=True))
                if message.text:
                    self.exchanges[-1].outputs.append(Output(message.text, message.ref, self._next()))
                    # histories that are kept as text alone say nothing of calls
                    self.all_calls = self.all_calls and (bool(known) or self._only_asks(message.text))
                for call in message.calls:
                    self._call(call, message.ref)

    def _only_asks(self, text: str) -> bool:
        """Whether an output is no more than a question back, before which nothing else was done."""
        found, _ = object_in(text)
        return found is not None and self._asks_back is not None and found.get(self._asks_back) is True

    def _said_at(self, turn: Turn, inputs: list[str], *, opening: bool) -> str | None:
        said = [one.text for one in turn.context or () if one.role is Role.USER and one.text]
        if opening and len(inputs) == 1:
            return inputs[0]
        if said:
            return said[-1]
        return inputs[min(turn.user_turn, len(inputs) - 1)] if inputs else None

    def _turn(self, turn: Turn, *, is_main: bool) -> None:
        if turn.text and is_main:
            self.exchanges[-1].outputs.append(Output(turn.text, turn.ref, self._next()))
        if not is_main and turn.agent:
            self._made(turn.agent, (turn.agent,), None, turn.ref, turn.text)
        for call in turn.calls:
            self._call(call, turn.ref)

    def _call(self, call: ToolCall, ref: str | None) -> None:
        # a tool that delegates names whom it asks in an argument
        given = call.arguments.items() if isinstance(call.arguments, Mapping) else ()
        asked = [one for key, one in given if isinstance(one, str) and _DELEGATES.search(key)]
        names = (call.name, *(one for one in asked if len(one) <= _LONGEST_NAME))
        written = call.arguments if isinstance(call.arguments, str) else as_text(dict(given))
        self._made(f"{call.name} {written[:_LONGEST_GIVEN]}", names, call, call.ref or ref)
        if self.exchanges:
            self.exchanges[-1].called = True

    def _made(
        self, told: str, names: Sequence[str], call: ToolCall | None, ref: str | None, text: str | None = None
    ) -> None:
        spellings = tuple(dict.fromkeys(one for name in names for one in spellings_of(name)))
        place, at = self._next(), len(self.exchanges)
        self.made.append(Made(spellings, call, ref, place, at, text, mentions=squashed(told)))

    def _user(self, text: str | None) -> None:
        self.exchanges.append(Exchange(text))

    def _next(self) -> int:
        self._place += 1
        return self._place


def spellings_of(name: str) -> tuple[str, ...]:
    """A name as names are compared: alone, and with each of its namespaces before it; without prefixes of hand-offs."""
    *around, last = _SEPARATORS.split(name.strip())
    parts = [*around, _PREFIX.sub("", last)]
    ends = (squashed("".join(parts[at:])) for at in range(len(parts)))
    return tuple(dict.fromkeys(end for end in ends if end))


def squashed(name: str) -> str:
    """Its letters and digits without regard to case, and `*`."""
    return "".join(one for one in name.casefold() if one.isalnum() or one == "*")


def objects_in(call: ToolCall | None) -> Iterator[Mapping[str, JsonValue]]:
    """The objects in a call's arguments that may hold fields: they themselves, objects in them, and JSON in texts."""
    if call is None or not isinstance(call.arguments, Mapping):
        return
    yield call.arguments
    for value in call.arguments.values():
        if isinstance(value, dict):
            yield value
        elif isinstance(value, str) and value.lstrip()[:1] in ("{", "`") and (found := object_in(value)[0]) is not None:
            yield found
