"""One run: the scripted model and the sink on one side, the recorded program on the other."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.recorder.content import Content
from tests.recorder.facts import facts_of
from tests.recorder.installing import AGENTS, Environment
from tests.recorder.neutral import neutral
from tests.recorder.recordings.recording import Recording
from tests.recorder.scenarios import SESSION, SYSTEM, Scenario
from tests.recorder.sink import Received, Sink

RECORDED = Path(__file__).parents[1] / "recorded"
_TIMEOUT_S = 180


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run went: `remarks` are worth a look, such as an exception or answers that nobody asked for."""

    requests: int
    size_bytes: int
    not_recorded: tuple[str, ...]
    remarks: tuple[str, ...]


class RunError(Exception):
    """A program that failed, or sent no telemetry."""


def record(recording: Recording, scenario: Scenario, environment: Environment) -> Outcome:
    """Run a program and write what came of it below `RECORDED`.

    Raises:
        RunError: The program failed; nothing was written.
    """
    with (
        tempfile.TemporaryDirectory() as scratch,
        recording.model(scenario) as model,
        Sink() as sink,
    ):
        folder = Path(scratch)
        task = {"users": scenario.users, "tools": scenario.tools, "system": SYSTEM, "session": SESSION}
        (folder / "task.json").write_text(json.dumps(task), encoding="utf-8")
        (folder / "journal.jsonl").touch()
        _run(recording, environment, folder, {**_variables(folder, model.url, sink.url), **recording.variables})
        journal = [json.loads(line) for line in (folder / "journal.jsonl").read_text(encoding="utf-8").splitlines()]
    names = {folder: "/app/tmp", environment.folder: "/app", AGENTS: "/app", Path.home(): "/home/app"}
    requests = [neutral(request, names) for request in sink.received]
    if not any(request.signal == "traces" for request in requests):
        raise RunError("no spans came")
    facts = facts_of(recording, scenario, environment.versions, model.exchanges, journal, Content(requests))
    remarks = [facts["raised"]] if "raised" in facts else []
    if len(model.exchanges) < len(scenario.turns):
        remarks.append(f"{len(model.exchanges)} of {len(scenario.turns)} turns were asked for")
    _write(RECORDED / recording.dialect / scenario.name, requests, facts)
    size = sum(len(request.body) for request in requests)
    return Outcome(len(requests), size, tuple(facts["not_recorded"]), tuple(remarks))


def _variables(folder: Path, model: str, sink: str) -> dict[str, str]:
    """What every program is given, in the variables that SDKs and exporters read by themselves."""
    return {
        "RECORDER_TASK": str(folder / "task.json"),
        "RECORDER_JOURNAL": str(folder / "journal.jsonl"),
        "RECORDER_MODEL_URL": model,
        "RECORDER_SINK_URL": sink,
        "DESK_TOOLS": str(AGENTS / "tools.json"),
        "OPENAI_BASE_URL": f"{model}/v1",
        "OPENAI_API_KEY": "not-a-key",
        "ANTHROPIC_BASE_URL": model,
        "ANTHROPIC_API_KEY": "not-a-key",
        "OTEL_EXPORTER_OTLP_ENDPOINT": sink,
        "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
        "OTEL_SERVICE_NAME": "library-desk",
        "HOME": str(folder),
        "PYTHONDONTWRITEBYTECODE": "1",
        "NO_PROXY": "127.0.0.1",
    }


def _run(recording: Recording, environment: Environment, folder: Path, variables: dict[str, str]) -> None:
    try:
        done = subprocess.run(
            environment.command(recording.program),
            cwd=folder,
            env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **variables},
            capture_output=True,
            check=False,
            timeout=_TIMEOUT_S,
        )
    except subprocess.TimeoutExpired as error:
        raise RunError(f"not finished after {_TIMEOUT_S} s\n{_end_of(error.stderr or b'')}") from None
    if done.returncode:
        raise RunError(f"exit status {done.returncode}\n{_end_of(done.stderr)}")
    if os.environ.get("RECORDER_VERBOSE"):
        print(done.stdout.decode(), done.stderr.decode(), flush=True)


def _end_of(output: bytes) -> str:
    return "\n".join(output.decode(errors="replace").splitlines()[-12:])


def _write(folder: Path, requests: list[Received], facts: dict[str, Any]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for number, request in enumerate(requests, 1):
        name = f"{number:02d}-{request.signal}.{request.encoding}.gz"
        (folder / name).write_bytes(gzip.compress(request.body, mtime=0))
    text = json.dumps(facts, ensure_ascii=False, indent=1)
    (folder / "facts.json").write_text(text + "\n", encoding="utf-8")
