"""What a SIGHUP means: that the terminal was closed, or, as for every other service, to read the configuration again.

A process that has a terminal loses it when that is closed, so what is asked is whether it still has it.  Services
(systemd, containers, cron, `setsid`) have none to lose, and `kill -HUP` at a process in an open terminal takes it from
nobody.
"""

from __future__ import annotations

import os
import signal
from enum import Enum, auto


class HangUp(Enum):
    """What to do about a SIGHUP."""

    RELOAD = auto()
    STOP = auto()
    NOTHING = auto()


class Terminal:
    """The terminal that the process was started from, if any. To be made before signals are handled."""

    def __init__(self) -> None:
        self._had_one = _has_one()
        # Whoever starts it under nohup wants it to outlive the terminal.
        self._outlives = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN

    def hang_up(self) -> HangUp:
        """What a SIGHUP that has just come means."""
        if not self._had_one or _has_one():
            return HangUp.RELOAD
        self._had_one = False
        return HangUp.NOTHING if self._outlives else HangUp.STOP


def _has_one() -> bool:
    try:
        os.close(os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK))
    except OSError:
        return False
    return True
