"""What is remembered of an endpoint: what is ignored, what stops working, and what one odd answer doesn't change."""

from __future__ import annotations

from dataclasses import replace

from evaluators.judge.endpoint.lessons import Sent
from evaluators.judge.endpoint.manner import SCHEMA_MODES, Manner, Mode, Parameter, Role
from evaluators.judge.endpoint.memory import Memory
from evaluators.judge.endpoint.refusal import Refusal

_NO_SCHEMA = Refusal(words="response_format json_schema is not supported")
_NO_TOOL = Refusal(words="tools are not supported")
_NO_FORMAT = Refusal(words="response_format is not supported")


def _sent(memory: Memory, below: Mode | None = None) -> Sent:
    return Sent(mode=memory.manner.mode(below), parameters=frozenset({"max_tokens"}), manner=memory.manner)


def _in_words() -> Memory:
    """Of an endpoint that takes nothing but words, and answers to them."""
    memory = Memory()
    for refusal in (_NO_SCHEMA, _NO_TOOL, _NO_FORMAT):
        memory.refused(_sent(memory), refusal)
    assert memory.manner.mode() is Mode.TEXT
    return memory


def test_modes_are_tried_from_the_strongest_down() -> None:
    memory, met = Memory(), []
    for refusal in (_NO_SCHEMA, _NO_TOOL, _NO_FORMAT):
        met.append(memory.manner.mode())
        assert memory.refused(_sent(memory), refusal)
    assert [*met, memory.manner.mode()] == [Mode.STRICT_SCHEMA, Mode.TOOL_CALL, Mode.JSON_OBJECT, Mode.TEXT]


def test_what_another_request_learnt_meanwhile_is_not_learnt_twice() -> None:
    memory = Memory()
    first, second = _sent(memory), _sent(memory)
    assert memory.refused(first, _NO_SCHEMA)
    learnt = memory.manner
    assert memory.refused(second, _NO_SCHEMA) == ""
    assert memory.manner == learnt


def test_answers_without_form_have_to_follow_each_other() -> None:
    memory = Memory()
    for has_form in (False, True, False, True, False, None):
        assert memory.answered(_sent(memory), has_form=has_form) == ""
    assert memory.answered(_sent(memory), has_form=False)
    assert memory.manner.unusable == SCHEMA_MODES


def test_answers_in_a_weaker_mode_say_nothing_about_the_stronger() -> None:
    memory = Memory()
    memory.answered(_sent(memory), has_form=False)
    memory.answered(_sent(memory, Mode.STRICT_SCHEMA), has_form=True)
    assert memory.answered(_sent(memory), has_form=False)


def test_a_refusal_of_the_weaker_mode_does_not_forget_that_the_stronger_was_ignored() -> None:
    memory = Memory()
    memory.answered(_sent(memory), has_form=False)
    memory.refused(_sent(memory, Mode.STRICT_SCHEMA), _NO_TOOL)
    assert memory.manner.mode() is Mode.STRICT_SCHEMA
    assert memory.answered(_sent(memory), has_form=False)
    assert memory.manner.mode() is Mode.JSON_OBJECT


def test_below_a_mode_the_next_asks_by_other_means() -> None:
    manner = Manner()
    assert manner.mode(Mode.STRICT_SCHEMA) is Mode.TOOL_CALL
    assert manner.mode(Mode.TOOL_CALL) is Mode.JSON_OBJECT
    assert manner.mode(Mode.TEXT) is Mode.TEXT
    assert replace(manner, unusable=SCHEMA_MODES).mode(Mode.STRICT_SCHEMA) is Mode.TOOL_CALL


def test_a_model_that_never_kept_to_words_is_not_asked_otherwise_again_and_again() -> None:
    memory = _in_words()
    for _ in range(50):
        assert memory.answered(_sent(memory), has_form=False) == ""
    assert memory.manner.mode() is Mode.TEXT


def test_words_that_used_to_do_and_no_longer_do_are_a_reason_to_begin_anew() -> None:
    memory = _in_words()
    memory.answered(_sent(memory), has_form=True)
    learnt = [memory.answered(_sent(memory), has_form=False) for _ in range(6)]
    assert learnt[:-1] == [""] * 5
    assert learnt[-1]
    assert memory.manner.mode() is Mode.STRICT_SCHEMA


def test_beginning_anew_keeps_what_is_known_of_parameters_and_roles() -> None:
    memory = Memory()
    memory.refused(_sent(memory), Refusal(words="System role not supported"))
    memory.leave_out(_sent(memory), Parameter.OUTPUT_LIMIT)
    memory.refused(_sent(memory), _NO_SCHEMA)
    memory.answered(_sent(memory), has_form=True)
    memory.refused(_sent(memory), _NO_TOOL)
    assert memory.manner == Manner(role=Role.USER, left_out=frozenset({Parameter.OUTPUT_LIMIT}))


def test_bounds_are_tried_once() -> None:
    memory = Memory()
    assert memory.bound(_sent(memory))
    assert memory.manner.bounded_schemas
    assert memory.bound(_sent(memory)) is None
    assert memory.refused(_sent(memory), Refusal(words="maxItems is not supported in schema"))
    assert not memory.manner.bounded_schemas
    assert memory.bound(_sent(memory)) is None


def test_where_words_alone_ask_for_the_form_there_is_nothing_to_bound() -> None:
    memory = _in_words()
    assert memory.bound(_sent(memory)) is None
