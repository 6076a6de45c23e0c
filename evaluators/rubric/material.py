"""What a rubric is held against: exchanges of the user and the agent, calls, and the fields that were put out.

In: a `RunCase` or `SessionCase`.  Out: one `Material` per case, with everything that conditions and quotes look into.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property

from evaluators.cases import JsonValue, RunCase, SessionCase
from evaluators.rubric.exchanges import Exchange, ExchangeReader, Made, Output, objects_in, squashed
from evaluators.rubric.model import Input, Rubric
from evaluators.rubric.texts import as_text, compact, plain

_SHORT_REPLY = 80
_SHORTEST_NAME = 4


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
        """The text of a field, the answer as it is (`answer_text`), all of the user's words or all results; else ""."""
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
        only_output = self.rubric.quoted_from == "output"
        for number, exchange in enumerate(reversed(self.exchanges)):
            for place, output in enumerate(reversed(exchange.outputs)):
                if not only_output or exchange is self.current:
                    yield f"output {number}.{place}", output.text, output.ref
        if only_output:
            return
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
        wanted = [squashed(name) for name in names]
        return [one for one in self.made if any(fnmatchcase(name, want) for name in one.names for want in wanted)]

    def mentions(self, names: Iterable[str]) -> bool:
        """Whether one of these names occurs in a call's name or arguments, so that it may be what was used."""
        wanted = [name for name in (squashed(one).replace("*", "") for one in names) if len(name) >= _SHORTEST_NAME]
        return any(want in one.mentions for one in self.made for want in wanted)

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
            yield from (holder for text in texts for holder in text.holders)


def material_of(case: RunCase | SessionCase, rubric: Rubric, texts: Mapping[str, str] | None = None) -> Material:
    """The material of a case, with further texts by name that count like those of the run."""
    runs = case.runs if isinstance(case, SessionCase) and case.runs else (case.run,)
    reader = ExchangeReader(rubric.asks_back)
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


def _is_work(exchange: Exchange, fields: Collection[str]) -> bool:
    return exchange.called or any(
        len(one.text) > _SHORT_REPLY or any(not holder.keys().isdisjoint(fields) for holder in one.holders)
        for one in exchange.outputs
    )
