"""What a rubric is held against: the conversation of a run or session as exchanges, its calls, and the fields put out.

In: a `RunCase` or `SessionCase`.  Out: one `Material`, built once per case.  An exchange is a message of the user and
everything that the agent did until they spoke again; what a run only shows as history (in what its first turn was told)
counts as earlier exchanges.  Sub-agents' words are no outputs; their calls count.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property

from evaluators.cases import JsonValue, Message, Role, Run, RunCase, SessionCase, ToolCall, Turn
from evaluators.rubric.model import Input, Rubric
from evaluators.rubric.texts import Shape, as_text, compact, object_in, plain

_PREFIX = re.compile(r"^(?:(?:transfer|hand_?off|delegate)_(?:back_)?to_|functions?[._])")
_SHORT_REPLY = 80
_SEPARATORS = re.compile(r"__|[./:]")


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


@dataclass(frozen=True, slots=True)
class Made:
    """A call, or a turn of another agent, under all names it goes by, at its place in the order of everything."""

    names: tuple[str, ...]
    call: ToolCall | None
    ref: str | None
    place: int
    text: str | None = None


@dataclass(slots=True)
class Exchange:
    """A message of the user (None: not known) and what the agent did until they spoke again.

    `is_history`: it was over before the case began.  `called`: tools or other agents were used.
    """

    user: str | None
    outputs: list[Output] = field(default_factory=list)
    is_history: bool = False
    called: bool = False


@dataclass(frozen=True)
class Material:
    """All of it.

    `whole_history`: nothing was said before that isn't here.  `all_calls`: every call is known, so that one that isn't
    here wasn't made.
    """

    exchanges: Sequence[Exchange]
    made: Sequence[Made]
    whole_history: bool
    all_calls: bool
    uncut: bool
    ref: str | None
    rubric: Rubric
    texts: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def current(self) -> Exchange:
        """The exchange that is judged: the last one that is more than a short reply, such as one to thanks."""
        names = {one.name for one in self.rubric.inputs}
        for exchange in reversed(self.exchanges):
            if not exchange.is_history and _is_work(exchange, names):
                return exchange
        return self.exchanges[-1]

    @property
    def answer(self) -> Output | None:
        """What the agent put out last."""
        return self.current.outputs[-1] if self.current.outputs else None

    @cached_property
    def fields(self) -> Mapping[str, JsonValue]:
        """The fields that were found, by name."""
        return {one.name: value for one in self.rubric.inputs for value in self._values(one)}

    @cached_property
    def user_text(self) -> str:
        """Everything the user said."""
        return "\n".join(one.user for one in self.exchanges if one.user)

    @cached_property
    def results(self) -> Sequence[tuple[str, str | None]]:
        """What calls and other agents brought back, with its place."""
        found = []
        for one in self.made:
            result = one.call.result if one.call is not None else None
            if result is not None:
                found.append((result.content or result.error or "", result.ref or one.ref))
            elif one.text:
                found.append((one.text, one.ref))
        return found

    def text(self, name: str) -> str:
        """The text of a field, of the answer as it is (`answer_text`), of the user or of all results; "" if there is
        none."""
        if name == "user":
            return self.user_text
        if name == "results":
            return "\n".join(text for text, _ in self.results)
        if name == "answer_text":
            return self.answer.text if self.answer is not None else ""
        if name in self.texts:
            return self.texts[name]
        return as_text(self.fields.get(name))

    @cached_property
    def searchable(self) -> Sequence[tuple[str, str, str | None]]:
        """Every text in which a quote may stand, in compact form, with its name and place: fields first."""
        return [(name, compact(plain(text)), ref) for name, text, ref in self._texts()]

    def _texts(self) -> Iterator[tuple[str, str, str | None]]:
        at = self.answer.ref if self.answer is not None else self.ref
        for name, value in self.fields.items():
            yield name, as_text(value), at
        for name, text in self.texts.items():
            yield name, text, self.ref
        for number, exchange in enumerate(reversed(self.exchanges)):
            for place, output in enumerate(reversed(exchange.outputs)):
                yield f"output {number}.{place}", output.text, output.ref
        for number, exchange in enumerate(self.exchanges):
            if exchange.user:
                yield f"user {number}", exchange.user, None
        for number, (text, ref) in enumerate(self.results):
            yield f"result {number}", text, ref
        for number, made in enumerate(self.made):
            if made.call is not None:
                given = made.call.arguments
                written = given if isinstance(given, str) else as_text(dict(given) if given is not None else None)
                yield f"call {number}", f"{made.call.name} {written}", made.ref

    def called(self, names: Iterable[str]) -> list[Made]:
        """What goes by one of these names, in order."""
        wanted = [_pattern(name) for name in names]
        return [one for one in self.made if any(fnmatchcase(name, want) for name in one.names for want in wanted)]

    def _values(self, one: Input) -> Iterator[JsonValue]:
        """The value of a field, or nothing."""
        for holder in self._holders(one):
            if one.name in holder:
                yield holder[one.name]
                return
        if one.whole_answer and self.answer is not None and self.answer.read[0] is None:
            yield self.answer.text

    def _holders(self, one: Input) -> Iterator[Mapping[str, JsonValue]]:
        outputs = self.current.outputs
        for source in one.sources:
            if source == "answer":
                texts = outputs[-1:]
            elif source == "messages":
                texts = outputs[-2::-1]
            else:
                calls = self.called(one.tools) if one.tools else self.made
                yield from (inner for made in reversed(calls) for inner in objects_in(made.call))
                continue
            yield from (found for text in texts if (found := text.read[0]) is not None)


def material_of(case: RunCase | SessionCase, rubric: Rubric, texts: Mapping[str, str] | None = None) -> Material:
    """The material of a case, with further texts by name that count like those of the run."""
    runs = case.runs if isinstance(case, SessionCase) and case.runs else (case.run,)
    reader = _Reader(rubric.asks_back)
    for run in runs:
        reader.read(run)
    history_known = isinstance(case, SessionCase) or reader.opened
    return Material(
        exchanges=reader.exchanges or [Exchange(None)],
        made=reader.made,
        whole_history=history_known,
        all_calls=reader.all_calls and not any(run.partial or "tool_calls" in run.missing for run in runs),
        uncut=not any(run.truncated for run in runs),
        ref=runs[-1].ref,
        rubric=rubric,
        texts=texts or {},
    )


def tool_name(name: str) -> str:
    """A name as names are compared: lower case, underscores, without namespace and prefixes of hand-offs."""
    last = _SEPARATORS.split(name.strip())[-1] or name
    return _PREFIX.sub("", last.casefold().replace("-", "_").replace(" ", "_"))


def _pattern(name: str) -> str:
    return name.casefold().replace("-", "_").replace(" ", "_")


class _Reader:
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
        first = next((turn for turn in run.turns if turn.context is not None), None)
        is_first = not self.exchanges
        inputs = list(run.user_inputs or ())
        if is_first and first is not None:
            self.opened = True
            self._history([one for one in first.context or () if one.role is not Role.SYSTEM], inputs)
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

    def _history(self, messages: Sequence[Message], inputs: Sequence[str]) -> None:
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
            self.made.append(Made((tool_name(turn.agent),), None, turn.ref, self._next(), turn.text))
        for call in turn.calls:
            self._call(call, turn.ref)

    def _call(self, call: ToolCall, ref: str | None) -> None:
        names = [tool_name(call.name)]
        # a tool that delegates names whom it asks in an argument
        if isinstance(call.arguments, Mapping):
            names += [tool_name(one) for one in call.arguments.values() if isinstance(one, str) and len(one) <= 64]
        self.made.append(Made(tuple(names), call, call.ref or ref, self._next()))
        if self.exchanges:
            self.exchanges[-1].called = True

    def _user(self, text: str | None) -> None:
        self.exchanges.append(Exchange(text))

    def _next(self) -> int:
        self._place += 1
        return self._place


def _is_work(exchange: Exchange, fields: Collection[str]) -> bool:
    return exchange.called or any(
        len(one.text) > _SHORT_REPLY or not (one.read[0] or {}).keys().isdisjoint(fields) for one in exchange.outputs
    )


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
