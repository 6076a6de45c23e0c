"""Files in which somebody defines an evaluator: YAML, or Markdown with YAML at its top, checked against a model.

    prompt = read_definition(Path("politeness.md"), PromptDefinition, body="criteria")

In: a path and the pydantic model of what stands there.  Out: an instance of it, or a `DefinitionError` that names file,
line, key, what is wrong and what to do.  Values are never quoted in errors, and nothing in a file is executed.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from evaluators.yaml_text import Path as KeyPath
from evaluators.yaml_text import YamlDocument, YamlError, YamlFault, read_yaml

ModelT = TypeVar("ModelT", bound=BaseModel)

MAX_BYTES = 1 << 20
_MOST_TOLD = 4
_MOST_STEPS, _LONGEST_STEP = 12, 64
_FENCE = "---"
_WANTED = {
    "int_type": "has to be a whole number",
    "int_from_float": "has to be a whole number",
    "float_type": "has to be a number",
    "finite_number": "has to be a finite number",
    "bool_type": "has to be true or false",
    "string_type": "has to be text; put it in quotes",
    "string_too_short": "must not be empty",
    "dict_type": "has to be a map",
    "model_type": "has to be a map",
    "list_type": "has to be a list",
    "tuple_type": "has to be a list",
    "too_short": "has too few entries",
}
_BOUNDS = {
    "greater_than": ("gt", "has to be greater than"),
    "greater_than_equal": ("ge", "has to be at least"),
    "less_than": ("lt", "has to be less than"),
    "less_than_equal": ("le", "has to be at most"),
}


class DefinitionError(ValueError):
    """The file can't be used. Its text is `FILE: what is wrong; remedy`, the first faults with line and key."""


def read_definition(path: Path, model: type[ModelT], *, body: str | None = None) -> ModelT:
    """Read a file and check what it says.

    Args:
        path: the file, UTF-8, at most `MAX_BYTES`.
        model: the pydantic model of its content.
        body: the key under which the text below the YAML of a Markdown file counts; None where only YAML is meant.

    Raises:
        DefinitionError: it can't be read, isn't YAML, or says something that the model refuses.
    """
    text = definition_text(path)
    try:
        value, lines = _parsed(text, body)
    except YamlError as error:
        raise yaml_fault(path, error) from None
    if body is not None and not isinstance(value, dict):
        what = "has no keys at the top"
        raise _error(path, [YamlFault((), what, f"begin with a line {_FENCE}, keys, and another line {_FENCE}")])
    return check_definition(path, model, value, lines)


def check_definition(path: Path, model: type[ModelT], value: object, lines: Mapping[KeyPath, int]) -> ModelT:
    """Check what a file says that was read in another way.

    Args:
        path: the file, for errors.
        model: the pydantic model of its content.
        value: what was read.
        lines: the lines of its keys, as far as they are known.

    Raises:
        DefinitionError: the model refuses it.
    """
    if not isinstance(value, dict):
        raise _error(
            path, [YamlFault((), "is not a map of keys", "write key: value lines, as the documentation shows")]
        )
    try:
        return model.model_validate(value)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)
        raise _error(path, _telling([_fault(model, one, value, lines) for one in found])) from None


def definition_text(path: Path) -> str:
    """The text of such a file.

    Raises:
        DefinitionError: it can't be read, is too large, or isn't UTF-8.
    """
    content = content_of(path, MAX_BYTES, remedy="shorten it")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DefinitionError(f"{path}: is not UTF-8 text; save it as UTF-8") from None


def content_of(path: Path, most_bytes: int, *, remedy: str) -> bytes:
    """All bytes of such a file.

    Args:
        path: the file.
        most_bytes: how long it may be.
        remedy: what to do about a longer one.

    Raises:
        DefinitionError: it can't be read or is too large.
    """
    try:
        # Read through a handle, so that a device or a file that grows is not read to its end.
        with path.open("rb") as file:
            content = file.read(most_bytes + 1)
    except OSError as error:
        raise DefinitionError(f"{path}: can't be read: {error.strerror}; check the path and its permissions") from None
    if len(content) > most_bytes:
        raise DefinitionError(f"{path}: is larger than {most_bytes >> 20} MiB; {remedy}")
    return content


def yaml_fault(path: Path, error: YamlError) -> DefinitionError:
    """What is wrong with the YAML of such a file, as an error that names the file."""
    return _error(path, error.faults)


def _parsed(text: str, body: str | None) -> tuple[object, Mapping[KeyPath, int]]:
    """The keys of the file, and the line in which each was written."""
    rows = text.splitlines()
    if body is None or not rows or rows[0].rstrip() != _FENCE:
        document = read_yaml(text)
        return document.value, document.lines
    end = next((at for at, row in enumerate(rows[1:], 1) if row.rstrip() == _FENCE), None)
    if end is None:
        what = f"the keys at the top are not closed by a line {_FENCE}"
        raise YamlError([YamlFault((), what, f"write {_FENCE} below the last of them", 1)])
    # a blank line in place of the first keeps the numbers of lines
    document = read_yaml("\n".join(["", *rows[1:end]]))
    below = "\n".join(rows[end + 1 :]).strip()
    if not isinstance(document.value, dict):
        return document.value, {}
    if body in document.value and below:
        line = document.lines[(body,)]
        raise YamlError([YamlFault((body,), "is given as a key and below the keys", "keep one of the two", line)])
    return _with_body(document, body, below), {**document.lines, (body,): document.lines.get((body,), end + 2)}


def _with_body(document: YamlDocument, body: str, below: str) -> dict[object, object]:
    assert isinstance(document.value, dict)
    return {**document.value, body: below} if below else document.value


def _fault(model: type[BaseModel], error: ErrorDetails, value: object, lines: Mapping[KeyPath, int]) -> YamlFault:
    steps = _steps(value, error["loc"])
    if error["type"] in ("missing", "extra_forbidden") and steps[-1:] != (error["loc"][-1],):
        steps = (*steps, error["loc"][-1])
    what, remedy = _explained(model, error)
    return YamlFault(steps, what, remedy, _line(lines, steps))


def _telling(faults: Sequence[YamlFault]) -> list[YamlFault]:
    """One fault for each place: not what other forms would have, nor that something is wrong around another fault."""
    first: dict[KeyPath, YamlFault] = {}
    for fault in faults:
        first.setdefault(fault.path, fault)
    around = {path[:at] for path in first for at in range(1, len(path))}
    return [fault for path, fault in first.items() if path not in around]


def _steps(value: object, location: Sequence[str | int]) -> KeyPath:
    """The part of pydantic's location that is in the document: it names members of unions and validators as well."""
    steps: list[str | int] = []
    for step in location:
        inside = dict(enumerate(value)) if isinstance(value, list) else value
        if isinstance(inside, dict) and step in inside:
            value = inside[step]
            steps.append(step)
    return tuple(steps)


def _line(lines: Mapping[KeyPath, int], path: KeyPath) -> int | None:
    """Where a key was written, or else the nearest thing around it."""
    while path:
        if path in lines:
            return lines[path]
        path = path[:-1]
    return lines.get(())


def _explained(model: type[BaseModel], error: ErrorDetails) -> tuple[str, str]:
    kind, context = error["type"], error.get("ctx", {})
    if kind == "missing":
        return "is missing", "add it"
    if kind == "extra_forbidden":
        known = sorted(_keys(model, error["loc"][:-1]))
        near = difflib.get_close_matches(str(error["loc"][-1]), known, n=1)
        return "is no key here", f"did you mean {near[0]}?" if near else f"known keys: {', '.join(known)}"
    if kind in ("literal_error", "enum"):
        return "is none of the possible values", f"use {context.get('expected', 'one of those in the documentation')}"
    if kind in _BOUNDS:
        bound, words = _BOUNDS[kind]
        return f"{words} {context.get(bound)}", "correct it"
    message = str(context.get("error", error["msg"])) if kind == "value_error" else _WANTED.get(kind, error["msg"])
    what, _, remedy = message.partition("; ")
    return what[:1].lower() + what[1:], remedy or "correct it"


def _keys(model: type[BaseModel], location: Sequence[str | int]) -> set[str]:
    """The keys that the model at a place of the document knows."""
    current = {model}
    for step in location:
        below = {
            inner
            for one in current
            for name, field in one.model_fields.items()
            if step in (name, field.alias)
            for inner in _models(field.annotation)
        }
        current = below or current
    return {field.alias or name for one in current for name, field in one.model_fields.items()}


def _models(annotation: object) -> set[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return {annotation}
    return {model for part in get_args(annotation) for model in _models(part)}


def _error(path: Path, faults: Sequence[YamlFault]) -> DefinitionError:
    told = [_told(fault) for fault in faults[:_MOST_TOLD]]
    if len(faults) > _MOST_TOLD:
        told.append(f"and {len(faults) - _MOST_TOLD} more")
    return DefinitionError(f"{path}: {'. '.join(told)}")


def _told(fault: YamlFault) -> str:
    line = f"line {fault.line}" if fault.line is not None else ""
    if fault.column is not None:
        line += f", column {fault.column}"
    steps = [f"[{step}]" if isinstance(step, int) else f".{step[:_LONGEST_STEP]}" for step in fault.path[:_MOST_STEPS]]
    key = "".join(steps).lstrip(".")
    key += "…" if len(fault.path) > _MOST_STEPS else ""
    where = ", ".join(filter(None, (line, key)))
    return f"{where}: {fault.what}; {fault.remedy}" if where else f"{fault.what}; {fault.remedy}"
