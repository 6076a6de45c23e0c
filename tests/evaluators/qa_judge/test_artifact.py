"""What was delivered: found where it was written, read only where that is allowed, and without its author's name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evaluators.cases import RunCase, ToolCall, ToolResult
from evaluators.qa_judge.artifact import MAX_FILE_BYTES, Artifact, artifact_of
from evaluators.qa_judge.assignment import assignment_of
from evaluators.qa_judge.kinds import ArtifactType, type_of
from evaluators.qa_judge.settings import QaJudgeSettings
from tests.evaluators.qa_judge.deliveries import delivery, write


def found(case: RunCase, **settings: object) -> Artifact | None:
    own = QaJudgeSettings.model_validate(settings)
    return artifact_of(case.run, assignment_of(case, own), own)


def texts(case: RunCase, **settings: object) -> dict[str, str]:
    artifact = found(case, **settings)
    return {} if artifact is None else {file.name: file.text for file in artifact.files}


@pytest.mark.parametrize(
    "tool",
    ["write_file", "create_file", "Write", "fs_write", "str_replace_based_edit_tool", "save_artifact", "edit-file"],
)
def test_what_tools_were_told_to_write_is_the_artifact(tool: str) -> None:
    assert texts(delivery(write("a.py", "x = 1", tool=tool))) == {"a.py": "x = 1"}


def test_a_tool_whose_name_does_not_say_so_is_named_in_the_settings() -> None:
    case = delivery(write("a.py", "x = 1", tool="publish"), answer=None)
    assert texts(case) == {}
    assert texts(case, write_tools=["pub*"]) == {"a.py": "x = 1"}


def test_the_last_version_of_each_file_counts_and_failed_writes_do_not() -> None:
    calls = (
        write("a.py", "old", id="1"),
        write("b.py", "other", id="2"),
        write("a.py", "new", id="3"),
        write("a.py", "never", id="4", error="disk full"),
    )
    assert texts(delivery(*calls)) == {"a.py": "new", "b.py": "other"}


def edit(path: str, old: str, new: str) -> ToolCall:
    arguments = {"path": path, "old_str": old, "new_str": new}
    return ToolCall(id="e", name="edit_file", arguments=arguments, result=ToolResult(content="ok"))


def test_edits_are_made_in_what_was_written_before() -> None:
    assert texts(delivery(write("a.py", "x = 1\ny = 2"), edit("a.py", "x = 1", "x = 3"))) == {"a.py": "x = 3\ny = 2"}


def test_of_an_edited_file_that_was_there_before_only_the_new_part_is_known() -> None:
    artifact = found(delivery(edit("a.py", "x", "y = 2")))
    assert artifact is not None
    assert [(file.text, file.cut) for file in artifact.files] == [("y = 2", True)]


def test_a_call_may_write_several_files() -> None:
    files = [{"path": "a.py", "content": "x"}, {"path": "b.md", "content": "y"}]
    call = ToolCall(id="c", name="write_files", arguments={"files": files}, result=ToolResult(content="ok"))
    assert texts(delivery(call)) == {"a.py": "x", "b.md": "y"}


def test_without_a_written_file_the_final_answer_is_the_artifact() -> None:
    assert texts(delivery(answer="A poem.")) == {"answer": "A poem."}
    assert found(delivery(answer=None)) is None
    assert found(delivery(answer=" ")) is None


def test_a_named_artifact_is_picked_out_of_what_was_written() -> None:
    calls = (write("notes.md", "draft", id="1"), write("/home/me/out/app.py", "x = 1", id="2"))
    assert texts(delivery(*calls, artifact_path="out/app.py")) == {"/home/me/out/app.py": "x = 1"}


def test_files_below_the_root_are_read_and_nothing_else_ever_is(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (root / "sub" / "app.py").write_text("x = 1")
    (root / "cycle").symlink_to("cycle")
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    (root / "link.txt").symlink_to(secret)
    (root / "out").symlink_to(tmp_path)
    os.mkfifo(root / "pipe")
    for inside in ("sub/app.py", str(root / "sub" / "app.py"), "sub/../sub/app.py"):
        assert list(texts(delivery(artifact_path=inside), root=root).values()) == ["x = 1"]
    outside = [
        "../secret.txt",
        str(secret),
        "link.txt",
        "out/secret.txt",
        "sub",
        "pipe",
        "cycle",
        "no.py",
        "a\0b",
        "/dev/zero",
    ]
    for path in outside:
        assert texts(delivery(artifact_path=path), root=root) == {"answer": "Done."}, path


def test_related_files_are_read_as_well_and_large_ones_are_cut(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1")
    (tmp_path / "b.txt").write_text("é" * MAX_FILE_BYTES)
    case = delivery(artifact_path="a.py", context={"related_files": ["b.txt", "../c"]})
    artifact = found(case, root=tmp_path)
    assert artifact is not None
    assert [(file.name, file.cut, len(file.text)) for file in artifact.files] == [
        ("a.py", False, 5),
        ("b.txt", True, MAX_FILE_BYTES // 2),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "# Author: Ann",
        "// @author ann",
        "__author__ = 'ann'",
        "作者：小明",
        " * Created by Ann",
        "Signed-off-by: Ann <a@b.c>",
        "<!-- Generated with Ann 7 -->",
    ],
)
def test_who_made_it_is_taken_out_and_lines_keep_their_number(line: str) -> None:
    artifact = found(delivery(write("a.py", f"{line}\nx = author_of(book)\n")))
    assert artifact is not None
    assert "nn" not in artifact.text
    assert "小明" not in artifact.text
    assert artifact.location("x = author_of(book)") == "a.py:2"


@pytest.mark.parametrize(
    ("files", "kind"),
    [
        ([("a.py", "")], ArtifactType.CODE),
        ([("Dockerfile", "")], ArtifactType.CODE),
        ([("C:\\docs\\a.MD", "")], ArtifactType.TEXT),
        ([("a.json", "")], ArtifactType.DATA),
        ([("flow.mmd", "")], ArtifactType.DESIGN),
        ([("a.py", ""), ("README.md", "")], ArtifactType.MIXED),
        ([(None, "Spring has come.\nBirds sing.")], ArtifactType.TEXT),
        ([(None, "春眠不觉晓，处处闻啼鸟。")], ArtifactType.TEXT),
        ([(None, '[{"a": 1}]')], ArtifactType.DATA),
        ([(None, "def f():\n    return 1\n")], ArtifactType.CODE),
        ([(None, "Here it is:\n\n```python\ndef f():\n    return 1\n```\n")], ArtifactType.CODE),
        ([(None, "Here it is:\n\n```json\n{}\n```\n")], ArtifactType.DATA),
        ([(None, "A word on it. " * 40 + "\n```python\ndef f():\n    return 1\n```\n")], ArtifactType.MIXED),
    ],
)
def test_the_type_is_told_by_names_and_content(files: list[tuple[str | None, str]], kind: ArtifactType) -> None:
    assert type_of(files) is kind


def test_a_type_that_is_given_goes_before_what_is_seen() -> None:
    artifact = found(delivery(write("a.py", "x"), artifact_type="design"))
    assert artifact is not None
    assert artifact.kind is ArtifactType.DESIGN


def test_pictures_are_named_and_not_read(tmp_path: Path) -> None:
    (tmp_path / "shot.png").write_bytes(b"\x89PNG")
    alone = found(delivery(artifact_path="shot.png", answer=None))
    assert alone is not None
    assert (alone.files, alone.kind, alone.unseen) == ((), ArtifactType.IMAGE, ("shot.png",))
    beside = found(delivery(write("a.py", "x"), write("logo.svg.png", "iVBOR", id="2")))
    assert beside is not None
    assert (len(beside.files), beside.kind, beside.unseen) == (1, ArtifactType.MIXED, ("logo.svg.png",))


def test_an_order_in_json_is_read_from_the_user_s_words() -> None:
    order = (
        '{"original_task": "Write a poem.", "acceptance_criteria": ["eight lines"], "target_agent": "poet", '
        '"artifact_path": "poem.md", "artifact_type": "text", "context": {"related_files": ["notes.md"], '
        '"previous_judgments": ["judge-1"], "priority": "P1"}}'
    )
    told = assignment_of(delivery(user=order), QaJudgeSettings(acceptance_criteria=("short",)))
    assert (told.original_task, told.acceptance_criteria, told.target_agent) == (
        "Write a poem.",
        ("eight lines",),
        "poet",
    )
    assert (told.artifact_path, told.artifact_type) == ("poem.md", ArtifactType.TEXT)
    assert (told.related_files, told.previous_judgments, told.priority) == (("notes.md",), ("judge-1",), "P1")


def test_what_nobody_said_is_taken_from_the_run_and_the_settings() -> None:
    told = assignment_of(delivery(), QaJudgeSettings(acceptance_criteria=("short",)))
    assert (told.original_task, told.acceptance_criteria, told.target_agent) == (
        "Write the module.",
        ("short",),
        "coder-7",
    )
    assert assignment_of(delivery(user=None), QaJudgeSettings()).original_task is None
