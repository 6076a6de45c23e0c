"""Whether evaluators that are Python classes can be loaded, found out in a process of its own before anything starts.

    python -m collector.judging.class_check < SETTINGS > FAULTS

The code of other packages runs where traces are judged and nowhere else, so the process that asks doesn't import it.
The check runs the way the judging process does: with the same interpreter and the same path.
"""

from __future__ import annotations

import contextlib
import json
import pickle
import subprocess
import sys

from collector.config import Config, ConfigError, Kind, Problem
from collector.judging.setup import class_faults, class_settings

LIMIT_S = 60.0
_HERE = "collector.judging.class_check"


def check_classes(config: Config) -> None:
    """Raises ConfigError with every evaluator whose class can't be used; without such evaluators, does nothing."""
    settings = class_settings(config)
    if not settings:
        return
    command = [sys.executable, "-P", "-m", _HERE]
    try:
        done = subprocess.run(
            command, input=pickle.dumps(settings), stdout=subprocess.PIPE, timeout=LIMIT_S, check=True
        )
        faults: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    except subprocess.TimeoutExpired:
        faults = dict.fromkeys(
            settings, f"loading took longer than {LIMIT_S:g} s; load models and data when they are used"
        )
    except (subprocess.CalledProcessError, IndexError, ValueError):
        faults = dict.fromkeys(settings, "the process that loaded it ended; see what it wrote, and correct the package")
    if faults:
        raise ConfigError([_problem(config, component, fault) for component, fault in faults.items()])


def _problem(config: Config, component: str, fault: str) -> Problem:
    what, _, remedy = fault.partition("; ")
    return config.problem((Kind.PROCESSOR.value, component), what, remedy or "correct the package")


def main() -> None:
    """Reads settings by component id, and writes what is wrong by component id as JSON."""
    # Other packages may print while they are loaded; standard output is the answer's.
    with contextlib.redirect_stdout(sys.stderr):
        # Written by the process above, which started this one.
        faults = class_faults(pickle.load(sys.stdin.buffer))
    sys.stdout.write("\n" + json.dumps(faults) + "\n")


if __name__ == "__main__":
    main()
