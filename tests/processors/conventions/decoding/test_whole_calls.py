"""Whole calls and whole replies as input and output of a tool's own span."""

from __future__ import annotations

from processors.conventions.decoding.calls import executed_arguments
from processors.conventions.decoding.results import output_of


def test_a_whole_call_as_input_is_read_as_its_arguments() -> None:
    given = '{"arguments": "{\\"branch\\": \\"Central\\"}", "name": "opening_hours"}'

    assert executed_arguments(given, "opening_hours") == {"branch": "Central"}


def test_a_tool_that_takes_the_name_of_another_and_arguments_for_it_keeps_both() -> None:
    given = {"arguments": {"branch": "Central"}, "name": "opening_hours"}

    assert executed_arguments(given, "run_remotely") == given


def test_arguments_that_were_no_json_are_the_text_that_they_were() -> None:
    assert executed_arguments('{"INVALID_JSON": "{\\"title\\": "}') == '{"title": '


def test_a_flag_before_the_message_says_whether_it_went_well() -> None:
    good = output_of('[true, {"name": "opening_hours", "role": "function", "content": "9 to 8"}]')
    bad = output_of('[false, {"name": "opening_hours", "role": "function", "content": "Error: closed"}]')

    assert (good.text, good.failed) == ("9 to 8", False)
    assert (bad.text, bad.failed) == ("Error: closed", True)


def test_lists_that_are_no_flag_and_message_are_results_as_they_are() -> None:
    assert output_of('[true, {"content": "9 to 8"}]').text == '[true, {"content": "9 to 8"}]'
