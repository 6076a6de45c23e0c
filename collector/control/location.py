"""Where the control sockets are: one per sidecar, so that commands find a running one without being told.

The folder is the service manager's runtime directory, else the user's, else one in the folder for temporary files.
It isn't the journal's: that may be on a volume that can't hold sockets, at a path too long for one, or not there.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from collector.start_error import StartError

SUFFIX = ".sock"
_SERVICE_FOLDER = Path("/run/spanjudge")


class LocationError(StartError):
    """There can be no control socket; the message says why and what to do."""


def own_socket(environment: Mapping[str, str] | None = None) -> Path:
    """The path for this process's socket; its folder is made.

    Raises:
        LocationError: the folder can't be made, or somebody else may put a socket in it.
    """
    folder = _own_folder(os.environ if environment is None else environment)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.stat()
    except OSError as error:
        raise LocationError(f"there is no folder for it ({folder}: {error.strerror}); {_REMEDY}") from None
    if found.st_uid not in (os.getuid(), 0) or stat.S_IMODE(found.st_mode) & (stat.S_IWGRP | stat.S_IWOTH):
        raise LocationError(f"others may write to its folder {folder}; {_REMEDY}")
    return folder / f"{os.getpid()}{SUFFIX}"


_REMEDY = "set extensions::control::socket"


def known_sockets(environment: Mapping[str, str] | None = None) -> Iterator[Path]:
    """The sockets of sidecars, running or not, that this user may have to do with."""
    variables = os.environ if environment is None else environment
    for folder in dict.fromkeys((_own_folder(variables), _SERVICE_FOLDER, _temporary_folder())):
        yield from sorted(folder.glob(f"*{SUFFIX}"))


def _own_folder(environment: Mapping[str, str]) -> Path:
    # systemd gives several with colons between.
    if given := environment.get("RUNTIME_DIRECTORY", "").partition(":")[0]:
        return Path(given)
    if users := environment.get("XDG_RUNTIME_DIR"):
        return Path(users) / "spanjudge"
    return _temporary_folder()


def _temporary_folder() -> Path:
    return Path(tempfile.gettempdir()) / f"spanjudge-{os.getuid()}"
