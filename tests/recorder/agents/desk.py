"""The desk of a city library: what every recorded agent works with, whatever its framework.

The tools really run, on an invented catalogue. Everything that happens is written to a journal, from which the
recorder learns which tools were executed, what came of them, and what the program gave to its framework. No result
repeats an argument, so that finding the one in the telemetry doesn't pass for the other. Only the standard library is
used, since each agent lives in a virtual environment of its own.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import json
import os
import traceback
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

_HERE = Path(__file__).parent
_TASK: dict[str, Any] = json.loads(Path(os.environ["RECORDER_TASK"]).read_text(encoding="utf-8"))
_SHELVES = {
    ("The Salt Road", "Riverside"): {"copy": 5127, "shelf": "F-18", "status": "on the shelf"},
    ("Paper Lanterns", "Northgate"): {"copy": 6604, "shelf": "K-02", "status": "lent until Friday"},
}
_HOURS = {"Central": "09:00-20:00", "Riverside": "10:00-18:00", "Northgate": "10:00-16:00"}

MODEL = os.environ.get("RECORDER_MODEL", "gpt-4.1-mini")
MODEL_URL = os.environ["RECORDER_MODEL_URL"]
"""Root of the scripted model, without the protocol's own path."""


def journal(**entry: Any) -> None:
    """Tell the recorder what happened."""
    with Path(os.environ["RECORDER_JOURNAL"]).open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry, ensure_ascii=False) + "\n")


@contextlib.contextmanager
def ending() -> Iterator[None]:
    """Let the run end as it may: what is raised is journaled, since some frameworks raise for what a scenario does."""
    try:
        yield
    except Exception as error:
        journal(raised=repr(error)[:300])
        traceback.print_exc()


def users() -> list[str]:
    """What the human says, one text per turn."""
    return list(_TASK["users"])


def system() -> str:
    """The instructions. Call it only if the framework is given them."""
    journal(system=_TASK["system"])
    return str(_TASK["system"])


def session() -> str:
    """The session's id. Call it only if the framework or the instrumentation is given it."""
    journal(session=_TASK["session"])
    return str(_TASK["session"])


def definitions() -> list[dict[str, Any]]:
    """The offered tools: `name`, `description`, `parameters` (a JSON schema)."""
    known: list[dict[str, Any]] = json.loads((_HERE / "tools.json").read_text(encoding="utf-8"))
    return [tool for tool in known if tool["name"] in _TASK["tools"]]


def functions() -> list[Callable[..., dict[str, Any]]]:
    """The offered tools as functions with annotations and docstrings, for frameworks that read these."""
    return [function for function in _FUNCTIONS if function.__name__ in _TASK["tools"]]


def run(name: str, arguments: dict[str, Any]) -> str:
    """Run an offered tool as a plain loop does; what comes out is JSON text."""
    tools = {function.__name__: function for function in functions()}
    if name not in tools:
        raise LookupError(f"There is no tool called {name}.")
    return as_text(tools[name](**arguments))


def as_text(result: dict[str, Any]) -> str:
    """A result as the model is shown it."""
    return json.dumps(result)


def _journaled(tool: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    @functools.wraps(tool)
    def wrapper(*args: Any, **kwargs: Any) -> dict[str, Any]:
        arguments = dict(zip(tool.__annotations__, args, strict=False)) | kwargs
        try:
            result = tool(*args, **kwargs)
        except Exception as error:
            journal(called=tool.__name__, arguments=arguments, error=str(error))
            raise
        journal(called=tool.__name__, arguments=arguments, result=json.dumps(result))
        return result

    wrapper.__annotations__ = typing.get_type_hints(tool)  # some frameworks look no names up
    wrapper.__signature__ = inspect.signature(tool, eval_str=True)  # type: ignore[attr-defined]
    return wrapper


@_journaled
def find_book(title: str, branch: Literal["Central", "Riverside", "Northgate"]) -> dict[str, Any]:
    """Find a book in the catalogue of one branch of the library.

    Args:
        title: Title of the book.
        branch: Branch to look in.
    """
    if branch not in _HOURS:
        raise ValueError(f"No branch is called {branch}. Branches: {', '.join(_HOURS)}.")
    return dict(_SHELVES[title, branch])


@_journaled
def lend_copy(copy: int, card: str) -> dict[str, Any]:
    """Lend a copy to the holder of a library card.

    Args:
        copy: Number of the copy.
        card: Number of the library card.
    """
    return {"loan": 88213, "due": "17 April"}


@_journaled
def opening_hours(branch: Literal["Central", "Riverside", "Northgate"]) -> dict[str, Any]:
    """Tell when a branch is open today.

    Args:
        branch: Branch asked about.
    """
    return {"open": _HOURS[branch], "today": "Monday"}


@_journaled
def reserve_room(seats: int, weekday: str) -> dict[str, Any]:
    """Reserve a reading room.

    Args:
        seats: Number of seats needed.
        weekday: Day of the week.
    """
    return {"room": "Reading room 3"}


_FUNCTIONS = (find_book, lend_copy, opening_hours, reserve_room)
