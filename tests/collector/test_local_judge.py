"""`spanjudge local-judge` with what it can't serve. With a model: tests/e2e/test_local_model.py."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from collector.cli import app


def _run(*arguments: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["local-judge", *map(str, arguments)])
    return result.exit_code, result.stderr.replace("\n", " ")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    code, said = _run(tmp_path / "none.gguf")
    assert code == 2
    assert "none.gguf: can't be read: No such file" in said


def test_a_file_that_is_no_model_is_named(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("a model, really")
    code, said = _run(tmp_path / "notes.txt")
    assert code == 2
    assert "notes.txt: is no model in GGUF format" in said


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        (ModuleNotFoundError("No module named 'xllamacpp'"), "pip install 'spanjudge[local]'"),
        (ImportError("libgomp.so.1: cannot open shared object file"), "install the system's libgomp1"),
    ],
)
def test_without_the_runtime_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: ImportError, remedy: str
) -> None:
    (tmp_path / "model.gguf").write_bytes(b"GGUF")
    real_import = builtins.__import__

    def missing(name: str, *rest: Any) -> Any:
        if name == "xllamacpp":
            raise error
        return real_import(name, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    code, said = _run(tmp_path / "model.gguf")
    assert code == 1
    assert remedy in said
