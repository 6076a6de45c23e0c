"""Other libraries as systems of the bench: their environment, and the worker that runs them there.

In: fields of a case (`bench.judges.fields`).  Out: whether the library's evaluator calls it good, or why it doesn't
say.  The environment is made on the first run, from exact versions, in a folder that git ignores.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from bench.judges.records import Told

_HERE = Path(__file__).parent
_REQUIREMENTS = _HERE / "requirements.txt"
CACHE = _HERE.parents[1] / ".bench"
_QUIET = {
    # Nothing is reported to anybody, and patience is that of the endpoint.
    "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
    "DEEPEVAL_DISABLE_DOTENV": "1",
    "DEEPEVAL_PER_ATTEMPT_TIMEOUT_SECONDS_OVERRIDE": "3600",
    "DEEPEVAL_DISABLE_TIMEOUTS": "1",
    "RAGAS_DO_NOT_TRACK": "true",
}


def environment() -> Path:
    """The Python of the libraries' environment, which is made where it is missing or its versions have changed."""
    place = CACHE / "peers"
    python, stamp = place / "bin/python", place / ".installed"
    wanted = hashlib.sha256(_REQUIREMENTS.read_bytes()).hexdigest()
    if not stamp.exists() or stamp.read_text() != wanted:
        print(f"installing {_REQUIREMENTS.name} into {place} …", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", place], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-deps", "-r", _REQUIREMENTS], check=True)
        stamp.write_text(wanted)
    return python


class PeerWorker:
    """The worker process, while it is entered."""

    def __enter__(self) -> Self:
        CACHE.mkdir(exist_ok=True)
        python = environment()
        self._log = (CACHE / "peers.log").open("w")
        self._process = subprocess.Popen(
            [python, _HERE / "peer_worker.py"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            cwd=CACHE,
            env={**os.environ, **_QUIET},
        )
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.terminate()
        self._process.wait()
        self._log.close()

    def ask(self, library: str, evaluator: str, fields: Mapping[str, Any], base_url: str, model: str) -> Told:
        """What the library's evaluator says."""
        assert self._process.stdin is not None and self._process.stdout is not None
        asked = {"library": library, "evaluator": evaluator, "fields": fields, "base_url": base_url, "model": model}
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the worker of other libraries has ended; see {self._log.name}")
        told = json.loads(line)
        bad = None if told["good"] is None else not told["good"]
        return Told(bad=bad, by="model", reason=told["reason"])
