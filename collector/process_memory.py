"""How this process gets and gives back memory.

Requests are buffers of a hundred kilobytes and more.  glibc by default maps each of these anew from the kernel, which
costs several times what is done with it; and Python's collector by default looks through everything that is held again
and again, though none of it is ever in a cycle.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

# From malloc.h.
_M_TRIM_THRESHOLD = -1
_M_TOP_PAD = -2
_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8
_MIB = 1 << 20


def _glibc() -> Any | None:
    if not sys.platform.startswith("linux"):
        return None
    library = ctypes.CDLL(None)
    return library if hasattr(library, "mallopt") and hasattr(library, "malloc_trim") else None


def settle() -> None:
    """To be called once, when everything is set up: what exists now stays, and what comes now comes in bulk."""
    library = _glibc()
    if library is not None:
        # Helper threads unpack large bodies; what each of them kept for itself would never be given back.
        library.mallopt(_M_ARENA_MAX, 2)
        library.mallopt(_M_MMAP_THRESHOLD, 8 * _MIB)
        library.mallopt(_M_TRIM_THRESHOLD, 256 * _MIB)
        library.mallopt(_M_TOP_PAD, 16 * _MIB)
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def trim() -> None:
    """Give back to the system what is free; takes some milliseconds when little is held."""
    # What is in cycles first: the collector comes by rarely (see above), and least of all when nothing arrives.
    gc.collect()
    library = _glibc()
    if library is not None:
        library.malloc_trim(0)


def resident_bytes() -> int:
    """What the process has of the machine's memory; 0 where the system doesn't tell."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    except OSError:
        return 0


def raise_file_limit() -> None:
    """Let the process have as many open files, and so connections, as the system allows it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        # Some systems name a hard limit that they then don't accept.
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


class Trimming:
    """Gives memory back when a peak has passed, whatever made it: what was held, or what was only looked at.

    Args:
        resident: bytes that the process has.
        trim: gives back what it can.
    """

    PEAK_BYTES = 64 * _MIB
    CALM_S = 60.0
    LOOK_S = 10.0

    def __init__(self, resident: Callable[[], int] = resident_bytes, trim: Callable[[], None] = trim) -> None:
        self._resident = resident
        self._trim = trim
        self._base_bytes: int | None = None
        self._high_s: float | None = None
        self._looked_s = float("-inf")
        self._held_bytes = 0

    def look(self, held_bytes: int, now_s: float) -> None:
        """To be called often: trims if the process has much more than after the last time, and it has been calm.

        Args:
            held_bytes: what is held on purpose.
            now_s: seconds on a monotonic clock.
        """
        self._held_bytes = max(self._held_bytes, held_bytes)
        if now_s - self._looked_s < self.LOOK_S:
            return
        self._looked_s = now_s
        held_bytes, self._held_bytes = self._held_bytes, 0
        resident_bytes = self._resident() - held_bytes
        if self._base_bytes is None:
            self._base_bytes = resident_bytes
        if held_bytes > self.PEAK_BYTES or resident_bytes < self._base_bytes + self.PEAK_BYTES:
            self._high_s = None
        elif self._high_s is None:
            self._high_s = now_s
        elif now_s - self._high_s >= self.CALM_S:
            self._trim()
            self._high_s = None
            # What couldn't be given back is no reason to try again for ever.
            self._base_bytes = self._resident() - held_bytes
