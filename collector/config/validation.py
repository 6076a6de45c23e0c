"""Raw settings → an instance of their pydantic model, or problems an operator can act on.

A validator's message may end in a remedy after `; `.  Values are never quoted here: they may be secrets.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from collector.config.expansion import Expanded
from collector.config.problems import Path, Problem, listed, place_of, suggestion, value_at

ModelT = TypeVar("ModelT", bound=BaseModel)

_WANTED = {
    "int_parsing": "has to be a whole number",
    "int_type": "has to be a whole number",
    "int_from_float": "has to be a whole number",
    "float_parsing": "has to be a number",
    "float_type": "has to be a number",
    "finite_number": "has to be a finite number",
    "bool_parsing": "has to be true or false",
    "bool_type": "has to be true or false",
    "dict_type": "has to be a map",
    "model_type": "has to be a map",
    "model_attributes_type": "has to be a map",
    "list_type": "has to be a list",
    "tuple_type": "has to be a list",
    "set_type": "has to be a list",
    "frozen_set_type": "has to be a list",
    "path_type": "has to be a path",
}
_LIMITS = {
    "greater_than": ("gt", "has to be greater than"),
    "greater_than_equal": ("ge", "has to be at least"),
    "less_than": ("lt", "has to be less than"),
    "less_than_equal": ("le", "has to be at most"),
}


def plain(value: object) -> object:
    """The value without the traces of expansion: what YAML reads."""
    if isinstance(value, Expanded):
        return value.value
    if isinstance(value, dict):
        return {key: plain(child) for key, child in value.items()}
    if isinstance(value, list):
        return [plain(child) for child in value]
    return value


def validate_settings(
    model: type[ModelT], raw: object, path: Path, places: Mapping[Path, str]
) -> tuple[ModelT | None, list[Problem]]:
    """Validate the settings at `path`.

    Text fields get the text of an expansion, whatever YAML reads in it; a key with nothing behind it has its default,
    as in the Collector.
    """
    data = copy.deepcopy(plain(raw)) if raw is not None else {}
    while True:
        try:
            return model.model_validate(data), []
        except ValidationError as error:
            errors = error.errors(include_url=False)
            if not any(_mend(data, raw, found) for found in errors):
                return None, [_problem(model, found, raw, path, places) for found in errors]


def _steps(raw: object, loc: Sequence[str | int]) -> Path:
    """The part of pydantic's location that is really in the document: it names members of unions as well."""
    steps: list[str | int] = []
    for step in loc:
        if (isinstance(raw, dict) and step in raw) or (isinstance(raw, list) and isinstance(step, int)):
            steps.append(step)
            raw = value_at(raw, (step,))
    return tuple(steps)


def _mend(data: object, raw: object, error: ErrorDetails) -> bool:
    """Repair what only looks wrong because of how it was written; whether anything was changed."""
    steps = _steps(raw, error["loc"])
    if not steps or error["type"] == "extra_forbidden":
        return False
    last = steps[-1]
    parent, original = value_at(data, steps[:-1]), value_at(raw, steps)
    if isinstance(original, Expanded) and error["type"] == "string_type":
        if value_at(parent, (last,)) is original.text:
            return False
        return _put(parent, last, original.text)
    empty = original is None or (isinstance(original, Expanded) and original.value is None)
    if empty and isinstance(parent, dict) and last in parent:
        del parent[last]
        return True
    return False


def _put(parent: object, step: str | int, value: object) -> bool:
    if isinstance(parent, dict):
        parent[step] = value
        return True
    if isinstance(parent, list) and isinstance(step, int):
        parent[step] = value
        return True
    return False


def _problem(
    model: type[BaseModel], error: ErrorDetails, raw: object, path: Path, places: Mapping[Path, str]
) -> Problem:
    loc = error["loc"]
    steps = _steps(raw, loc)
    what, remedy = _explain(model, error)
    if error["type"] == "missing":
        if len(steps) == len(loc):
            what = "this key has no value"
        else:
            steps = (*steps, str(loc[-1]))
    return Problem((*path, *steps), what, remedy, place_of(places, (*path, *steps)))


def _explain(model: type[BaseModel], error: ErrorDetails) -> tuple[str, str]:
    kind, loc, context = error["type"], error["loc"], error.get("ctx", {})
    if kind == "extra_forbidden":
        return _explain_unknown(_models_at(model, loc[:-1]), str(loc[-1]))
    if kind == "missing":
        return "this key is missing", _about(_models_at(model, loc[:-1]), str(loc[-1]))
    if kind == "value_error":
        what, _, remedy = str(context.get("error", error["msg"])).partition("; ")
        return what, remedy or "correct it"
    if kind == "string_type":
        return "has to be text", "put the value in quotes"
    if kind == "none_required":
        return "nothing can be set here", "take this key out"
    if kind in ("literal_error", "enum"):
        return "not one of the possible values", f"use {context.get('expected', 'one of those in the reference')}"
    if kind in _LIMITS:
        key, words = _LIMITS[kind]
        return f"{words} {context.get(key)}", "correct the value"
    if kind in _WANTED:
        return _WANTED[kind], "correct the value"
    message = error["msg"]
    return message[:1].lower() + message[1:], "correct the value"


def _explain_unknown(models: list[type[BaseModel]], key: str) -> tuple[str, str]:
    known: set[str] = set()
    for model in models:
        refused: Mapping[str, str] = getattr(model, "refused_keys", {})
        if key in refused:
            return "this key has no meaning here", refused[key]
        known.update(field.alias or name for name, field in model.model_fields.items())
    return "unknown key", suggestion(key, known, otherwise=f"known keys: {listed(known)}")


def _about(models: list[type[BaseModel]], key: str) -> str:
    for model in models:
        for name, field in model.model_fields.items():
            if key in (name, field.alias) and field.description:
                return f"add it: {field.description.rstrip('.')}"
    return "add it"


def _models_at(model: type[BaseModel], loc: Sequence[str | int]) -> list[type[BaseModel]]:
    current = [model]
    for step in loc:
        below = [
            inner
            for candidate in current
            for name, field in candidate.model_fields.items()
            if step in (name, field.alias)
            for inner in models_in(field.annotation)
        ]
        current = below or current
    return current


def models_in(annotation: object) -> Iterable[type[BaseModel]]:
    """The pydantic models inside a type annotation: of an optional, a list's items, a map's values."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in models_in(part)]
