"""What a reference expects of a run, one expectation at a time, with what code has seen of each.

In go a reference and a run, out come expectations: the outcome if the reference states one, else every output that is
required and every call that is expected.  What code has seen is a fact for a judge and decides nothing: another way to
the same end is as good, and words that stand in an answer can be denied there.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import orjson

from evaluators.cases import Reference, ReferenceCall, Run
from evaluators.issues import IssueCode
from evaluators.judge.question import call_name
from evaluators.reference.calls import Call, expected_calls, made_calls, too_large
from evaluators.reference.comparator import Comparator
from evaluators.rules.errors import error_of
from evaluators.rules.evidence import plain
from evaluators.rules.numbers import numbers
from evaluators.rules.reading import reading_of

MOST = 40
_MAX_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class Expectation:
    """One thing that should have come of a run.

    `name` is how the judge's answer knows it, `kind` a word for people, `seen` what code saw of it (for the judge),
    `found` the same in one word: yes, no, or other where something near it was seen; None where code can't look.
    """

    name: str
    kind: str
    text: str
    code: IssueCode
    seen: str | None = None
    found: str | None = None


def expectations(reference: Reference | None, run: Run) -> tuple[Expectation, ...]:
    """What the reference expects; empty where it says nothing of the outcome, or more than `MOST` things."""
    if reference is None:
        return ()
    if reference.outcome and reference.outcome.strip():
        return (Expectation("r1", "outcome", reference.outcome[:_MAX_CHARS], IssueCode.WRONG_ANSWER),)
    if how_many(reference) > MOST:
        return ()
    found = [_output(text, run) for text in _outputs(reference)]
    made = made_calls(run, reference.tool_calls or ())
    calls = zip(reference.tool_calls or (), expected_calls(reference.tool_calls or ()), strict=True)
    failed = {call.id for call in run.calls if error_of(call.result) is not None}
    comparable = too_large(made, expected_calls(reference.tool_calls or ())) is None
    found += [_call(told, wanted, made if comparable else None, failed) for told, wanted in calls]
    if reference.tool_calls == ():
        seen = f"{len(made)} calls were made" if made else "no call was made"
        text = "Nothing is to be looked up or done with tools."
        found.append(Expectation("", "no calls", text, IssueCode.EXTRA_CALL, seen, "no" if made else "yes"))
    return tuple(
        Expectation(f"r{number}", one.kind, one.text, one.code, one.seen, one.found)
        for number, one in enumerate(found, 1)
    )


def how_many(reference: Reference | None) -> int:
    """How many expectations a reference has."""
    if reference is None:
        return 0
    if reference.outcome and reference.outcome.strip():
        return 1
    return len(_outputs(reference)) + len(reference.tool_calls or ()) + (reference.tool_calls == ())


def _outputs(reference: Reference) -> list[str]:
    return [text for text in dict.fromkeys(reference.required_outputs or ()) if text.strip()]


def _output(text: str, run: Run) -> Expectation:
    """An output that the user must have been told, at any time."""
    answers = [turn.text for turn in run.turns if turn.text] + ([run.final_answer] if run.final_answer else [])
    stands = any(_holds(answer, text) for answer in answers)
    seen = (
        "it stands in what the user was told" if stands else "it doesn't stand word for word in what the user was told"
    )
    return Expectation(
        "",
        "required output",
        f"The user is told: {text[:_MAX_CHARS]}",
        IssueCode.WRONG_ANSWER,
        seen,
        "yes" if stands else "no",
    )


def _holds(answer: str, text: str) -> bool:
    """Whether the text stands there, or the number that it is, however it is written."""
    if " ".join(plain(text).split()) in " ".join(plain(answer).split()):
        return True
    # 40.00 can be read in two ways; either will do for a hint
    return _is_number(text) and not numbers(text).isdisjoint(reading_of(answer).numbers)


def _is_number(text: str) -> bool:
    return any(letter.isdigit() for letter in text) and not any(letter.isalpha() for letter in text)


def _call(told: ReferenceCall, wanted: Call, made: Sequence[Call] | None, failed: Collection[str]) -> Expectation:
    arguments = "" if told.arguments is None else orjson.dumps(dict(told.arguments), default=str).decode()
    text = f"What this call brings about: {told.name}({arguments[:_MAX_CHARS]})"
    if made is None:
        return Expectation("", "expected call", text, IssueCode.MISSING_CALL)
    of_tool = [call for call in made if call.name == wanted.name]
    same = [call for call in of_tool if _same_arguments(wanted, call)]
    done = next((call for call in same if not call.failed and call.id not in failed), None)
    if done is not None:
        seen, found = f"{_named(done)} made it with these arguments and didn't fail", "yes"
    elif same:
        seen, found = f"{_named(same[-1])} made it with these arguments and failed", "other"
    elif of_tool:
        seen, found = f"{_named(of_tool[-1])} called the tool with other arguments", "other"
    else:
        seen, found = "the tool was not called", "no"
    return Expectation("", "expected call", text, IssueCode.MISSING_CALL, seen, found)


def _same_arguments(wanted: Call, made: Call) -> bool:
    if wanted.arguments is None:
        return True
    if made.arguments is None or made.truncated:
        return False
    compared = Comparator().compare(
        wanted.name, dict(wanted.arguments), dict(made.arguments), only_expected=not made.from_model
    )
    return not compared.differences


def _named(call: Call) -> str:
    return "a call" if call.id is None else call_name(call.id)
