"""One search, in a process of its own: `python -m tests.fuzz.search TARGET CORPUS_FOLDER [libFuzzer options]`.

Ends with the status of libFuzzer: 0 when the time is over, another when something was found.
"""

from __future__ import annotations

import sys
from pathlib import Path

import atheris


def main() -> None:
    name, folder, *options = sys.argv[1:]
    with atheris.instrument_imports(include=["collector", "processors"]):
        from tests.fuzz.targets import TARGETS
    target = TARGETS[name]
    corpus = Path(folder)
    for number, seed in enumerate(target.seeds()):
        (corpus / f"seed-{number:03}").write_bytes(seed)
    atheris.Setup([sys.argv[0], str(corpus), *options], target.check)
    atheris.Fuzz()


main()
