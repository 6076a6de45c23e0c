"""Searches for bytes that a reader of bytes doesn't bear, guided by coverage: `python -m tests.fuzz [TARGET…] [-s S]`.

Needs atheris (`pip install atheris`, Linux).  One target after the other, each for so many seconds; prints a line per
target.  What is found is kept in `.fuzz/`; put it into `tests/fuzz/found/TARGET/` with the fix, and it is a test.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

from tests.fuzz.targets import TARGETS

_FOLDER = Path(".fuzz")
_PROGRESS = re.compile(r"#(\d+)\s.*?cov: (\d+).*?exec/s: (\d+)")
_MEMORY_MIB = 2048
_LONGEST_TRY_S = 20
_LONGEST_INPUT_BYTES = 64 << 10


def search(name: str, seconds: int) -> bool:
    """Search one target; True if nothing was found."""
    corpus, found = _FOLDER / name / "corpus", _FOLDER / name / "found"
    for folder in (corpus, found):
        folder.mkdir(parents=True, exist_ok=True)
    before = set(found.iterdir())
    options = [
        f"-max_total_time={seconds}",
        f"-artifact_prefix={found}/",
        f"-rss_limit_mb={_MEMORY_MIB}",
        f"-timeout={_LONGEST_TRY_S}",
        f"-max_len={_LONGEST_INPUT_BYTES}",
        "-print_final_stats=1",
    ]
    command = [sys.executable, "-m", "tests.fuzz.search", name, str(corpus), *options]
    done = subprocess.run(command, check=False, capture_output=True)
    log = (done.stdout + done.stderr).decode("utf-8", "replace")
    (_FOLDER / name / "log.txt").write_text(log)
    tries = re.findall(r"stat::number_of_executed_units:\s+(\d+)", log)
    peak = re.findall(r"stat::peak_rss_mb:\s+(\d+)", log)
    coverage = [match[2] for match in _PROGRESS.finditer(log)]
    new = sorted(set(found.iterdir()) - before)
    print(
        f"{name:16} {tries[-1] if tries else '?':>9} tries, {coverage[-1] if coverage else '?':>6} edges, "
        f"{peak[-1] if peak else '?':>5} MiB at most, "
        + (f"FOUND {', '.join(map(str, new))}" if new else "nothing found" if done.returncode == 0 else "FAILED"),
        flush=True,
    )
    return done.returncode == 0


def main() -> int:
    """Search all targets that are named, or all there are; 1 if something was found."""
    if importlib.util.find_spec("atheris") is None:
        print("atheris is missing: pip install atheris", file=sys.stderr)
        return 2
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("-s", "--seconds", type=int, default=60, help="for each target")
    arguments = parser.parse_args()
    unknown = set(arguments.targets) - set(TARGETS)
    if unknown:
        parser.error(f"there is no target {', '.join(sorted(unknown))}; there are {', '.join(TARGETS)}")
    sound = [search(name, arguments.seconds) for name in arguments.targets or TARGETS]
    return 0 if all(sound) else 1


if __name__ == "__main__":
    sys.exit(main())
