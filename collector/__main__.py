"""The `spanjudge` command as a process: what has to be right before anything else is imported.

Importing takes longer than an operator's patience, so Ctrl-C just ends the process until the commands are there.  A
standard stream that was closed is opened on the null device: its number would otherwise be given to a socket or a
file, and then be written to.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TextIO

STANDARD_STREAMS = 3


def main() -> None:
    """Run the command that the arguments name."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    open_standard_streams()
    from collector import cli

    signal.signal(signal.SIGINT, signal.default_int_handler)
    cli.main()


def open_standard_streams() -> None:
    """Put the null device where a standard stream was closed."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) < STANDARD_STREAMS:
        os.set_inheritable(descriptor, True)
    os.close(descriptor)
    sys.stdout = sys.stdout or _null()
    sys.stderr = sys.stderr or _null()


def _null() -> TextIO:
    return Path(os.devnull).open("w", encoding="utf-8")


if __name__ == "__main__":
    main()
