"""Finding and loading the class of a `python/<name>` evaluator.

In: its name and settings.  Out: the class made with its own settings, or a `LoadError` that says which package is at
fault and what to do.  Loading runs the package's code: only the judging process and commands that judge do it.
"""

from __future__ import annotations

import importlib
import inspect
import traceback
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from evaluators.cases import CaseKind
from evaluators.evaluator import Evaluator, EvaluatorSettings
from evaluators.python_class.settings import PythonSettings, is_class_path
from evaluators.verdict import Level

GROUP = "spanjudge.evaluators"
_MUST_HAVE = (
    ("judges", CaseKind),
    ("level", Level),
    ("good_label", str),
    ("bad_label", str),
    ("code_version", str),
)


class LoadError(ValueError):
    """The class can't be used; text `what; remedy`."""


@dataclass(frozen=True, slots=True)
class Offered:
    """An evaluator that an installed package offers: the name it goes by, its class, and the package."""

    name: str
    path: str
    package: str


def offered() -> list[Offered]:
    """What installed packages offer, sorted by name. Nothing is loaded."""
    return sorted((_described(found) for found in entry_points(group=GROUP)), key=lambda one: (one.name, one.package))


def load_evaluator(name: str, settings: PythonSettings) -> Evaluator[Any]:
    """The evaluator of this name, made with the settings that its class declares.

    Raises:
        LoadError: there is no such class, it can't be loaded, is no evaluator, or refuses its settings.
    """
    path, source = _place(name, settings)
    evaluator_type = _checked(_loaded(path, source), path)
    own = _own_settings(evaluator_type, settings)
    try:
        made = evaluator_type(own)
    except Exception as error:
        raise LoadError(
            f"{path}{source} can't be made: {told_fault(error)}; correct the package, or its settings"
        ) from None
    made.name = name
    return made


def _described(found: EntryPoint) -> Offered:
    package = f"{found.dist.name} {found.dist.version}" if found.dist is not None else "unknown package"
    return Offered(found.name, found.value, package)


def _place(name: str, settings: PythonSettings) -> tuple[str, str]:
    """The class as `package.module:Class`, and words for where that is from."""
    if settings.class_path is not None:
        return settings.class_path, ""
    known = offered()
    found = [one for one in known if one.name == name]
    if len({one.path for one in found}) > 1:
        packages = " and ".join(one.package for one in found)
        raise LoadError(f"{name} is offered by {packages}; say which one is meant with class: package.module:Class")
    if not found:
        names = ", ".join(dict.fromkeys(one.name for one in known)) or "none"
        raise LoadError(
            f"no installed package offers an evaluator {name} (there are: {names}); install the package into the "
            "environment of spanjudge, or name the class with class: package.module:Class"
        )
    path, source = found[0].path, f" of {found[0].package}"
    if not is_class_path(path):
        raise LoadError(f"{name}{source} names no class; write package.module:Class in its entry points")
    return path, source


def _loaded(path: str, source: str) -> object:
    module, _, attribute = path.partition(":")
    try:
        found: object = importlib.import_module(module)
    except ModuleNotFoundError as error:
        what = "is not installed" if _is_within(module, error.name) else f"needs the module {error.name}"
        raise LoadError(f"{path}{source} {what}; install it into the environment of spanjudge") from None
    except (Exception, SystemExit) as error:
        raise LoadError(f"{path}{source} can't be imported: {told_fault(error)}; correct the package") from None
    for step in attribute.split("."):
        found = getattr(found, step, None)
        if found is None:
            raise LoadError(f"{module}{source} has no {attribute}; correct the name of the class")
    return found


def _is_within(module: str, missing: str | None) -> bool:
    """Whether it is the module itself, or a package around it, that doesn't exist."""
    return missing is not None and f"{module}.".startswith(f"{missing}.")


def _checked(found: object, path: str) -> type[Evaluator[Any]]:
    if not isinstance(found, type) or not issubclass(found, Evaluator):
        raise LoadError(f"{path} is no subclass of evaluators.Evaluator; make it one")
    if inspect.isabstract(found):
        lacking = ", ".join(sorted(found.__abstractmethods__))
        raise LoadError(f"{path} doesn't implement {lacking}; add what is missing")
    for name, wanted in _MUST_HAVE:
        if not isinstance(getattr(found, name, None), wanted):
            raise LoadError(f"{path} has no {name}; set it in the class, a {wanted.__name__}")
    own: object = found.Settings
    if not isinstance(own, type) or not issubclass(own, EvaluatorSettings):
        raise LoadError(f"{path}.Settings is no subclass of evaluators.EvaluatorSettings; make it one")
    return found


def _own_settings(evaluator_type: type[Evaluator[Any]], settings: PythonSettings) -> EvaluatorSettings:
    try:
        return evaluator_type.Settings.model_validate(dict(settings.given))
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)
        told = ", ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in found[:3])
        known = ", ".join(sorted(evaluator_type.Settings.model_fields))
        raise LoadError(f"settings that {evaluator_type.__name__} refuses ({told}); its keys: {known}") from None


def told_fault(error: BaseException) -> str:
    """Kind and place of an error, without its text: that may quote what the code was working on."""
    frames = [(one.filename, one.lineno) for one in traceback.extract_tb(error.__traceback__)]
    # what Python does by itself, such as importing, is no place of the fault
    places = [place for place in frames if not place[0].startswith("<frozen")] or frames
    if isinstance(error, SyntaxError) and error.filename is not None:
        places = [(error.filename, error.lineno)]
    place = f" in {Path(places[-1][0]).name}:{places[-1][1]}" if places else ""
    return f"{type(error).__name__}{place}"
