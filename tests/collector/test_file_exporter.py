"""The file exporter: the Collector's format, appended whole, and what happens when it can't be written."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from collector.exporters.appending import append_whole
from collector.exporters.file import FileSender, FileSettings
from collector.exporters.sender import MisconfiguredError, RejectedDataError, RetryableError, Taken
from collector.records import Signal
from collector.start_error import StartError
from tests.collector.backends import trace_request


def sender(path: Path, **more: object) -> FileSender:
    return FileSender("file", FileSettings.model_validate({"path": path, **more}))


async def test_every_request_is_one_line_appended_to_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "new" / "traces.jsonl"
    for name in ("a", "b"):
        assert await sender(path).send(Signal.TRACES, trace_request(name), {}) == Taken()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    names = [line["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["name"] for line in lines]
    assert names == ["a", "b"]


async def test_a_full_file_is_put_aside_and_the_oldest_go(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    writer = sender(path, rotation={"max_megabytes": 1, "max_backups": 2})
    for number in range(9):
        await writer.send(Signal.TRACES, trace_request(f"s{number}", padding=600_000), {})
    files = sorted(tmp_path.iterdir())
    assert len(files) == 3
    assert [len(file.read_text().splitlines()) for file in files] == [1, 1, 1]
    assert '"s8"' in path.read_text()


async def test_a_place_that_cant_be_written_is_a_matter_of_configuration(tmp_path: Path) -> None:
    with pytest.raises(MisconfiguredError, match="Is a directory"):
        await sender(tmp_path).send(Signal.TRACES, trace_request("a"), {})
    (tmp_path / "file").write_text("")
    with pytest.raises(MisconfiguredError):
        await sender(tmp_path / "file" / "below").send(Signal.TRACES, trace_request("a"), {})


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
async def test_a_full_disk_may_have_room_again_later() -> None:
    with pytest.raises(RetryableError, match="No space left"):
        await sender(Path("/dev/full")).send(Signal.TRACES, trace_request("a"), {})


async def test_what_cant_be_read_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(RejectedDataError):
        await sender(tmp_path / "x").send(Signal.TRACES, b"\xff\xff", {})


def test_no_half_line_is_left_behind_when_the_disk_fills_up(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"whole\n")
    # A limit on the size of files fails in the middle of a write just as a full disk does.
    script = (
        "import resource, signal, sys, pathlib\n"
        "from collector.exporters.appending import append_whole\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
        "append_whole(pathlib.Path(sys.argv[1]), b'x' * 1000)\n"
    )
    ended = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=False)
    assert "File too large" in ended.stderr
    assert path.read_bytes() == b"whole\n"


def test_a_new_file_has_the_mode_asked_for(tmp_path: Path) -> None:
    append_whole(tmp_path / "x", b"a\n", mode=0o600)
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("more", [{"format": "proto"}, {"append": False}, {"compression": "zstd"}])
def test_what_cant_work_is_refused(more: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        FileSettings.model_validate(more)


async def test_a_file_that_cannot_be_written_is_told_at_start(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    sender = FileSender("file/out", FileSettings(path=tmp_path / "folder"))
    with pytest.raises(StartError, match=r"can't write to .*: Is a directory; correct exporters::file/out::path"):
        await sender.start()
    (tmp_path / "text").write_text("")
    with pytest.raises(StartError, match="exporters::file::path"):
        await FileSender("file", FileSettings(path=tmp_path / "text" / "out.jsonl")).start()
