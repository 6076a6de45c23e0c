"""Sockets in the file system: only dead ones are replaced, and only our own are removed."""

from __future__ import annotations

import socket
import stat
from pathlib import Path

import pytest

from collector.receivers.unix_socket import OwnSocket, UnixSocketError, bind

KEY = "receivers::otlp::protocols::http::endpoint"


def dead_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))


def test_it_is_made_with_its_permissions_and_can_be_connected_to(tmp_path: Path) -> None:
    path = tmp_path / "otlp.sock"
    with bind(path, 0o640, KEY, 8), socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
        assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_socket_on_which_nobody_listens_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "otlp.sock"
    dead_socket(path)
    with bind(path, 0o600, KEY, 8) as listening, socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
        assert listening.getsockname() == str(path)


def test_a_socket_on_which_somebody_listens_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "otlp.sock"
    with bind(path, 0o600, KEY, 8):
        with pytest.raises(UnixSocketError, match=f"another program listens there; stop it, or change {KEY}"):
            bind(path, 0o600, KEY, 8)
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(path))


def test_a_file_of_another_kind_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes"
    path.write_text("dear diary")
    with pytest.raises(UnixSocketError, match="a file that is no socket is there"):
        bind(path, 0o600, KEY, 8)
    assert path.read_text() == "dear diary"


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnixSocketError, match=f"there is no folder {tmp_path / 'run'}; create it"):
        bind(tmp_path / "run" / "otlp.sock", 0o600, KEY, 8)


def test_our_own_is_removed_and_that_of_a_successor_is_not(tmp_path: Path) -> None:
    path = tmp_path / "otlp.sock"
    dead_socket(path)
    ours = OwnSocket(path)
    path.rename(tmp_path / "elsewhere")  # its file lives on, so that the next one is surely another
    dead_socket(path)
    ours.remove()
    assert path.exists()
    theirs = OwnSocket(path)
    theirs.remove()
    theirs.remove()
    assert not path.exists()
