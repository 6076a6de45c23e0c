"""Files of references: what may stand in them, which run each is for, and what is said of mistakes."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import pytest

from evaluators.cases import Reference, ReferenceCall, Run
from evaluators.definition_file import DefinitionError
from evaluators.reference.file import input_hash, read_references
from evaluators.reference.form import ReferenceForm
from evaluators.reference.lookup import References


def written(tmp_path: Path, text: str, name: str = "references.yaml") -> Path:
    path = tmp_path / name
    path.write_text(text, "utf-8")
    return path


YAML = """\
references:
  - match: {attributes: {test.case.id: 17, prod: true}}
    outcome: Order 4711 is refunded.
    tool_calls:
      - {name: refund, arguments: {order: 4711}}
      - notify
    required_outputs: ["4711"]
  - match: {session: s-1}
    tool_calls: []
  - match: {session: s-1, input: "How  warm is it in Lima?"}
    key_actions: [get_weather]
"""
LINES = """\
{"match": {"session": "s-1"}, "outcome": "Refunded."}

{"match": {"input": "How warm?"}, "tool_calls": [{"name": "f", "arguments": {"n": 5.0}}]}
"""


def test_an_entry_says_which_runs_it_is_for_and_what_should_have_come_of_them(tmp_path: Path) -> None:
    first, second, third = (entry.as_reference("file") for entry in read_references(written(tmp_path, YAML)))
    assert first == Reference(
        outcome="Order 4711 is refunded.",
        tool_calls=(ReferenceCall(name="refund", arguments={"order": 4711}), ReferenceCall(name="notify")),
        required_outputs=("4711",),
        source="file",
    )
    assert (second.tool_calls, third.tool_calls, third.key_actions) == ((), None, ("get_weather",))


def test_in_json_lines_each_line_is_an_entry(tmp_path: Path) -> None:
    first, second = read_references(written(tmp_path, LINES, "references.jsonl"))
    assert (first.outcome, second.as_reference("file").tool_calls) == (
        "Refunded.",
        (ReferenceCall(name="f", arguments={"n": 5.0}),),
    )


FAULTS = [
    ("references.yaml", "references:\n  - match: {session: a}\n    outcom: x\n", "line 3.*did you mean outcome"),
    ("references.yaml", "references:\n  - match: {}\n    outcome: x\n", "line 2.*says nothing; give attributes"),
    ("references.yaml", "references:\n  - match: {session: a}\n", "line 2.*says nothing of the run; give task"),
    ("references.yaml", "references:\n  - outcome: x\n", "line 2.*match: is missing"),
    ("references.yaml", "references: x\n", "line 1.*has to be a list"),
    ("references.yaml", "- a\n", "not a map"),
    ("references.yaml", "references: [\n", "not valid YAML"),
    (
        "references.yaml",
        "references:\n  - match: {input: a, input_sha256: b}\n    outcome: x\n",
        "line 2.*input_sha256",
    ),
    ("references.jsonl", '{"match": {"session": "s"}, "outcome": "x"}\n{"match"\n', "line 2: is no JSON"),
    ("references.jsonl", '\n{"match": {"session": "s"}, "tool_calls": [{"nam": "x"}]}\n', "line 2.*did you mean name"),
    (
        "references.jsonl",
        '{"match": {"session": "s"}, "tool_calls": [{"name": "x", "arguments": "{"}]}',
        "line 1.*no JSON",
    ),
]


@pytest.mark.parametrize(("name", "text", "told"), FAULTS)
def test_a_mistake_is_told_with_its_line_and_what_to_do(tmp_path: Path, name: str, text: str, told: str) -> None:
    with pytest.raises(DefinitionError, match=told):
        read_references(written(tmp_path, text, name))


@pytest.mark.parametrize("name", ["gone.yaml", "gone.jsonl"])
def test_a_file_that_isn_t_there_is_told_by_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(DefinitionError, match=f"{name}: can't be read"):
        read_references(tmp_path / name)


def found(references: References, run: Run, *attributes: dict[str, Any]) -> Any:
    reference = references.find(run, attributes)
    return None if reference is None else reference.outcome or reference.tool_calls or reference.key_actions


def test_all_that_an_entry_asks_for_has_to_hold_and_the_first_entry_counts(tmp_path: Path) -> None:
    references = References(read_references(written(tmp_path, YAML)))
    refund = {"test.case.id": 17, "prod": True}
    assert found(references, Run(), refund) == "Order 4711 is refunded."
    assert found(references, Run(), {"test.case.id": "17"}, {"prod": "true"}) == "Order 4711 is refunded."
    assert found(references, Run(), {"test.case.id": 17}) is None
    assert found(references, Run(), {"test.case.id": 18}, refund) is None
    assert found(references, Run(session_id="s-1"), refund) == "Order 4711 is refunded."
    assert references.find(Run(session_id="s-1")) == Reference(tool_calls=(), source="file")
    assert references.find(Run(session_id="s-2", user_inputs=("How warm is it in Lima?",))) is None
    assert References(()).find(Run(session_id="s-1")) is None


def test_an_input_is_known_by_its_hash_whatever_its_white_space_and_unicode_form(tmp_path: Path) -> None:
    said = "Caf\u00e9  in\nLima?"
    digest = input_hash(["Café in Lima?"])
    assert digest == input_hash([said]) == input_hash([unicodedata.normalize("NFD", said)])
    assert digest == input_hash(["Café in", "Lima?"])
    for condition in ("input: 'Café in Lima?'", f"input_sha256: {digest}"):
        path = written(tmp_path, f"references:\n  - match: {{{condition}}}\n    outcome: Found.\n")
        assert found(References(read_references(path)), Run(user_inputs=(said,))) == "Found."
        assert found(References(read_references(path)), Run(user_inputs=("Tea?",))) is None
        assert found(References(read_references(path)), Run()) is None


def test_a_text_in_the_place_of_a_reference_is_the_outcome() -> None:
    assert ReferenceForm.model_validate("Refunded.").as_reference("case") == Reference(outcome="Refunded.")


def test_calls_may_be_in_the_form_of_chat_apis() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"n": 1}'}}
    reference = ReferenceForm.model_validate({"tool_calls": [call, "g"]}).as_reference("case")
    assert reference.tool_calls == (ReferenceCall(name="f", arguments={"n": 1}), ReferenceCall(name="g"))
