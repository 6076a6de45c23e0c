"""How this process gets and gives back memory.

Requests are buffers of a hundred kilobytes and more.  glibc by default maps each of these anew from the kernel, which
costs several times what is done with it; and Python's collector by default looks through everything that is held again
and again, though none of it is ever in a cycle.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from typing import Any

# From malloc.h.
_M_TRIM_THRESHOLD = -1
_M_TOP_PAD = -2
_M_MMAP_THRESHOLD = -3
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
        library.mallopt(_M_MMAP_THRESHOLD, 64 * _MIB)
        library.mallopt(_M_TRIM_THRESHOLD, 256 * _MIB)
        library.mallopt(_M_TOP_PAD, 16 * _MIB)
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def trim() -> None:
    """Give back to the system what is free; takes some milliseconds."""
    library = _glibc()
    if library is not None:
        library.malloc_trim(0)
