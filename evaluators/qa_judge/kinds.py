"""Which type an artifact is of, by the names of its files and, where there are none, by its content."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum
from pathlib import PurePosixPath

import orjson


class ArtifactType(StrEnum):
    """What was delivered."""

    TEXT = "text"
    CODE = "code"
    DESIGN = "design"
    DATA = "data"
    IMAGE = "image"
    MIXED = "mixed"


_ENDINGS = {
    ArtifactType.TEXT: "md markdown txt rst adoc tex doc docx pdf rtf",
    ArtifactType.CODE: "py pyi js jsx mjs cjs ts tsx java kt kts scala go rs rb php c h cc cpp hpp cs swift m sh bash "
    "zsh ps1 bat pl r lua dart sql html htm css scss less vue svelte yaml yml toml ini cfg conf env properties gradle "
    "tf dockerfile makefile proto graphql ipynb",
    ArtifactType.DESIGN: "fig sketch xd drawio puml plantuml mmd mermaid dot svg",
    ArtifactType.DATA: "json jsonl ndjson csv tsv xml parquet avro xlsx xls ddl",
    ArtifactType.IMAGE: "png jpg jpeg gif webp bmp tiff heic avif ico",
}
_BY_ENDING = {ending: kind for kind, endings in _ENDINGS.items() for ending in endings.split()}
_FENCED = re.compile(r"^[ \t]*```[^\n`]*\n(?P<code>.*?)^[ \t]*```", re.MULTILINE | re.DOTALL)
_REMARKS_CHARS = 300
"""So many characters around blocks of code are remarks on them and no text of its own."""
_CODE = re.compile(
    r"^\s*(?:def |class |async def |import |from \w[\w.]* import |function\b|const |let |var |export |public |private |"
    r"package |#include|using |func |fn |impl |SELECT |CREATE |INSERT |#!/|<!DOCTYPE|<html|<\?php)",
    re.MULTILINE,
)


def type_of(files: Iterable[tuple[str | None, str]]) -> ArtifactType:
    """The type of all files, given as path (None: not known) and content, together."""
    kinds = {_type_of_one(path, text) for path, text in files}
    return kinds.pop() if len(kinds) == 1 else ArtifactType.MIXED


def is_image(path: str) -> bool:
    """Whether a file is a picture, by its name."""
    return _BY_ENDING.get(_ending(path)) is ArtifactType.IMAGE


def is_python(path: str | None, text: str) -> bool:
    """Whether a text is Python, by its file's name or else by how it looks."""
    if path is not None:
        return _ending(path) in ("py", "pyi")
    return re.search(r"^(?:def \w+\(|import \w+|from [\w.]+ import )", text, re.MULTILINE) is not None


def code_blocks(text: str) -> list[tuple[int, str]]:
    """The blocks of code in a text in Markdown, each with where it begins in the text."""
    return [(found.start("code"), found["code"]) for found in _FENCED.finditer(text)]


def _type_of_one(path: str | None, text: str) -> ArtifactType:
    if path is not None and (kind := _BY_ENDING.get(_ending(path))) is not None:
        return kind
    blocks = code_blocks(text)
    if blocks:
        around = len("".join(text.split())) - sum(len("".join(code.split())) for _, code in blocks)
        return ArtifactType.MIXED if around > _REMARKS_CHARS else type_of([(None, code) for _, code in blocks])
    stripped = text.strip()
    if stripped[:1] in ("{", "["):
        try:
            orjson.loads(stripped)
        except orjson.JSONDecodeError:
            pass
        else:
            return ArtifactType.DATA
    return ArtifactType.CODE if len(_CODE.findall(text)) >= 1 + text.count("\n") // 60 else ArtifactType.TEXT


def _ending(path: str) -> str:
    name = PurePosixPath(path.replace("\\", "/")).name.lower()
    return name.rpartition(".")[2] if "." in name else name
