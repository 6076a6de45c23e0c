"""On real file systems that are full, read-only or broken. Each in a process with mounts of its own."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.collector.journal.entries_made import A, B

ROOT = Path(__file__).parents[3]


def in_namespace(mounting: str, *, as_root: bool = False) -> subprocess.CompletedProcess[str]:
    """Run a line of shell with mounts of its own; without being root where the kernel allows that."""
    options = ["-m"] if as_root else ["-rm"]
    command = ["unshare", *options, "sh", "-ec", mounting]
    try:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    except FileNotFoundError:
        pytest.skip("needs unshare (util-linux), for file systems of its own")


def scene(name: str, folder: Path, size: str) -> dict[str, Any]:
    where = shlex.quote(str(folder))
    mount = f"mount -t tmpfs -o size={size} tmpfs {where}"
    if in_namespace(mount).returncode:
        pytest.skip("needs the right to mount a file system: root, or user namespaces")
    return seen(in_namespace(f"{mount}; exec {scene_command(name, where)}"))


def scene_command(name: str, where: str) -> str:
    return f"{shlex.quote(sys.executable)} -m tests.collector.journal.bad_disk {name} {where}"


def seen(ended: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert ended.returncode == 0, ended.stderr
    found: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return found


def test_on_a_full_disk_requests_are_refused_and_parcels_written_until_deliveries_make_room(tmp_path: Path) -> None:
    found = scene("fills_up", tmp_path, "8m")
    assert found["kept"] > 10
    assert found["refusal"] == (
        f"{tmp_path}/journal: can't make a new segment (no space left on device); try again later"
    )
    assert found["frozen"] == found["kept"]
    assert (found["lost"], found["left"], found["more"]) == ([], 0, 0)
    # Meanwhile it was tried again now and then, and not all the time.
    assert 0 < found["errors"] < 20


def test_a_parcel_that_cannot_be_written_needs_its_requests_until_it_is_delivered(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    found = scene("parcels_fail", tmp_path / "disk", "12m")
    assert "no space left on device" in found["refusal"]
    assert found["readable"]
    assert found["delivered"]
    assert found["again"] == {A: [0, 1, 2], B: [0, 1, 2]}


def test_a_write_that_fails_halfway_is_refused_and_leaves_no_trace(tmp_path: Path) -> None:
    found = seen(in_namespace(f"exec {scene_command('write_fails', shlex.quote(str(tmp_path)))}"))
    assert "(file too large); try again later" in found["refusal"]
    assert found["found"]
    assert found["damage"] == 0
    # The one that is written to, and perhaps one in reserve: not the one that failed.
    assert found["open_files"] <= 2


def test_a_backlog_is_delivered_from_a_disk_that_is_full_at_the_start(tmp_path: Path) -> None:
    found = scene("starts_full", tmp_path, "12m")
    assert found["lost"] == []
    assert found["readable"]
    assert "no space left on device" in found["refusal"]
    assert found["left"]


def test_a_first_start_on_a_full_disk_ends_with_the_reason_and_a_remedy(tmp_path: Path) -> None:
    assert scene("begins", tmp_path, "64k")["refusal"] == (
        f"{tmp_path}/journal: can't make a new segment (no space left on device); make room on its disk, or set "
        "extensions::journal::directory"
    )


def test_a_start_on_a_read_only_disk_ends_with_the_reason_and_a_remedy(tmp_path: Path) -> None:
    where = shlex.quote(str(tmp_path))
    mount = f"mount -t tmpfs -o ro tmpfs {where}"
    if in_namespace(mount).returncode:
        pytest.skip("needs the right to mount a file system: root, or user namespaces")
    ended = in_namespace(f"{mount}; exec {scene_command('begins', where)}")
    assert "can't keep a journal here (read-only file system); make the directory writable" in ended.stdout


def test_a_disk_that_fails_costs_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    where = shlex.quote(str(tmp_path))
    # A disk in a file for which there is no room: writing to it ends in I/O errors.
    made = (
        f"mount -t tmpfs -o size=7m tmpfs {where}; truncate -s 64M {where}/disk; mkfs.ext4 -q {where}/disk; "
        f"mkdir {where}/fs; mount -o loop {where}/disk {where}/fs"
    )
    if in_namespace(made, as_root=True).returncode:
        pytest.skip("needs root, loop devices and ext4")
    found = seen(in_namespace(f"{made}; {scene_command('breaks', f'{where}/fs')}", as_root=True))
    assert found["kept"] > 3
    # Whether it says so when it is written to or when it is synced is up to the disk.
    assert re.search(r"can't write to segment-.* \((input/output error|no space left on device)\)", found["refusal"])
    assert found["readable"]
    assert found["errors"] > 0
