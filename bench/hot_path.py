"""Processor time per span of receive → hold → export, against a bare relay of the same bytes, in one run.

Several processes stand between the same sender and the same sink: the relay; the sidecar without evaluators, which
checks, queues and sends on what it receives; and the sidecar as it is used, which holds every agent span until it is
judged and sends it on with its scores, with each durability of the journal.  Counted is the process that receives; the
judging process, which works beside it, is printed apart.  In every round each of them gets the same requests, one
process after the other; printed are the medians over the rounds, and of the ratios within a round.
"""

from __future__ import annotations

import asyncio
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from string import Template

import grpc
import uvloop

from bench.relay import METHOD
from bench.traffic import SPANS_PER_REQUEST, requests

ROUNDS = 5
REQUESTS = {"agent": 100, "tiny": 800}
SIDECARS = (
    ("forwarding", "memory", False),
    ("judging, memory", "memory", True),
    ("judging, process", "process", True),
    ("judging, disk", "disk", True),
)
_AT_ONCE = 4
# A process has settled when it and its children have done next to nothing for a while.
_QUIET_S = 2.0
_QUIET_CPU_S = 0.03
_LONGEST_SETTLING_S = 30.0
_EVALUATORS = "tool_selection", "tool_invocation", "tool_response_handling", "task_completion", "step_efficiency"
# Short waits, so that a round doesn't take minutes, but a hold that lets every span leave with its scores.
_ASSEMBLE = "assemble: {quiet_period: 500ms, idle_timeout: 1s, hold: 20s, max_hold: 30s, late_window: 1s}"
_CONFIG = Template("""
receivers: {otlp: {protocols: {grpc: {endpoint: "127.0.0.1:$port"}}}}
extensions: {journal: {durability: $durability, directory: "$directory"}}
processors: {$processors}
exporters: {otlp: {endpoint: "127.0.0.1:$sink", tls: {insecure: true}}}
service: {extensions: [journal], pipelines: {traces: {receivers: [otlp], processors: [$active], exporters: [otlp]}}}
""")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def config(port: int, sink_port: int, durability: str, directory: Path, *, judging: bool) -> str:
    """A configuration of the sidecar, with all evaluators or with none."""
    processors = ", ".join([_ASSEMBLE, *(f"{name}: {{}}" for name in _EVALUATORS)]) if judging else ""
    active = ", ".join(["assemble", *_EVALUATORS]) if judging else ""
    return _CONFIG.substitute(
        port=port, sink=sink_port, processors=processors, active=active, durability=durability, directory=directory
    )


class Contestant:
    """A process between sender and sink."""

    def __init__(self, name: str, port: int, *arguments: str) -> None:
        self.name = name
        self.port = port
        self._process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL)

    def _cpu_s(self) -> tuple[float, float]:
        """Processor time of the process and of its children."""
        pid = self._process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return _cpu_s_of(pid), sum(_cpu_s_of(int(child)) for child in children)

    def work(self, bodies: list[bytes]) -> tuple[float, float]:
        """Microseconds per span, of the process and of its children, from the first request to the end of all work."""
        own_s, children_s = self._cpu_s()
        uvloop.run(_send(self.port, bodies))
        self._settle()
        own_after_s, children_after_s = self._cpu_s()
        spans = len(bodies) * SPANS_PER_REQUEST
        return (own_after_s - own_s) / spans * 1e6, (children_after_s - children_s) / spans * 1e6

    def _settle(self) -> None:
        deadline_s = time.monotonic() + _LONGEST_SETTLING_S
        before_s = sum(self._cpu_s())
        while time.monotonic() < deadline_s:
            time.sleep(_QUIET_S)
            now_s = sum(self._cpu_s())
            if now_s - before_s < _QUIET_CPU_S:
                return
            before_s = now_s

    def stop(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(timeout=30)


def _cpu_s_of(pid: int) -> float:
    # The clock that clock_getcpuclockid(3) names; the ticks in /proc are too coarse.
    return time.clock_gettime(~pid << 3 | 2)


async def _send(port: int, bodies: list[bytes]) -> None:
    options = [("grpc.max_send_message_length", -1)]
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=options) as channel:
        call = channel.unary_unary(METHOD)
        for at in range(0, len(bodies), _AT_ONCE):
            await asyncio.gather(*(call(body, wait_for_ready=True, timeout=30) for body in bodies[at : at + _AT_ONCE]))


def _measure(kind: str, relay: Contestant, sidecars: Sequence[Contestant]) -> None:
    rows: dict[str, list[tuple[float, float, float]]] = {sidecar.name: [] for sidecar in sidecars}
    bare = []
    for seed in range(ROUNDS):
        bodies = list(requests(kind, REQUESTS[kind], seed))
        bare_us, _ = relay.work(bodies)
        worked = {sidecar.name: sidecar.work(bodies) for sidecar in sidecars}
        # The first round is for nothing: it gives everyone the memory they work in.
        if seed:
            bare.append(bare_us)
            for name, (own_us, children_us) in worked.items():
                rows[name].append((own_us, own_us / bare_us, children_us))
    print(f"{kind:6}{'relay':24}{statistics.median(bare):10.2f}")
    for name, measured in rows.items():
        own_us, ratio, children_us = map(statistics.median, zip(*measured, strict=True))
        print(f"{'':6}{name:24}{own_us:10.2f}  × {ratio:5.2f}{children_us:16.1f}")


def main() -> None:
    """Measure, and print a table."""
    sink_port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        started = [Contestant("sink", sink_port, "-m", "bench.relay", "sink", str(sink_port))]
        try:
            port = free_port()
            relay = Contestant("relay", port, "-m", "bench.relay", "relay", str(port), str(sink_port))
            started.append(relay)
            for name, durability, judging in SIDECARS:
                port = free_port()
                path = Path(folder) / f"{len(started)}.yaml"
                directory = Path(folder) / f"journal-{len(started)}"
                path.write_text(config(port, sink_port, durability, directory, judging=judging))
                started.append(Contestant(name, port, "-m", "collector.cli", "run", "--config", str(path)))
            print("µs of processor time per span")
            print(f"{'':30}{'own':>10}{'× relay':>9}{'judging process':>16}")
            for kind in REQUESTS:
                _measure(kind, relay, started[2:])
        finally:
            for one in started:
                one.stop()


if __name__ == "__main__":
    main()
