"""Whether a later call made good for one that failed.

In go a run's steps and a failed one, out comes the later step that reached what the failed one was for: the same call
again, the same tool with corrected arguments, or another tool for the same thing.  Only what can hardly be anything
else counts.  The same tool for the next item of a list, or another tool for another part of the task, is no way out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import orjson

from evaluators.cases import JsonValue
from evaluators.rules.effects import Effect
from evaluators.rules.errors import ErrorClass
from evaluators.rules.evidence import CJK, Evidence, plain
from evaluators.rules.raw_arguments import ArgumentState, read_arguments
from evaluators.rules.repetition import Step, pause_s
from evaluators.rules.structured import scalars

_MOST_LATER = 200
_MOST_BEFORE = 200
_MOST_SUBJECTS = 20
_MAX_ASKED_CHARS = 10_000
_ALIKE = 1 / 3
_FREE_TEXT_CHARS = 24
_FEWEST_SHARED, _MOSTLY_SHARED = 5, 0.75


def way_out(failed: Step, steps: Sequence[Step], texts: Sequence[str]) -> Step | None:
    """The step that made good for `failed`; None when no step did, or nobody can tell without reading.

    Args:
        failed: a step whose call failed.
        steps: the run's, in order; `failed.index` is its place.
        texts: what else the agent had been told.
    """
    known = _Known(failed, steps, texts)
    for later in steps[failed.index + 1 : failed.index + 1 + _MOST_LATER]:
        if later.succeeded is not True or not _reacts(failed, later) or _brought_nothing(later):
            continue
        if later.call.name == failed.call.name:
            if later.arguments is not None and later.arguments == failed.arguments:
                return later
            if _corrects(failed, later, known):
                return later
        elif _replaces(failed, later):
            return later
    return None


def was_tried_again(failed: Step, steps: Sequence[Step]) -> bool:
    """Whether the tool was called again after it had failed, with whatever arguments and success."""
    later = steps[failed.index + 1 : failed.index + 1 + _MOST_LATER]
    earlier = steps[max(failed.index - _MOST_BEFORE, 0) : failed.index]
    return any(step.call.name == failed.call.name and _reacts(failed, step) for step in later) or any(
        step.call.name == failed.call.name and step.arguments == failed.arguments and step.error is not None
        for step in earlier
    )


def subjects(step: Step) -> list[str]:
    """What a call was about: its arguments' values, as words to be looked for; none for mere switches."""
    values = (str(value).strip() for value in _values(step) if not isinstance(value, bool))
    return list(dict.fromkeys(value for value in values if len(value) > 1 or CJK.match(value)))[:_MOST_SUBJECTS]


def nouns(step: Step) -> frozenset[str]:
    """The words of a tool's name that say what it is about: `get_weather` is about weather."""
    bare = re.split(r"__|[./:]", step.call.name)[-1]
    words = (word.lower() for word in _WORD.findall(bare))
    return frozenset(word.removesuffix("s") if len(word) > 3 else word for word in words) - _SAY_NOTHING


def _brought_nothing(step: Step) -> bool:
    """Whether a look-up went well and has nothing in it: whether that is an answer only reading can tell."""
    content = step.call.result.content if step.call.result is not None else None
    return step.effect is not Effect.WRITE and (content or "").strip().lower() in _NOTHING


def _reacts(failed: Step, later: Step) -> bool:
    """Whether the agent knew of the failure when it made the later call: calls of one turn are made together."""
    if failed.turn is not None and later.turn is not None:
        return later.turn.index > failed.turn.index
    pause = pause_s(failed, later)
    return pause is None or pause >= 0


@dataclass(frozen=True)
class _Known:
    """What was known when a call failed, put together when it is first asked for."""

    failed: Step
    steps: Sequence[Step]
    texts: Sequence[str]

    @cached_property
    def before(self) -> Evidence:
        earlier = self.steps[max(self.failed.index - _MOST_BEFORE, 0) : self.failed.index]
        results = [step.call.result.content for step in earlier if step.call.result is not None]
        return Evidence([*(text for text in results if text), *self.texts])


def _corrects(failed: Step, later: Step, known: _Known) -> bool:
    """Whether the later call of the same tool is the failed one put right.

    What was added is, or an argument left out. A changed value is, if almost everything else of a long call stayed, or
    if one of the two wasn't there before: the wrong one was the agent's own, or the right one was found out. Two values
    that were both known are two things to be asked about.
    """
    if failed.arguments is None or later.arguments is None:
        return False
    was, became = _plain_values(failed), _plain_values(later)
    gone, new = was - became, became - was
    if not gone:
        return True
    if not new:
        # a list of which a part was given up is less than what was asked for
        return _keys(later) < _keys(failed) and gone <= _plain_values(failed, without=_keys(later))
    if len(was & became) >= _FEWEST_SHARED and len(was & became) >= _MOSTLY_SHARED * len(was | became):
        return True
    if any(len(value) > _FREE_TEXT_CHARS or " " in value for value in gone | new):
        return _alike(" ".join(sorted(was)), " ".join(sorted(became))) and not _gives_up_a_wish(was, became, known)
    if failed.error is not None and failed.error.kind is ErrorClass.TRANSIENT:
        return False  # no argument was at fault
    if not was & became and _is_another_number(gone, new, known):
        return False
    return not (all(map(known.before.says, gone)) and all(map(known.before.says, new)))


def _gives_up_a_wish(was: frozenset[str], became: frozenset[str], known: _Known) -> bool:
    """Whether a text lost a word of the user's and has one in its place that nobody had said: another table, another
    file."""
    lost, gained = _words(" ".join(was)) - _words(" ".join(became)), _words(" ".join(became)) - _words(" ".join(was))
    wished = {word for text in known.texts for word in _words(plain(text))}
    return bool(lost & wished) and any(not known.before.says(word) for word in gained)


def _is_another_number(gone: frozenset[str], new: frozenset[str], known: _Known) -> bool:
    """Whether a number that was asked for was exchanged for one that nobody had said: order 18 is no order 17."""
    lost, gained = (
        {int(digits) for text in values for digits in _DIGITS.findall(text)}
        for values in (filter(known.before.says, gone), [one for one in new if not known.before.says(one)])
    )
    return bool(lost) and bool(gained) and not lost & gained


def _replaces(failed: Step, later: Step) -> bool:
    """Whether another tool was asked for the same thing: its name is about the same, or it is one for anything."""
    if later.effect is Effect.WAIT or (failed.effect is Effect.READ and later.effect is Effect.WRITE):
        return False
    if failed.effect is Effect.WRITE and later.effect is Effect.READ:
        return False
    about, wanted = subjects(failed), nouns(failed)
    asked = plain(_text(later)[:_MAX_ASKED_CHARS])
    said = Evidence([asked])
    if not wanted or not all(said.says(plain(one)) for one in about):
        return False
    if wanted == nouns(later):
        return True
    # a search or a shell can be asked for anything: what it was asked has to say what, and about whom
    return bool(about) and _FOR_ANYTHING.search(later.call.name) is not None and any(one in asked for one in wanted)


def _plain_values(step: Step, *, without: Collection[str] = ()) -> frozenset[str]:
    return frozenset(plain(str(value).strip()) for value in _values(step, without)) - {""}


def _values(step: Step, without: Collection[str] = ()) -> Iterator[str | int | float | bool]:
    read = read_arguments(step.call)
    if read.state is ArgumentState.OBJECT:
        value: JsonValue = {key: inner for key, inner in read.value.items() if key not in without}
        yield from scalars(value)
    elif read.text:
        yield read.text


def _keys(step: Step) -> frozenset[str]:
    return frozenset(read_arguments(step.call).value)


def _text(step: Step) -> str:
    arguments = step.call.arguments
    if arguments is None or isinstance(arguments, str):
        return arguments or ""
    return orjson.dumps(dict(arguments), default=str).decode()


def _alike(one: str, other: str) -> bool:
    """Whether two texts share a good part of their words (of their characters, in scripts without blanks)."""
    first, second = _words(one), _words(other)
    return bool(first) and len(first & second) >= _ALIKE * len(first | second)


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|\w+", text))


_NOTHING = frozenset({"", "null", "none", "undefined"})
_DIGITS = re.compile(r"\d{1,30}")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\W\d_a-zA-Z]+")
_VERBS_AND_FILLERS = """
    get find search look lookup fetch read list query check show retrieve load request call run execute do use make
    create add insert send post put set update change edit write delete remove cancel book reserve buy pay submit start
    tool function api service data info information detail by for of to from the a an my all up in on with and or id
    name v one new current primary secondary backup fallback alternative alt cached live
"""
_SAY_NOTHING = frozenset(_VERBS_AND_FILLERS.split())
_FOR_ANYTHING = re.compile(r"search|web|browse|fetch|http|url|bash|shell|python|sql|terminal|query|exec", re.IGNORECASE)
