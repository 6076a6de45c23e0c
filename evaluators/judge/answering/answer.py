"""From a model's words to validated answers, or to what is wrong with them.

In: the text of a reply and the questions it answers.  Out, per question: an instance of its `answer_type` with real
ids and refs, or the faults in words that can be shown to the model and to an operator.  Never repairs a label, a number
or a count, and never repeats the model's own words in a fault.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import orjson
from pydantic import BaseModel, ValidationError

from evaluators.cases import JsonValue
from evaluators.judge.answering.schema import CALL, CALLS, asks_for_evidence, fields_of_calls, has_own_evidence, is_flat
from evaluators.judge.question import NamedQuestion, Question
from evaluators.judge.showing.aliases import Aliases
from evaluators.judge.showing.control import Control
from evaluators.judge.strict_schema import CALL_ID, EVIDENCE

MAX_TEXT_CHARS = 600
_MAX_FAULTS = 5
_MAX_DEPTH = 16
_MOST_ITEMS = 500
_MOST_READ = 10_000
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]+")
"""Control characters, and those that change how a text looks without being seen."""
_PLAIN_KEY = re.compile(r"[a-z][a-z0-9_]{0,39}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A valid answer.

    `made_up_evidence` counts the names that stand for no place of the run; they were dropped.  `written` is the answer
    as the model wrote it, with the run's aliases and nothing redacted; `read_answer` reads it again.
    """

    content: BaseModel
    written: Mapping[str, JsonValue]
    evidence: tuple[str, ...]
    made_up_evidence: int


@dataclass(frozen=True, slots=True)
class Junk:
    """What is wrong with an answer. `unreading`: it came with wrong answers to the control statements."""

    faults: tuple[str, ...]
    unreading: bool = False


def read_reply(
    text: str | None,
    asked: Sequence[NamedQuestion],
    aliases: Aliases,
    redact: Callable[[str], str],
    control: Control | None = None,
) -> dict[str, Read | Junk]:
    """The answer to each named question.

    Args:
        text: what the model wrote.
        asked: the questions under the names by which the reply must know them.
        aliases: those under which the run was shown.
        redact: applied to every text the model wrote.
        control: what was asked to see whether the model answers by what it reads. If it doesn't, none of its answers
            count.
    """
    reply = _parse(text)
    if not isinstance(reply, Junk) and control is not None and (fault := control.fault(reply)) is not None:
        reply = Junk((fault,), unreading=control.met(reply) is False)
    if isinstance(reply, Junk):
        return {name: reply for name, _ in asked}
    return {name: read_answer(name, reply.get(name), question, aliases, redact) for name, question in asked}


def control_is_met(text: str | None, control: Control) -> bool | None:
    """Whether a reply answers control statements rightly; None if it isn't of the form that was asked for."""
    reply = _parse(text)
    return None if isinstance(reply, Junk) else control.met(reply)


def _parse(text: str | None) -> dict[str, JsonValue] | Junk:
    if text is None or not text.strip():
        return Junk(("the answer was empty",))
    try:
        reply = orjson.loads(text)
    except orjson.JSONDecodeError:
        return Junk(("the answer was not JSON, or more than one JSON object",))
    if not isinstance(reply, dict):
        return Junk(("the answer was not a JSON object",))
    try:
        json.loads(text, object_pairs_hook=_without_contradiction)
    except _ContradictionError:
        return Junk(("the answer had the same property twice",))
    except RecursionError:
        return Junk(("the answer was nested too deeply",))
    return reply


class _ContradictionError(Exception):
    """An object says two things of the same property; which of them is meant can't be known."""


def _without_contradiction(pairs: list[tuple[str, JsonValue]]) -> None:
    if len({key for key, _ in pairs}) < len(pairs):
        raise _ContradictionError


def read_answer(
    name: str, value: JsonValue, question: Question, aliases: Aliases, redact: Callable[[str], str]
) -> Read | Junk:
    """The answer to one question, which the reply knows by `name`."""
    if not isinstance(value, dict):
        return Junk((f"{name} was missing" if value is None else f"{name} was not an object",))
    translation = _Translation(aliases, redact)
    translated = translation.object(value, name)
    if not has_own_evidence(question.answer_type):
        translated.pop(EVIDENCE, None)
    if question.call_ids:
        translation.faults += _list_calls(name, translated, question, aliases)
    if translation.faults:
        return Junk(tuple(translation.faults[:_MAX_FAULTS]))
    try:
        content = question.answer_type.model_validate_json(orjson.dumps(translated), strict=True)
    except ValidationError as error:
        called = [aliases.call(call_id) for call_id in dict.fromkeys(question.call_ids)]
        return Junk(tuple(_faults(name, error, question, called)))
    return Read(
        content=content,
        written=value,
        evidence=_evidence(translation, question, aliases),
        made_up_evidence=translation.made_up_evidence,
    )


def _evidence(translation: _Translation, question: Question, aliases: Aliases) -> tuple[str, ...]:
    """What an answer rests on: what it names, or the only place there is."""
    if has_own_evidence(question.answer_type) or asks_for_evidence(question.answer_type, aliases):
        return tuple(dict.fromkeys(translation.evidence))
    refs = map(aliases.ref, aliases.places)
    return tuple(ref for ref in refs if ref is not None)


class _Translation:
    """Puts ids for aliases in an answer, and redacts and cuts its texts."""

    def __init__(self, aliases: Aliases, redact: Callable[[str], str]) -> None:
        self.faults: list[str] = []
        self.evidence: list[str] = []
        self.made_up_evidence = 0
        self._aliases = aliases
        self._redact = redact

    def object(self, value: dict[str, JsonValue], where: str, depth: int = 0) -> dict[str, JsonValue]:
        return {key: self._field(key, inner, f"{where}.{_key(key)}", depth) for key, inner in value.items()}

    def _field(self, key: str, value: JsonValue, where: str, depth: int) -> JsonValue:
        if key == EVIDENCE:
            return self._evidence(value, where)
        if key == CALL_ID:
            return self._call_id(value, where)
        return self._any(value, where, depth + 1)

    def _any(self, value: JsonValue, where: str, depth: int) -> JsonValue:
        if depth > _MAX_DEPTH:
            self.faults.append("the answer was nested too deeply")
            return None
        if isinstance(value, dict):
            return self.object(value, where, depth)
        if isinstance(value, list):
            if len(value) > _MOST_ITEMS:
                self.faults.append(f"{where} had more than {_MOST_ITEMS} items")
                return []
            return [self._any(inner, f"{where}[{place}]", depth + 1) for place, inner in enumerate(value)]
        if isinstance(value, str):
            return _cut(self._redact(_UNPRINTABLE.sub(" ", value[:_MOST_READ])))
        return value

    def _call_id(self, value: JsonValue, where: str) -> JsonValue:
        if value is None:
            return None
        call_id = self._aliases.call_id(value) if isinstance(value, str) else None
        if call_id is None:
            self.faults.append(f"{where} named a call that is not in the record")
        return call_id

    def _evidence(self, value: JsonValue, where: str) -> JsonValue:
        if not isinstance(value, list) or len(value) > _MOST_ITEMS:
            fault = "was not a list" if not isinstance(value, list) else f"had more than {_MOST_ITEMS} items"
            self.faults.append(f"{where} {fault}")
            return []
        refs = [self._aliases.ref(item.strip("[] ")) if isinstance(item, str) else None for item in value]
        known = list(dict.fromkeys(ref for ref in refs if ref is not None))
        self.made_up_evidence += refs.count(None)
        self.evidence += known
        return [*known]


def _list_calls(name: str, answer: dict[str, JsonValue], question: Question, aliases: Aliases) -> list[str]:
    """Makes the list that the answer type knows of what the schema asks for per call, and says what is wrong."""
    by_alias = {aliases.call(call_id): call_id for call_id in question.call_ids}
    if is_flat(question.answer_type, len(by_alias)):
        of_call = fields_of_calls(question.answer_type)
        own = {key: answer.pop(key) for key in list(answer) if key in of_call}
        answers: Mapping[str, JsonValue] = {next(iter(by_alias)): own}
    elif len(by_alias) == 1:
        answers = {next(iter(by_alias)): answer.pop(CALL, None)}
    elif not isinstance(found := answer.get(CALLS), dict) or set(found) != set(by_alias):
        return [f"{name}.{CALLS} did not have exactly the properties {', '.join(by_alias)}"]
    else:
        answers = found
    items: list[JsonValue] = []
    for alias, call_id in by_alias.items():
        item = answers[alias]
        if not isinstance(item, dict):
            return [f"{name}{_place_of_call(alias, question)} was not an object"]
        items.append({**item, CALL_ID: call_id})
    answer[CALLS] = items
    return []


def _place_of_call(alias: str, question: Question) -> str:
    calls = len(set(question.call_ids))
    if is_flat(question.answer_type, calls):
        return ""
    return f".{CALL}" if calls == 1 else f".{CALLS}.{alias}"


def _faults(name: str, error: ValidationError, question: Question, called: Sequence[str]) -> list[str]:
    """What pydantic found, in the terms of the schema, without the values it found it in."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    listed = []
    for fault in found[:_MAX_FAULTS]:
        place = name
        for part in fault["loc"]:
            if isinstance(part, str):
                place += f".{_key(part)}"
            elif place == f"{name}.{CALLS}" and called:
                place = name + _place_of_call(called[part], question)
            else:
                place += f"[{part}]"
        listed.append(f"{place}: {fault['msg'][:200]}")
    return listed


def _key(key: str) -> str:
    return key if _PLAIN_KEY.fullmatch(key) else "?"


def _cut(text: str) -> str:
    return text if len(text) <= MAX_TEXT_CHARS else text[: MAX_TEXT_CHARS - 1].rstrip() + "…"
