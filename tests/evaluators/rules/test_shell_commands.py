"""Command lines that are known to change nothing."""

from __future__ import annotations

import pytest

from evaluators.cases import Run, ToolCall, Turn
from evaluators.rules.effects import Effect
from evaluators.rules.repetition import steps_of
from evaluators.rules.shell_commands import only_reads


@pytest.mark.parametrize(
    "command",
    [
        "wc -l /srv/notes.txt",
        "ls -la docs/*.md | wc -l",
        "cd /srv && git status",
        'grep -rn "a > b" src 2>/dev/null || true',
        "cat notes.txt; head -3 < other.txt",
        "sed -n '1,20p' main.py",
        "find . -name '*.py' -size +10k",
        "/usr/bin/sort names.txt | uniq -c 2>&1",
        "git log --oneline -5\ngit diff HEAD~1",
    ],
)
def test_looking_changes_nothing(command: str) -> None:
    assert only_reads(command)


@pytest.mark.parametrize(
    "command",
    [
        "",
        "rm notes.txt",
        "cat a > b",
        "echo x >> notes.txt",
        "ls | tee files.txt",
        "find . -name '*.pyc' -delete",
        "find . -exec rm {} +",
        "cat $(mktemp)",
        "echo `date`",
        "ls & rm x",
        "cat <(rm x)",
        "cat <<EOF\nx\nEOF",
        "sort -o notes.txt notes.txt",
        "sed -i s/a/b/ notes.txt",
        "sed -n '1w out' notes.txt",
        "uniq notes.txt out.txt",
        "git commit -m x",
        "git diff --output=x",
        "pytest",
        "python -c 'print(1)'",
        "sudo ls",
        "xargs cat",
        "echo 'unclosed",
        "ls " + "a" * 3_000,
    ],
)
def test_whatever_else_is_not_known_to_be_harmless(command: str) -> None:
    assert not only_reads(command)


def effect(name: str, arguments: dict[str, object]) -> Effect:
    call = ToolCall(id="c", name=name, arguments=arguments)  # type: ignore[arg-type]
    (step,) = steps_of(Run(turns=(Turn(index=0, calls=(call,)),)))
    return step.effect


def test_what_a_shell_is_told_to_run_says_what_the_call_does() -> None:
    assert effect("terminal", {"command": "wc -l notes.txt"}) is Effect.READ
    assert effect("Bash", {"command": "rm notes.txt", "timeout": 5}) is Effect.UNKNOWN
    assert effect("robot", {"command": "find"}) is Effect.UNKNOWN
