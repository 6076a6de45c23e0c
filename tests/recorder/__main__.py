"""`python -m tests.recorder [NAME…]`: make recordings, all or those whose dialect matches a name (with wildcards)."""

from __future__ import annotations

import argparse
import fnmatch
import subprocess
import sys

from tests.recorder.installing import prepare
from tests.recorder.recordings import RECORDINGS, Recording
from tests.recorder.run import RunError, record
from tests.recorder.scenarios import SCENARIOS


def main() -> int:
    """Make the recordings that were asked for; exit status 1 if one couldn't be made."""
    parser = argparse.ArgumentParser(prog="python -m tests.recorder", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="dialects, such as 'openai__*'; default: all")
    parser.add_argument("--scenario", action="append", help="only this scenario; may be given several times")
    parser.add_argument("--list", action="store_true", help="tell what can be recorded, and do nothing")
    options = parser.parse_args()
    wanted = [
        recording
        for dialect, recording in RECORDINGS.items()
        if not options.names or any(fnmatch.fnmatch(dialect, name) for name in options.names)
    ]
    if options.list:
        for recording in wanted:
            print(recording.dialect, *recording.scenarios)
        return 0
    made = [_made(recording, options.scenario) for recording in wanted]
    return 0 if made and all(made) else 1


def _made(recording: Recording, only: list[str] | None) -> bool:
    try:
        environment = prepare(recording.environment)
    except (subprocess.CalledProcessError, OSError) as error:
        print(f"{recording.dialect}: no environment: {error}", file=sys.stderr, flush=True)
        return False
    good = True
    for name in recording.scenarios:
        if only and name not in only:
            continue
        try:
            outcome = record(recording, SCENARIOS[name], environment)
        except RunError as error:
            print(f"{recording.dialect}/{name}: {error}", file=sys.stderr, flush=True)
            good = False
            continue
        details = [f"{outcome.requests} requests, {outcome.size_bytes} bytes", *outcome.remarks]
        if outcome.not_recorded:
            details.append(f"not recorded: {', '.join(outcome.not_recorded)}")
        print(f"{recording.dialect}/{name}: {'; '.join(details)}", flush=True)
    return good


if __name__ == "__main__":
    sys.exit(main())
