"""The dead-letter file: every letter is one line from which the request can be sent again."""

import base64
import json
import stat
from pathlib import Path

import pytest

from collector.exporters import dead_letters
from collector.exporters.dead_letters import DeadLetterFile
from collector.records import Parcel, Signal


def letters(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_letter_holds_the_request_and_what_has_to_travel_with_it(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "letters.jsonl"
    DeadLetterFile(path, "otlp/x").append(Signal.TRACES, b"\x00request", 3, "too large", {"x-project-name": "p"})
    [letter] = letters(path)
    assert base64.b64decode(str(letter.pop("request"))) == b"\x00request"
    assert letter.pop("time")
    assert letter == {
        "sent": 0,
        "answer": "",
        "destination": "otlp/x",
        "signal": "traces",
        "items": 3,
        "reason": "too large",
        "headers": {"x-project-name": "p"},
    }
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_many_letters_are_written_whole_in_few_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dead_letters, "_BATCH_BYTES", 4000)
    path = tmp_path / "letters.jsonl"
    parcels = [Parcel(Signal.LOGS, bytes([number]) * 500, 1, (("x-project-name", "p"),)) for number in range(50)]
    assert DeadLetterFile(path, "otlp/x").append_all(parcels, "the end") == 50
    written = letters(path)
    assert [base64.b64decode(str(letter["request"]))[0] for letter in written] == list(range(50))
    assert {json.dumps(letter["headers"]) for letter in written} == {'{"x-project-name": "p"}'}


def test_what_cannot_be_written_raises_and_leaves_no_half_line(tmp_path: Path) -> None:
    folder = tmp_path / "letters.jsonl"
    folder.mkdir()
    with pytest.raises(OSError):
        DeadLetterFile(folder, "otlp/x").append_all([Parcel(Signal.TRACES, b"x", 1)], "the end")
