"""The command as a process: where it may be started from, and what it says and does while it starts and ends."""

import contextlib
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.sidecar import free_port

ROOT = Path(__file__).parents[2]
FAULTY = ROOT / "collector" / "demo_data" / "2-table-in-rome.pb"
COMMAND = (sys.executable, "-P", "-m", "collector")
CLOSED = {"standard output": ">&-", "standard error": "2>&-", "all standard streams": "<&- >&- 2>&-"}


def settings(http_port: int) -> str:
    return f"""
receivers: {{otlp: {{protocols: {{http: {{endpoint: "127.0.0.1:{http_port}"}}}}}}}}
processors: {{assemble: {{quiet_period: 300ms}}, tool_selection: {{}}}}
exporters: {{file: {{path: out.jsonl}}, console: {{}}}}
service:
  pipelines:
    traces: {{receivers: [otlp], processors: [assemble, tool_selection], exporters: [file, console]}}
    logs: {{receivers: [otlp], exporters: [file]}}
"""


def until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, f"never {what}"
        time.sleep(0.05)


@contextlib.contextmanager
def started(folder: Path, http_port: int, redirections: str = "") -> Iterator[subprocess.Popen[bytes]]:
    (folder / "config.yaml").write_text(settings(http_port))
    run = [*COMMAND, "run", "--config", "config.yaml"]
    with (folder / "stdout").open("wb") as out, (folder / "stderr").open("wb") as err:
        process = subprocess.Popen(
            ["sh", "-c", f'exec "$@" {redirections}', "sh", *run],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=out,
            stderr=err,
        )
    try:
        yield process
    finally:
        process.terminate()
        process.wait(30)


def sent(http_port: int) -> bool:
    request = urllib.request.Request(
        f"http://127.0.0.1:{http_port}/v1/traces",
        data=FAULTY.read_bytes(),
        headers={"Content-Type": "application/x-protobuf"},
    )
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def judged(folder: Path) -> bool:
    written = folder / "out.jsonl"
    return written.exists() and "eval.tool_selection.label" in written.read_text()


@pytest.mark.parametrize("redirections", CLOSED.values(), ids=CLOSED)
def test_it_works_with_closed_streams(tmp_path: Path, redirections: str) -> None:
    port = free_port()
    with started(tmp_path, port, redirections):
        until(lambda: sent(port), "listening")
        until(lambda: judged(tmp_path), "judged")
    assert judged(tmp_path)


def test_packages_of_the_same_names_where_it_is_started_do_no_harm(tmp_path: Path) -> None:
    for name in ("evaluators", "processors", "collector"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise RuntimeError('imported')")
    port = free_port()
    with started(tmp_path, port):
        until(lambda: sent(port), "listening")
        until(lambda: judged(tmp_path), "judged")
    assert "imported" not in (tmp_path / "stderr").read_text()


def test_it_says_where_it_listens_and_where_everything_goes(tmp_path: Path) -> None:
    port = free_port()
    with started(tmp_path, port):
        until(lambda: "ready" in (tmp_path / "stderr").read_text(), "ready")
        said = [line.split(": ", 1)[1] for line in (tmp_path / "stderr").read_text().splitlines()]
    assert said.pop(0).startswith("commands are answered at ")
    assert said == [
        f"otlp listens on 127.0.0.1:{port} (OTLP/HTTP)",
        f"traces go to file ({tmp_path / 'out.jsonl'}), console (standard output)",
        f"logs go to file ({tmp_path / 'out.jsonl'})",
        "ready: judging by rules alone: tool_selection",
    ]


def test_ctrl_c_while_it_starts_ends_it_without_a_traceback(tmp_path: Path) -> None:
    with started(tmp_path, free_port()) as process:
        loaded = Path(f"/proc/{process.pid}/maps")
        until(lambda: "pydantic_core" in loaded.read_text(), "importing")
        process.send_signal(signal.SIGINT)
        process.wait(30)
    assert "Traceback" not in (tmp_path / "stderr").read_text()


@pytest.mark.parametrize(
    "arguments", [["components"], ["demo"], ["replay", "--format", "jsonl", str(FAULTY)], ["--help"]]
)
def test_output_that_cannot_be_written_is_told_in_one_line(arguments: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run([*COMMAND, *arguments], stdout=full, stderr=subprocess.PIPE, check=False, text=True)
    assert (ended.returncode, ended.stderr) == (
        1,
        "error: standard output: can't be written: No space left on device\n",
    )


@pytest.mark.parametrize("command", ["demo", "replay", "transcript"])
def test_output_in_another_encoding_shows_what_it_can(command: str) -> None:
    ended = subprocess.run(
        [*COMMAND, command, *([] if command == "demo" else [str(FAULTY)])],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert b"reserve_table" in ended.stdout


def test_a_reader_that_goes_away_is_no_error_worth_telling() -> None:
    read, write = os.pipe()
    os.close(read)
    ended = subprocess.run([*COMMAND, "components"], stdout=write, stderr=subprocess.PIPE, check=False, text=True)
    os.close(write)
    assert (ended.returncode, ended.stderr) == (1, "")
