"""How commands print: views on standard output, notes and errors on standard error, one line each.

Texts may quote names of files and codes out of saved traces; they are cleaned before they reach the terminal.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rich.console import Console, RenderableType

from collector.exporters.console import standard_output
from collector.exporters.span_view import clean
from collector.saved_traces import SavedTraces
from evaluators.cases import JsonValue
from processors.conventions.decoding.values import as_text

MAX_NOTES = 5
MAX_CHARS = 2000
_ACTING = re.compile("[\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""What JSON may hold as it is, and terminals obey."""


def show(*views: RenderableType) -> None:
    """Print views on standard output, folded to its width, without the blanks that fill lines up."""
    console = standard_output()
    with console.capture() as captured:
        for view in views:
            console.print(view, soft_wrap=False)
    lines = captured.get().splitlines()
    console.file.writelines(f"{line.rstrip(' ')}\n" for line in lines)


def json_line(value: dict[str, JsonValue]) -> bytes:
    """An object on a line of JSON, in which no character acts on a terminal."""
    text = _ACTING.sub(lambda found: f"\\u{ord(found[0]):04x}", as_text(value) or "")
    return f"{text}\n".encode()


def report(notes: Sequence[str], errors: Sequence[str], most_notes: int | None = MAX_NOTES) -> None:
    """Tell the first notes and how many more there are (None: all of them), and every error."""
    console = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    told = notes[:most_notes]
    for note in told:
        console.print(f"note: {clean(note, MAX_CHARS)}", style="dim")
    if len(notes) > len(told):
        console.print(f"note: and {len(notes) - len(told)} more", style="dim")
    for error in errors:
        console.print(f"error: {clean(error, MAX_CHARS)}", style="red")


def what_was_passed_over(saved: SavedTraces) -> list[str]:
    """Notes about files that weren't read, and about finding nothing at all."""
    return saved.notes if saved.traces or saved.failures else ["no traces were found", *saved.notes]
