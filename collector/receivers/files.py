"""Saved telemetry → OTLP requests: what `replay` and `transcript` read.

Goes in: paths of files and folders. Comes out, in sorted order: one payload per request found, and a problem for
everything that was passed over or couldn't be read. Understood are `.pb` files with one Export*ServiceRequest each,
`.json` files with one in OTLP JSON, and `.jsonl` files with one a line (`.json` files may hold lines, too, as the
Collector's file exporter writes them); each also compressed with gzip. Nothing is decided here about what is in a
request.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from collector.intake import MalformedRequestError
from collector.json_scalars import kind_of
from collector.json_text import JsonTextError, read_json
from collector.otlp_json import convert_document, signals_of
from collector.receivers.decompress import BodyTooLargeError, decompress
from collector.records import Signal
from collector.wire import recognise_signal

_SUFFIXES = (".pb", ".json", ".jsonl")
_GZIP_MAGIC = b"\x1f\x8b"
_MAX_FILE_BYTES = 2 << 30
_EXPECTATIONS = "expected.json"
_SHOWN_KEYS = 8


@dataclass(frozen=True, slots=True)
class Payload:
    """One request: serialised protobuf, whatever the file held. `position` is empty or such as `line 3`."""

    path: Path
    position: str
    signal: Signal
    request: bytes


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that gave no payload.

    `skipped` means that the file isn't meant to be read (another kind of file): worth a note. Otherwise an input
    couldn't be read: worth a failure in the end.
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
        if path.is_dir():
            for file in sorted(entry for entry in path.rglob("*") if entry.is_file()):
                yield from _read_file(file)
        elif path.exists():
            yield from _read_file(path)
        else:
            yield Problem(path, "", "can't be read: No such file or folder", skipped=False)


def _read_file(path: Path) -> Iterator[Payload | Problem]:
    if path.name == _EXPECTATIONS:
        yield Problem(path, "", "skipped, it holds expectations about the requests beside it", skipped=True)
        return
    suffix = _suffix(path)
    if suffix not in _SUFFIXES:
        yield Problem(path, "", f"skipped, none of {', '.join(_SUFFIXES)} (or these with .gz)", skipped=True)
        return
    try:
        content = path.read_bytes()
        if content.startswith(_GZIP_MAGIC):
            content = decompress("gzip", content, _MAX_FILE_BYTES)
    except OSError as error:
        yield Problem(path, "", f"can't be read: {error.strerror or error}", skipped=False)
        return
    except MalformedRequestError as error:
        yield Problem(path, "", f"can't be read: {error}", skipped=False)
        return
    except BodyTooLargeError:
        yield Problem(path, "", f"is larger than {_MAX_FILE_BYTES >> 30} GiB when decompressed", skipped=False)
        return
    if suffix == ".pb":
        yield _read_protobuf(path, content)
    else:
        yield from _read_json_file(path, content)


def _suffix(path: Path) -> str:
    return path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix


def _read_protobuf(path: Path, content: bytes) -> Payload | Problem:
    try:
        return Payload(path, "", recognise_signal(content), content)
    except MalformedRequestError as error:
        return Problem(path, "", str(error), skipped=False)


def _read_json_file(path: Path, content: bytes) -> Iterator[Payload | Problem]:
    try:
        document = read_json(content)
    except JsonTextError as error:
        if _suffix(path) == ".jsonl" or _starts_with_a_line(content):
            yield from _read_json_lines(path, content)
        else:
            yield Problem(path, f"line {error.line}, column {error.column}", f"not JSON: {error}", skipped=False)
    else:
        yield from _read_document(path, "", document)


def _starts_with_a_line(content: bytes) -> bool:
    """Whether the first line alone is JSON, in a file that as a whole isn't."""
    try:
        read_json(next((line for line in io.BytesIO(content) if line.strip()), b""))
    except JsonTextError:
        return False
    return True


def _read_json_lines(path: Path, content: bytes) -> Iterator[Payload | Problem]:
    for number, line in enumerate(io.BytesIO(content), start=1):
        if not line.strip():
            continue
        try:
            document = read_json(line)
        except JsonTextError as error:
            where = f"line {number}, column {error.column}"
            yield Problem(path, where, f"not JSON: {error}", skipped=False)
        else:
            yield from _read_document(path, f"line {number}", document)


def _read_document(path: Path, position: str, document: object) -> Iterator[Payload | Problem]:
    if not isinstance(document, dict):
        yield Problem(path, position, f"no OTLP JSON: {kind_of(document)} where an object is due", skipped=False)
        return
    signals = signals_of(document)
    if document and not signals:
        yield Problem(path, position, f"skipped, no OTLP JSON: an object with {_keys(document)}", skipped=True)
        return
    for signal in signals or [Signal.TRACES]:  # an empty object is an empty request
        try:
            yield Payload(path, position, signal, convert_document(signal, document).request)
        except MalformedRequestError as error:
            yield Problem(path, position, str(error), skipped=False)


def _keys(document: dict[str, object]) -> str:
    shown = ", ".join(key[:40] for key in list(document)[:_SHOWN_KEYS])
    more = len(document) - _SHOWN_KEYS
    return f"the keys {shown} and {more} more" if more > 0 else f"the keys {shown}"
