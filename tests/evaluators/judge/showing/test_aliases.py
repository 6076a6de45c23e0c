"""Calls and places have short names, and only names that were given lead back."""

from __future__ import annotations

from evaluators.cases import Run, ToolCall, Turn
from evaluators.judge.question import call_name
from evaluators.judge.showing.aliases import Aliases


def _aliases(*ids: str) -> Aliases:
    calls = tuple(ToolCall(id=call_id, name="f") for call_id in ids)
    return Aliases(Run(turns=(Turn(index=0, calls=calls),)))


def test_calls_are_numbered_in_the_order_of_the_run() -> None:
    aliases = _aliases("toolu_9", "toolu_1")
    assert (aliases.call("toolu_9"), aliases.call("toolu_1")) == ("c1", "c2")
    assert aliases.calls == ("c1", "c2")
    assert aliases.call_id("c2") == "toolu_1"


def test_a_place_keeps_its_first_name() -> None:
    aliases = _aliases()
    assert [aliases.place(ref) for ref in ("aa", "bb", "aa")] == ["e1", "e2", "e1"]
    assert aliases.ref("e2") == "bb"


def test_names_that_were_not_given_lead_nowhere() -> None:
    aliases = _aliases("toolu_9")
    assert aliases.call_id("c2") is None
    assert aliases.ref("e1") is None


def test_ids_in_the_words_of_an_evaluator_become_aliases() -> None:
    aliases = _aliases("call_abc", "call_abcd", "1")
    assert aliases.speak("call_abcd repeats call_abc") == "c2 repeats c1"
    assert aliases.speak(f"{call_name('1')} at turn 1") == "call c3 at turn 1"


def test_an_id_that_could_be_a_word_is_left_alone_unless_marked() -> None:
    aliases = _aliases("search", "12")
    assert aliases.speak("search for 12 days") == "search for 12 days"
    assert aliases.speak(call_name("search")) == "call c1"
