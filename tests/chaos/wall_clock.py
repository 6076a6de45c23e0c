"""A wall clock that can be set for one process and its children, while the monotonic clock goes on.

By libfaketime where it is installed (`apt install libfaketime`); else by a module that Python imports at its start and
that changes what `time.time` and `time.time_ns` say.
"""

from __future__ import annotations

from pathlib import Path

_SEAM = Path(__file__).parent / "wall_clock_seam"
_OFFSET_FILE = "SPANJUDGE_TEST_CLOCK"


class WallClock:
    """See the module's text.

    Args:
        folder: where a file says how wrong the clock is.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / "clock"
        library = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)
        self.how = "a module" if library is None else "libfaketime"
        self.environment = (
            {"PYTHONPATH": f"{_SEAM}:{Path.cwd()}", _OFFSET_FILE: str(self._file)}
            if library is None
            else {
                "LD_PRELOAD": str(library),
                "FAKETIME_TIMESTAMP_FILE": str(self._file),
                "FAKETIME_NO_CACHE": "1",
                "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            }
        )
        self.jump(0)

    def jump(self, offset_s: int) -> None:
        """Let it be so many seconds ahead."""
        new = self._file.with_suffix(".new")
        new.write_text(f"{offset_s:+d}")
        new.replace(self._file)
