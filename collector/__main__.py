"""The `spanjudge` command as a process: what has to be right before anything else is imported.

Importing takes longer than an operator's patience, so Ctrl-C just ends the process until the commands are there.  A
standard stream that was closed is opened on the null device: its number would otherwise be given to a socket or a
file, and then be written to.  What a terminal or file can't show in its encoding is replaced and not an error.
"""

from __future__ import annotations

import io
import os
import signal
import sys

STANDARD_STREAMS = 3


def main() -> None:
    """Run the command that the arguments name."""
    on_interrupt = signal.getsignal(signal.SIGINT)
    if on_interrupt is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    prepare_standard_streams()
    from collector import cli

    signal.signal(signal.SIGINT, on_interrupt)
    cli.main()


def prepare_standard_streams() -> None:
    """Make standard streams such that writing to them is harmless, whatever they are."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) < STANDARD_STREAMS:
        os.set_inheritable(descriptor, True)
    os.close(descriptor)
    sys.stdout = sys.stdout or os.fdopen(1, "w", encoding="utf-8")
    sys.stderr = sys.stderr or os.fdopen(2, "w", encoding="utf-8")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


if __name__ == "__main__":
    main()
