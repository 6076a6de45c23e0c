"""Where control sockets are, and who may put one there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from collector.control.location import LocationError, known_sockets, own_socket


@pytest.mark.parametrize(
    ("variables", "folder"),
    [
        ({"RUNTIME_DIRECTORY": "{}/run:{}/other", "XDG_RUNTIME_DIR": "{}/user"}, "run"),
        ({"XDG_RUNTIME_DIR": "{}/user"}, "user/spanjudge"),
    ],
)
def test_the_folder_is_the_service_managers_or_else_the_users(
    tmp_path: Path, variables: dict[str, str], folder: str
) -> None:
    environment = {name: value.replace("{}", str(tmp_path)) for name, value in variables.items()}
    socket = own_socket(environment)
    assert socket == tmp_path / folder / f"{os.getpid()}.sock"
    socket.touch()
    assert socket in list(known_sockets(environment))


def test_a_folder_that_others_may_write_to_is_refused(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    with pytest.raises(LocationError, match=r"others may write.*extensions::control::socket"):
        own_socket({"RUNTIME_DIRECTORY": str(shared)})


def test_a_folder_that_cannot_be_made_is_named_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LocationError, match=r"file.*extensions::control::socket"):
        own_socket({"XDG_RUNTIME_DIR": str(tmp_path / "file")})
