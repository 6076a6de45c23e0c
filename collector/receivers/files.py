"""Saved telemetry → OTLP requests: what `replay` and `transcript` read.

Goes in: paths of files and folders. Comes out, in sorted order: one payload per request found, and a problem for
everything that was passed over, couldn't be read or isn't exactly what it was. Links to folders are followed only where
they are named. Understood are `.pb` files with one
Export*ServiceRequest each, and `.json` and `.jsonl` files with traces in any form of `formats`; each
also compressed with gzip. Nothing is decided here about what is in a request.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from collector.intake import MalformedRequestError
from collector.receivers.decompress import BodyTooLargeError, decompress
from collector.receivers.formats.documents import described, read_document
from collector.receivers.formats.registry import FORMS
from collector.receivers.formats.shape import Findings, Request
from collector.receivers.saved_json import JsonFault, json_values
from collector.records import Signal
from collector.wire import recognise_signal

_SUFFIXES = (".pb", ".json", ".jsonl")
_GZIP_MAGIC = b"\x1f\x8b"
_MAX_FILE_BYTES = 2 << 30
_EXPECTATIONS = "expected.json"
_KNOWN = ", ".join(form.name for form in FORMS)


@dataclass(frozen=True, slots=True)
class Payload:
    """One request: serialised protobuf, whatever the file held. `position` is empty or such as `line 3`."""

    path: Path
    position: str
    signal: Signal
    request: bytes


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that gave no payload, or not the whole of one.

    `skipped` means that nothing failed (another kind of file, or a loss that lies in the form): worth a note. Otherwise
    an input couldn't be read: worth a failure in the end.
    """

    path: Path
    position: str
    message: str
    skipped: bool

    def __str__(self) -> str:
        place = f"{self.path}, {self.position}" if self.position else str(self.path)
        return f"{place}: {self.message}"


def read_paths(paths: Iterable[Path]) -> Iterator[Payload | Problem]:
    """Read files, and folders recursively, one request after the other."""
    for path in paths:
        try:
            is_folder = stat.S_ISDIR(path.stat().st_mode)
        except FileNotFoundError:
            yield Problem(path, "", "can't be read: No such file or folder", skipped=False)
        except OSError as error:
            yield Problem(path, "", f"can't be read: {error.strerror}", skipped=False)
        else:
            yield from _read_folder(path) if is_folder else _read_file(path)


def _read_folder(folder: Path) -> Iterator[Payload | Problem]:
    closed: list[OSError] = []
    files = [Path(place, name) for place, _, names in os.walk(folder, onerror=closed.append) for name in names]
    for error in closed:
        yield Problem(Path(error.filename), "", f"can't be read: {error.strerror}", skipped=False)
    for file in sorted(files):
        yield from _read_file(file)


def _read_file(path: Path) -> Iterator[Payload | Problem]:
    if path.name == _EXPECTATIONS:
        yield Problem(path, "", "skipped, it holds expectations about the requests beside it", skipped=True)
        return
    suffix = _suffix(path)
    if suffix not in _SUFFIXES:
        yield Problem(path, "", f"skipped, none of {', '.join(_SUFFIXES)} (or these with .gz)", skipped=True)
        return
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            yield Problem(path, "", "can't be read: it is a pipe, a device or the like, and no file", skipped=False)
        elif status.st_size > _MAX_FILE_BYTES:
            raise BodyTooLargeError
        elif suffix == ".pb":
            yield _read_protobuf(path, _content(path))
        else:
            yield from _read_json_file(path)
    except OSError as error:
        yield Problem(path, "", f"can't be read: {error.strerror or error}", skipped=False)
    except MalformedRequestError as error:
        yield Problem(path, "", f"can't be read: {error}", skipped=False)
    except BodyTooLargeError:
        message = f"is larger than {_MAX_FILE_BYTES >> 30} GiB, or would be when decompressed"
        yield Problem(path, "", message, skipped=False)


def _content(path: Path) -> bytes:
    content = path.read_bytes()
    if not content.startswith(_GZIP_MAGIC):
        return content
    try:
        return decompress("gzip", content, _MAX_FILE_BYTES)
    except MalformedRequestError:
        raise MalformedRequestError("it is compressed with gzip, and cut off or damaged") from None


def _suffix(path: Path) -> str:
    return path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix


def _read_protobuf(path: Path, content: bytes) -> Payload | Problem:
    try:
        return Payload(path, "", recognise_signal(content), content)
    except MalformedRequestError as error:
        return Problem(path, "", str(error), skipped=False)


def _read_json_file(path: Path) -> Iterator[Payload | Problem]:
    notes: dict[str, None] = {}  # once for the file, however many values it has
    strangers = 0
    # The content is named nowhere, so that it is gone when its values are there.
    for found in json_values(_content(path), as_lines=_suffix(path) == ".jsonl"):
        if isinstance(found, JsonFault):
            yield Problem(path, found.position, f"not JSON: {found.message}", skipped=False)
            continue
        if found.value == {}:
            yield Payload(path, found.position, Signal.TRACES, b"")  # an empty request
            continue
        findings = Findings()
        requests = read_document(found.value, findings)
        if requests is not None:
            yield from _payloads(path, found.position, requests, findings)
        elif strangers == 0:
            message = f"no traces in it, but {described(found.value)}; known are {_KNOWN}"
            # A JSON object may be anything; where requests are saved, anything else is a request gone wrong.
            yield Problem(path, found.position, message, skipped=isinstance(found.value, dict))
        strangers += requests is None
        notes |= findings.notes
    if strangers > 1:
        yield Problem(path, "", f"no traces in {strangers - 1} more of its values", skipped=True)
    for note in notes:
        yield Problem(path, "", note, skipped=True)


def _payloads(
    path: Path, position: str, requests: Iterable[Request], findings: Findings
) -> Iterator[Payload | Problem]:
    for signal, request in requests:
        yield Payload(path, position, signal, request)
    for place, message in findings.flaws:
        where = ", ".join(filter(None, (position, place.lstrip("., "))))
        yield Problem(path, where, message, skipped=False)
    if findings.more_flaws:
        yield Problem(path, position, f"{findings.more_flaws} more pieces couldn't be read", skipped=False)
