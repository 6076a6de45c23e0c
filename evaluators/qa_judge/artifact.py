"""What was delivered: the files of an artifact, from a folder, from what tools were told to write, or the answer.

In: a run, its assignment, the settings.  Out: an `Artifact`, whose files are texts without their author's name.  A file
is only read below the configured folder, whatever a path says and wherever a link leads.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from evaluators.cases import JsonValue, Run, ToolCall
from evaluators.qa_judge.assignment import Assignment
from evaluators.qa_judge.kinds import ArtifactType, is_image, type_of
from evaluators.qa_judge.settings import QaJudgeSettings
from evaluators.rubric.texts import compact, plain

MOST_FILES = 40
MAX_FILE_BYTES = 256 << 10
_PATHS = ("path", "file_path", "filepath", "filename", "file_name", "file", "target_file", "target", "name", "uri")
_CONTENTS = (
    "content",
    "contents",
    "file_text",
    "text",
    "code",
    "body",
    "data",
    "source",
    "code_content",
    "new_content",
)
_OLD, _NEW = ("old_str", "old_string", "old_text", "search"), ("new_str", "new_string", "new_text", "replace")
_WRITES = re.compile(
    r"(?:write|create|save|put|edit|update|append|overwrite|replace|patch)_?(?:to_?)?(?:text_?)?(?:files?|artifacts?|"
    r"documents?|editor)|str_?replace|fs_?write|artifact|^write$|^edit$|notebook_?edit"
)
_AUTHOR = re.compile(
    r"^(?P<lead>[ \t]*(?:[#/*;<!-]{1,4}[ \t]*)?)(?:@author\b|author\s*[:=]|authors\s*[:=]|__author__\s*=|created by\b|"
    r"written by\b|generated (?:by|with)\b|signed-off-by:|co-authored-by:|"
    r"(?:作者|撰稿人?|编写[者人])\s*[:\uff1a]).*$",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class File:
    """A delivered text. `path` None: an answer. `ref` is where it was written, `cut` that some of it is missing."""

    path: str | None
    text: str
    ref: str | None = None
    cut: bool = False
    in_record: bool = True

    @property
    def name(self) -> str:
        """What it is called."""
        return self.path or "answer"


@dataclass(frozen=True, slots=True)
class Artifact:
    """Everything that was delivered. `unseen` are files that nobody can judge here, pictures above all."""

    files: tuple[File, ...]
    kind: ArtifactType
    unseen: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """All texts one after another."""
        return "\n".join(file.text for file in self.files)

    @property
    def lines(self) -> int:
        """How many lines there are."""
        return sum(len(file.text.splitlines()) for file in self.files)

    def location(self, words: str) -> str:
        """`file:line` of a quotation; the file alone, or nothing, where it can't be found.

        Blanks, quotation marks and escapes make no difference: a judge may have read the text as part of a call.
        """
        wanted = [part for part in (compact(plain(line)) for line in plain(words).splitlines()) if part]
        for file in self.files if wanted else ():
            for number, line in enumerate(file.text.splitlines(), 1):
                if wanted[0] in compact(plain(line)):
                    return f"{file.name}:{number}"
        return self.files[0].name if len(self.files) == 1 else ""


def artifact_of(run: Run, assignment: Assignment, settings: QaJudgeSettings) -> Artifact | None:
    """The artifact of a run; None where nothing was delivered that could be seen."""
    named = [path for path in (assignment.artifact_path, *assignment.related_files) if path]
    if settings.root is not None and named:
        read = [file for path in named if (file := _read(settings.root, path)) is not None]
        if read:
            return _artifact(read, named, assignment)
    written = list(_written(run, settings).values())
    if assignment.artifact_path is not None:
        written = [one for one in written if _is_same(one.path, named)] or written
    if not written and not any(map(is_image, named)) and run.final_answer and run.final_answer.strip():
        written = [File(None, _without_author(run.final_answer), run.ref, run.truncated)]
    return _artifact(written, named, assignment)


def _artifact(files: list[File], named: list[str], assignment: Assignment) -> Artifact | None:
    pictures = tuple(dict.fromkeys([*filter(is_image, named), *(one.name for one in files if is_image(one.name))]))
    texts = tuple(one for one in files if not is_image(one.name))[:MOST_FILES]
    if not texts:
        return Artifact((), ArtifactType.IMAGE, pictures) if pictures else None
    told = type_of([(one.path, one.text) for one in texts])
    return Artifact(texts, assignment.artifact_type or (ArtifactType.MIXED if pictures else told), pictures)


def _read(root: Path, path: str) -> File | None:
    """A file below the folder; None where there is none that may be read."""
    try:
        folder = root.resolve(strict=True)
        found = (folder / path).resolve(strict=True)
        if not found.is_relative_to(folder) or not found.is_file():
            return None
        if is_image(path):
            return File(path, "", in_record=False)
        # What is opened is what was looked at: a link that was put there since isn't followed.
        with os.fdopen(os.open(found, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError, RuntimeError):
        return None
    cut = len(content) > MAX_FILE_BYTES
    text = content[:MAX_FILE_BYTES].decode("utf-8", errors="ignore" if cut else "replace")
    return File(path, _without_author(text), None, cut, in_record=False)


def _written(run: Run, settings: QaJudgeSettings) -> dict[str, File]:
    """What tools were told to write, by path, as it was in the end."""
    files: dict[str, File] = {}
    for call in run.calls:
        if not _is_write(call, settings) or (call.result is not None and call.result.failed):
            continue
        for given in _objects(call):
            path, content = _first(given, _PATHS), _first(given, _CONTENTS)
            key = path or f"call {call.id}"
            old, new = _first(given, _OLD), _first(given, _NEW)
            before = files.get(key)
            if content is not None:
                files[key] = File(path, _bounded(content), call.ref, call.truncated or len(content) > MAX_FILE_BYTES)
            elif new is not None and before is not None and old and old in before.text:
                files[key] = File(path, _bounded(before.text.replace(old, new, 1)), call.ref, before.cut)
            elif new is not None:
                # Only what was put in is known of a file that was there before.
                text = f"{before.text}\n{new}" if before is not None else new
                files[key] = File(path, _bounded(text), call.ref, True)
    return files


def _bounded(text: str) -> str:
    return _without_author(text[:MAX_FILE_BYTES])


def _is_write(call: ToolCall, settings: QaJudgeSettings) -> bool:
    name = call.name.lower().replace("-", "_")
    return _WRITES.search(name) is not None or any(fnmatchcase(name, one.lower()) for one in settings.write_tools)


def _objects(call: ToolCall) -> Iterator[Mapping[str, JsonValue]]:
    """The arguments, or each file in them where one call writes several."""
    given = call.arguments
    if not isinstance(given, Mapping):
        return
    several = [one for key in ("files", "edits") if isinstance(inner := given.get(key), list) for one in inner]
    if several:
        yield from ({**given, **one} for one in several if isinstance(one, dict))
    else:
        yield given


def _first(given: Mapping[str, JsonValue], keys: tuple[str, ...]) -> str | None:
    return next((value for key in keys if isinstance(value := given.get(key), str) and value), None)


def _is_same(path: str | None, named: list[str]) -> bool:
    """Whether a written path is one that was ordered; one of them may be relative."""
    if path is None:
        return False
    plain = path.replace("\\", "/").removeprefix("./")
    others = [one.replace("\\", "/").removeprefix("./") for one in named]
    return any(plain == one or plain.endswith(f"/{one}") or one.endswith(f"/{plain}") for one in others)


def _without_author(text: str) -> str:
    """The text without lines that name who made it, which stay as blank lines so that the others keep their number."""
    return _AUTHOR.sub(lambda found: found["lead"].rstrip(), text)
