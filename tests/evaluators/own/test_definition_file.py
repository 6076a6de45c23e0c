"""Files that define evaluators: what is wrong with one is told with file, line, key and remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluators.definition_file import MAX_BYTES, DefinitionError, read_definition
from evaluators.prompt_file import PromptDefinition

GOOD = """---
judges: run
threshold: 0.5
labels: {polite: 1, rude: 0}
---
Judge the tone.
"""


def read(tmp_path: Path, text: str | bytes, name: str = "tone.md") -> PromptDefinition:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_definition(path, PromptDefinition, body="criteria")


def fault(tmp_path: Path, text: str | bytes) -> str:
    with pytest.raises(DefinitionError) as caught:
        read(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path / 'tone.md'}: ")
    return str(caught.value).removeprefix(f"{tmp_path / 'tone.md'}: ")


def test_markdown_below_keys_and_yaml_alone_say_the_same(tmp_path: Path) -> None:
    alone = "judges: run\nthreshold: 0.5\nlabels: {polite: 1, rude: 0}\ncriteria: Judge the tone.\n"
    assert read(tmp_path, GOOD) == read(tmp_path, alone, "tone.yaml")


def test_words_that_older_yaml_takes_for_booleans_are_labels(tmp_path: Path) -> None:
    assert list(read(tmp_path, GOOD.replace("polite", "yes").replace("rude", "no")).labels) == ["yes", "no"]


def test_lines_of_windows_and_a_byte_order_mark_are_no_fault(tmp_path: Path) -> None:
    assert read(tmp_path, "\ufeff" + GOOD.replace("\n", "\r\n")) == read(tmp_path, GOOD)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("judges: run", "judges: runs", "line 2, judges: is none of the possible values; use"),
        ("judges: run\n", "", "judges: is missing; add it"),
        ("polite: 1", "polite: 2", "line 4, labels.polite: has to be at most 1.0; correct it"),
        ("polite: 1", "polite: high", "line 4, labels.polite: "),
        ("{polite: 1", "{" + "x" * 300 + ": 1", "line 4, labels." + "x" * 64 + ": "),
        ("threshold: 0.5", "treshold: 0.5", "line 3, treshold: is no key here; did you mean threshold?"),
        ("threshold: 0.5", "threshold: 0.5\nthreshold: 1", "line 4, threshold: this key is already given in line 3"),
        ("{polite: 1", "{polite: 1]", "line 4, column "),
        ("polite: 1", '"a\\nb": 1', "a label has up to 40 printable characters"),
        ("rude: 0", "rude: 0.7", "line 2: with threshold 0.5 every label passes; give the labels scores on both sides"),
        ("rude: 0", "rude: null", "every label passes"),
        ("0.5\nlabels: {polite: 1", "1\nlabels: {polite: 0.9", "with threshold 1 no label passes"),
        (
            "the tone",
            "the tone of {{ output }}",
            "line 6, criteria: {{ output }} is a placeholder, and nothing is filled",
        ),
        ("the tone", "the tone of {response}", "line 6, criteria: {response} is a placeholder"),
        ("Judge the tone.", "x" * 12_001, "line 6, criteria: is longer than 12,000 characters; shorten it"),
        ("Judge the tone.\n", "", "criteria: is missing; add it"),
        ("Judge the tone.", "  ", "criteria: is missing; add it"),
        (
            "labels: {polite: 1, rude: 0}\n",
            "labels: {polite: 1, rude: 0}\ncriteria: x\n",
            "criteria: is given as a key and",
        ),
        ("rude: 0}\n---", "rude: 0}", "line 1: the keys at the top are not closed by a line ---; write --- below"),
    ],
)
def test_a_fault_is_told_with_line_key_and_remedy(tmp_path: Path, old: str, new: str, told: str) -> None:
    assert old in GOOD
    assert told in fault(tmp_path, GOOD.replace(old, new, 1))


def test_all_faults_are_told_at_once_and_very_many_are_counted(tmp_path: Path) -> None:
    several = "judges: x\nthreshold: 2\nlabels: 3\ncriteria: ''\na: 1\nb: 2\n"
    told = fault(tmp_path, several)
    assert [key in told for key in ("line 1, judges", "line 2, threshold", "line 3, labels", "and 2 more")] == [
        True
    ] * 4


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"\xff\xfe\x00", "is not UTF-8 text; save it as UTF-8"),
        (b"x" * (MAX_BYTES + 1), "is larger than 1 MiB; shorten it"),
        (b"- a\n- b\n", "has no keys at the top; begin with a line ---"),
        (b"Judge the tone.\n", "has no keys at the top; begin with a line ---"),
        (b"", "has no keys at the top; begin with a line ---"),
    ],
)
def test_what_is_no_definition_at_all_is_told_as_such(tmp_path: Path, content: bytes, told: str) -> None:
    assert told in fault(tmp_path, content)


def test_a_file_that_is_not_there_is_told_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match="can't be read: No such file or directory; check the path"):
        read_definition(tmp_path / "no.md", PromptDefinition)
