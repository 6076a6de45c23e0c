"""Dead letters are read, marked and swept out while a sidecar goes on writing, and none is lost."""

from __future__ import annotations

import base64
import json
import multiprocessing
import os
import stat
import threading
import time
from pathlib import Path

import pytest

from collector.exporters import letters as letters_module
from collector.exporters.appending import append_whole, opened_alone
from collector.exporters.dead_letters import DeadLetterFile
from collector.exporters.letters import ChangedFileError, DamagedLine, Letter, mark_sent, read_letters, sweep
from collector.records import Parcel, Signal
from tests.collector.backends import trace_request

REQUEST = trace_request("a", "b")


def written(path: Path, *reasons: str) -> DeadLetterFile:
    file = DeadLetterFile(path, "otlp/x")
    for reason in reasons:
        file.append(Signal.TRACES, REQUEST, 2, reason, {"x-project-name": "p"}, "said so")
    return file


def letters_in(path: Path) -> list[Letter]:
    return [one for one in read_letters(path) if isinstance(one, Letter)]


def test_what_was_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "letters.jsonl"
    written(path, "one", "two")
    first, second = letters_in(path)
    assert (first.line, second.line) == (1, 2)
    assert (first.reason, first.answer, first.items, first.destination) == ("one", "said so", 2, "otlp/x")
    assert (first.signal, first.request, first.headers) == (Signal.TRACES, REQUEST, {"x-project-name": "p"})
    assert first.trace_ids() == ((b"t" * 16).hex(),)


@pytest.mark.parametrize("signal", list(Signal))
def test_traces_of_a_request_that_cannot_be_read_are_unknown(signal: Signal, tmp_path: Path) -> None:
    path = tmp_path / "letters.jsonl"
    DeadLetterFile(path, "otlp/x").append(signal, b"\xff\xff", 1, "bad")
    assert letters_in(path)[0].trace_ids() == ()


def test_a_letter_is_marked_in_its_place(tmp_path: Path) -> None:
    path = tmp_path / "letters.jsonl"
    written(path, "one", "two", "three")
    before = path.read_bytes()
    mark_sent(path, letters_in(path)[1])
    assert [letter.sent for letter in letters_in(path)] == [False, True, False]
    assert sum(a != b for a, b in zip(before, path.read_bytes(), strict=True)) == 1


def test_sweeping_takes_out_what_was_sent_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "letters.jsonl"
    written(path, "one", "two", "three")
    append_whole(path, b"no letter at all\n")
    path.chmod(0o640)
    mark_sent(path, letters_in(path)[1])
    sweep(path)
    assert [letter.reason for letter in letters_in(path)] == ["one", "three"]
    assert path.read_bytes().endswith(b"no letter at all\n")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_of_a_file_of_which_all_was_sent_nothing_is_left(tmp_path: Path) -> None:
    path = tmp_path / "letters.jsonl"
    file = written(path, "one")
    mark_sent(path, letters_in(path)[0])
    sweep(path)
    assert not path.exists()
    assert file.size_bytes() == 0


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"x\n", "begins with"),
        (b'{"time": "now"}\n', "begins with"),
        (b'{"sent": 0}\n', "it has no time"),
        (b'{"sent": 0, "time": "t", "destin', "its end is missing"),
        (b'{"sent": 0, "time": "t", "destination": "d", "signal": "smoke"}\n', "no JSON object of a letter"),
        (b'{"sent": 0, "a": ' + b"[" * 100_000 + b"\n", "no JSON object of a letter"),
    ],
)
def test_what_is_no_letter_is_told_by_its_line_and_stays(line: bytes, why: str, tmp_path: Path) -> None:
    path = tmp_path / "letters.jsonl"
    written(path, "one")
    with path.open("ab") as file:
        file.write(line)
    _, damaged = read_letters(path)
    assert isinstance(damaged, DamagedLine)
    assert (damaged.line, why in damaged.why) == (2, True)
    mark_sent(path, letters_in(path)[0])
    sweep(path)
    assert path.read_bytes() == line


def test_a_letter_after_one_that_lost_its_end_is_a_line_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "letters.jsonl"
    written(path, "one")
    os.truncate(path, path.stat().st_size - 20)
    written(path, "two")
    assert [letter.reason for letter in letters_in(path)] == ["two"]


def test_letters_that_come_while_others_are_read_are_left_for_the_next_time(tmp_path: Path) -> None:
    path = tmp_path / "letters.jsonl"
    written(path, "one", "two")
    reading = read_letters(path)
    assert isinstance(next(reading), Letter)
    written(path, "three")
    assert [one.reason for one in reading if isinstance(one, Letter)] == ["two"]


def test_a_file_that_something_else_rewrote_is_not_marked(tmp_path: Path) -> None:
    path = tmp_path / "letters.jsonl"
    written(path, "one", "two")
    letter = letters_in(path)[1]
    mark_sent(path, letters_in(path)[0])
    sweep(path)
    with pytest.raises(ChangedFileError):
        mark_sent(path, letter)
    assert not letters_in(path)[0].sent


def test_a_file_that_cannot_be_replaced_stays_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "letters.jsonl"
    written(path, "one", "two")
    mark_sent(path, letters_in(path)[0])
    before = path.read_bytes()

    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    # What an administrator without the right to give files away would meet.
    monkeypatch.setattr(letters_module.os, "fchown", refuse)
    with pytest.raises(PermissionError):
        sweep(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_beyond_its_limit_a_file_takes_nothing_more_but_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "letters.jsonl"
    file = DeadLetterFile(path, "otlp/x", max_size_bytes=1000)
    with pytest.raises(OSError, match="dead_letter_max_size_mib"):
        for _ in range(100):
            file.append(Signal.TRACES, REQUEST, 2, "full")
    limit_bytes = file.size_bytes()
    assert 1000 <= limit_bytes < 2000
    file.append_all([Parcel(Signal.TRACES, REQUEST, 2)], "the end")
    assert file.size_bytes() > limit_bytes


def test_who_waits_for_the_lock_writes_to_the_file_that_has_the_name_then(tmp_path: Path) -> None:
    path = tmp_path / "letters.jsonl"
    written(path, "one")
    with opened_alone(path, os.O_RDONLY):
        writer = threading.Thread(target=written, args=(path, "two"))
        writer.start()
        # It waits, or will; whichever, it must not write to the file that is about to go.
        path.rename(tmp_path / "moved")
    writer.join()
    assert [letter.reason for letter in letters_in(path)] == ["two"]
    assert [letter.reason for letter in letters_in(tmp_path / "moved")] == ["one"]


def _write_many(path: Path, writer: int, count: int) -> None:
    written(path, *(f"{writer}-{number}" for number in range(count)))


def test_no_letter_is_lost_while_processes_write_and_another_one_marks_and_sweeps(tmp_path: Path) -> None:
    path, count = tmp_path / "letters.jsonl", 150
    spawn = multiprocessing.get_context("spawn")
    writers = [spawn.Process(target=_write_many, args=(path, number, count)) for number in range(2)]
    for writer in writers:
        writer.start()
    seen: list[str] = []
    while any(writer.is_alive() for writer in writers) or path.exists():
        if not path.exists():
            time.sleep(0.005)
            continue
        for letter in letters_in(path):
            mark_sent(path, letter)
            seen.append(letter.reason)
        sweep(path)
    for writer in writers:
        writer.join()
    assert sorted(seen) == sorted(f"{number}-{index}" for number in range(2) for index in range(count))


def test_requests_survive_byte_for_byte(tmp_path: Path) -> None:
    path = tmp_path / "letters.jsonl"
    everything = bytes(range(256))
    DeadLetterFile(path, "otlp/x").append(Signal.LOGS, everything, 1, "é \n \u2028")
    assert letters_in(path)[0].request == everything
    assert letters_in(path)[0].reason == "é \n \u2028"
    assert base64.b64decode(json.loads(path.read_text())["request"]) == everything


def test_a_full_disk_raises_and_changes_nothing() -> None:
    with pytest.raises(OSError, match="No space left"):
        DeadLetterFile(Path("/dev/full"), "otlp/x").append(Signal.TRACES, REQUEST, 2, "bad")
