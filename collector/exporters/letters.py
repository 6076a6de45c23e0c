"""Reading a dead-letter file, marking letters as sent, and sweeping out those that are.

A running sidecar may append to the file meanwhile.  A letter is marked by changing one byte of it in its place, which
disturbs no one who appends and is done or not whatever happens; the file is replaced by one without the marked letters
under the lock that everybody who appends takes.  What can't be understood is never touched.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile

from collector.exporters.appending import opened_alone
from collector.intake import MalformedRequestError
from collector.records import Signal
from collector.wire import Origins, slice_logs, slice_spans

_MARK = re.compile(rb'\{"sent": ?([01])')
# So much of a line tells letters apart: it has the time in milliseconds and the destination in it.
_HEAD_BYTES = 200


class ChangedFileError(Exception):
    """A letter is no longer where it was: something else has rewritten the file."""


@dataclass(frozen=True, slots=True)
class Letter:
    """One line of the file.

    Attributes:
        line: its number, from 1.
        start: where it begins in the file.
        head: the first bytes of it.
        sent: whether it was.
        time: when it was written, in ISO 8601.
        destination: id of the exporter.
        signal, request, items, headers: what was to be delivered.
        reason: why it couldn't be, without any content.
        answer: what the destination said; it may quote content.
    """

    line: int
    start: int
    head: bytes
    sent: bool
    time: str
    destination: str
    signal: Signal
    items: int
    reason: str
    answer: str
    headers: Mapping[str, str]
    request: bytes

    def trace_ids(self) -> tuple[str, ...]:
        """The ids of the traces in it, in order of appearance and in lower-case hex."""
        try:
            return tuple(dict.fromkeys(trace_id.hex() for trace_id in self._trace_ids() if trace_id))
        except MalformedRequestError:
            return ()

    def _trace_ids(self) -> Iterator[bytes]:
        if self.signal is Signal.TRACES:
            yield from (record.trace_id for record in slice_spans(self.request, (), Origins(), None).records)
        elif self.signal is Signal.LOGS:
            yield from (record.trace_id for record in slice_logs(self.request, (), Origins(), None).records)


@dataclass(frozen=True, slots=True)
class DamagedLine:
    """A line that is no letter."""

    line: int
    why: str


def read_letters(path: Path) -> Iterator[Letter | DamagedLine]:
    """What the file holds now, sent or not; what is appended while this goes on is left out.

    Raises:
        OSError: it can't be read.
    """
    with path.open("rb") as file:
        left_bytes = os.fstat(file.fileno()).st_size
        for number, line in enumerate(file, 1):
            if len(line) > left_bytes:
                return
            if line.strip():
                yield _read(number, file.tell() - len(line), line)
            left_bytes -= len(line)


def _read(number: int, start: int, line: bytes) -> Letter | DamagedLine:
    mark = _MARK.match(line)
    if mark is None:
        return DamagedLine(number, 'a letter begins with {"sent": 0')
    try:
        told = json.loads(line)
        return Letter(
            line=number,
            start=start,
            head=line[:_HEAD_BYTES],
            sent=bool(told["sent"]),
            time=str(told["time"]),
            destination=str(told["destination"]),
            signal=Signal(told["signal"]),
            items=int(told["items"]),
            reason=str(told["reason"]),
            answer=str(told["answer"]),
            headers={str(name): str(value) for name, value in told["headers"].items()},
            request=base64.b64decode(told["request"], validate=True),
        )
    except KeyError as error:
        return DamagedLine(number, f"it has no {error.args[0]}")
    except (ValueError, TypeError, AttributeError, RecursionError, binascii.Error):
        return DamagedLine(number, "it is no JSON object of a letter; perhaps its end is missing")


def mark_sent(path: Path, letter: Letter) -> None:
    """Write down that a letter was sent.

    Raises:
        ChangedFileError: the letter isn't where it was read.
        OSError: it couldn't be written.
    """
    with opened_alone(path, os.O_RDWR) as descriptor:
        mark = _MARK.match(letter.head)
        if mark is None or os.pread(descriptor, len(letter.head), letter.start) != letter.head:
            raise ChangedFileError(f"{path} was changed by something else meanwhile; look at it, and send it again")
        os.pwrite(descriptor, b"1", letter.start + mark.start(1))
        os.fsync(descriptor)


def sweep(path: Path) -> None:
    """Replace the file by one without the letters that were sent; without any other there is no file in the end.

    Raises:
        OSError: it can't be replaced, or not by one of the same owner; then it is as it was.
    """
    with opened_alone(path, os.O_RDONLY) as descriptor, os.fdopen(os.dup(descriptor), "rb") as file:
        if all(_was_sent(line) for line in file):
            path.unlink()
        else:
            file.seek(0)
            _replace(path, descriptor, (line for line in file if not _was_sent(line)))
        _sync_directory(path.parent)


def _was_sent(line: bytes) -> bool:
    mark = _MARK.match(line)
    return not line.strip() or (mark is not None and mark[1] == b"1" and line.endswith(b"\n"))


def _replace(path: Path, descriptor: int, lines: Iterator[bytes]) -> None:
    with NamedTemporaryFile("wb", dir=path.parent, prefix=f".{path.name}.", delete=False) as new:
        try:
            new.writelines(lines)
            new.flush()
            status = os.fstat(descriptor)
            os.fchmod(new.fileno(), status.st_mode & 0o777)
            # Sent by an administrator, it still has to be the sidecar's file afterwards.
            os.fchown(new.fileno(), status.st_uid, status.st_gid)
            os.fsync(new.fileno())
            Path(new.name).replace(path)
        except BaseException:
            with suppress(OSError):
                Path(new.name).unlink()
            raise


def _sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
