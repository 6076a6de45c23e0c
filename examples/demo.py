"""`make demo`: a travel assistant with good and faulty runs, judged live by a sidecar of its own.

Starts `spanjudge run` on free loopback ports, points the assistant's standard OTLP exporter at it, and shows what the
sidecar prints until every run has been judged.  The model is scripted and local: no key, no network.
"""

from __future__ import annotations

import io
import os
import queue
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from rich.console import Console
from travel_desk.agent import TravelDesk
from travel_desk.model_server import model_server
from travel_desk.scenarios import SCENARIOS

CONFIG = Path(__file__).with_name("otel-config.demo.yaml")
START_TIMEOUT_S = 40.0
JUDGED_TIMEOUT_S = 40.0
STOP_TIMEOUT_S = 20.0

console = Console(highlight=False)


class DemoError(Exception):
    """The demo can't go on; the message says why."""


def ignore_the_users_tracing() -> None:
    """Settings and proxies meant for the user's own programs must not reach the demo; everything here is loopback."""
    for name in [name for name in os.environ if name.startswith(("OTEL_", "OPENINFERENCE_", "OPENAI_"))]:
        del os.environ[name]
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1"


def free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    try:
        return [int(bound.getsockname()[1]) for bound in sockets]
    finally:
        for bound in sockets:
            bound.close()


@dataclass
class Sidecar:
    """A running `spanjudge run`, its printed lines and where it listens."""

    process: subprocess.Popen[str]
    http_port: int
    health_port: int
    lines: queue.Queue[str | None]
    errors: IO[str]

    def wait_until_healthy(self) -> None:
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise DemoError(f"the sidecar ended with code {self.process.returncode} while starting")
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.health_port}/", timeout=1) as answer:
                    if answer.status == 200:
                        return
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        raise DemoError(f"the sidecar did not come up within {START_TIMEOUT_S:.0f} s")

    def show_until_judged(self, trace_ids: set[str]) -> None:
        """Pass on what the sidecar prints until each of the traces has had its closing line."""
        deadline = time.monotonic() + JUDGED_TIMEOUT_S
        waiting = set(trace_ids)
        while waiting:
            try:
                line = self.lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise DemoError(
                    f"{len(waiting)} of {len(trace_ids)} runs were not printed within {JUDGED_TIMEOUT_S:.0f} s"
                ) from None
            if line is None:
                raise DemoError("the sidecar stopped printing before every run was judged")
            sys.stdout.write(line)
            sys.stdout.flush()
            waiting -= {trace_id for trace_id in waiting if trace_id in line}

    def stop(self) -> None:
        """SIGTERM, as an orchestrator would; whatever it still holds is printed."""
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise DemoError(f"the sidecar did not stop within {STOP_TIMEOUT_S:.0f} s of SIGTERM") from None
        if code != 0:
            raise DemoError(f"the sidecar ended with code {code}")


@contextmanager
def sidecar() -> Iterator[Sidecar]:
    """Start a sidecar; whatever happens, it is gone afterwards."""
    grpc_port, http_port, health_port = free_ports(3)
    environment = os.environ | {
        "DEMO_GRPC_PORT": str(grpc_port),
        "DEMO_HTTP_PORT": str(http_port),
        "DEMO_HEALTH_PORT": str(health_port),
        "COLUMNS": str(console.width),
        "PYTHONUNBUFFERED": "1",
    }
    if console.is_terminal and not console.no_color:
        environment["FORCE_COLOR"] = "1"  # its output goes through a pipe, and then to this terminal
    command = Path(sys.executable).with_name("spanjudge")
    if not command.exists() and (found := shutil.which("spanjudge")):
        command = Path(found)
    with tempfile.TemporaryFile("w+") as errors:
        try:
            process = subprocess.Popen(
                [command, "run", "--config", CONFIG],
                stdout=subprocess.PIPE,
                stderr=errors,
                env=environment,
                text=True,
                encoding="utf-8",
                # Ctrl-C is for the demo, which then ends its sidecar.
                start_new_session=True,
            )
        except OSError as error:
            raise DemoError(f"{command} could not be started: {error.strerror}") from error
        assert process.stdout is not None
        lines: queue.Queue[str | None] = queue.Queue()
        reader = threading.Thread(target=_read_lines, args=(process.stdout, lines), daemon=True)
        reader.start()
        try:
            yield Sidecar(process, http_port, health_port, lines, errors)
        except DemoError as error:
            errors.seek(0)
            said = errors.read().strip()[-2000:]
            raise DemoError(f"{error}\n{said}" if said else str(error)) from error
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()
            reader.join()
            process.stdout.close()


def _read_lines(stream: IO[str], lines: queue.Queue[str | None]) -> None:
    for line in stream:
        lines.put(line)
    lines.put(None)


def show() -> None:
    faulty = sum(scenario.faulty for scenario in SCENARIOS)
    console.print(f"{len(SCENARIOS)} runs of a travel assistant, {faulty} of them faulty. Starting a sidecar for it …")
    with sidecar() as judge, model_server() as model_url:
        judge.wait_until_healthy()
        exporter = OTLPSpanExporter(endpoint=f"http://127.0.0.1:{judge.http_port}/v1/traces")
        console.print(
            "The assistant works and sends its spans to the sidecar, which judges each run once it is over:\n"
        )
        desk = TravelDesk(model_url, exporter)
        try:
            trace_ids = {desk.run(scenario) for scenario in SCENARIOS}
        finally:
            desk.close()
        judge.show_until_judged(trace_ids)
        judge.stop()
    console.print("\nEach red line is an attribute on its span. Your tracing backend finds it by")
    console.print("  eval.tool_selection.label=incorrect", style="bold")
    console.print("Rules alone judged here. What they can't decide, a model can: docs/judge.md")


def main() -> int:
    ignore_the_users_tracing()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # not every terminal speaks Unicode
    try:
        show()
    except DemoError as error:
        Console(stderr=True, highlight=False).print(
            f"The demo failed: {error}", style="red", markup=False, soft_wrap=True
        )
        return 1
    except OSError as error:
        # Whoever reads has gone, or there is no room for what is printed.
        if not isinstance(error, BrokenPipeError):
            sys.stderr.write(f"The demo failed: {error.strerror}\n")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
