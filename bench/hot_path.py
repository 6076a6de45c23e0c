"""Processor time per span of receive → hold → export, against a bare relay of the same bytes, in one run.

Both stand between the same sender and the same sink. Counted is the receiving process alone; the judging process,
which works beside it, is printed apart. Prints medians of alternating rounds, and their ratios.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import grpc
import uvloop

from bench.relay import METHOD
from bench.traffic import SPANS_PER_REQUEST, requests

ROUNDS = 3
REQUESTS = {"agent": 200, "tiny": 800}
_TICKS = os.sysconf("SC_CLK_TCK")
_CONFIG = """
receivers: {{otlp: {{protocols: {{grpc: {{endpoint: "127.0.0.1:{port}"}}}}}}}}
processors:
  assemble: {{quiet_period: 500ms, idle_timeout: 1s, hold: 4s, max_hold: 5s, late_window: 1s}}
  tool_selection: {{}}
  tool_invocation: {{}}
  tool_response_handling: {{}}
  task_completion: {{}}
  step_efficiency: {{}}
exporters: {{otlp: {{endpoint: "127.0.0.1:{sink}", tls: {{insecure: true}}}}}}
service:
  pipelines:
    traces:
      receivers: [otlp]
      processors: [assemble, tool_selection, tool_invocation, tool_response_handling, task_completion, step_efficiency]
      exporters: [otlp]
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def cpu_seconds(pid: int) -> float:
    """User and system time of one process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def children_cpu_seconds(pid: int) -> float:
    listed = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return sum(cpu_seconds(int(child)) for child in listed)


async def send(port: int, kind: str, count: int, seed: int) -> None:
    options = [("grpc.max_send_message_length", -1)]
    bodies = list(requests(kind, count, seed))
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=options) as channel:
        call = channel.unary_unary(METHOD)
        for at in range(0, count, 4):
            await asyncio.gather(*(call(body, wait_for_ready=True, timeout=30) for body in bodies[at : at + 4]))


def start(*arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL)


def measure(kind: str, process: subprocess.Popen[bytes], port: int, seed: int, settle_s: float) -> tuple[float, float]:
    """Microseconds per span: of the process itself, and of its children."""
    before, children_before = cpu_seconds(process.pid), children_cpu_seconds(process.pid)
    uvloop.run(send(port, kind, REQUESTS[kind], seed))
    time.sleep(settle_s)
    spans = REQUESTS[kind] * SPANS_PER_REQUEST
    own = cpu_seconds(process.pid) - before
    return own / spans * 1e6, (children_cpu_seconds(process.pid) - children_before) / spans * 1e6


def main() -> None:
    sink_port, relay_port, sidecar_port = free_port(), free_port(), free_port()
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "config.yaml"
        config.write_text(_CONFIG.format(port=sidecar_port, sink=sink_port))
        processes = [
            start("-m", "bench.relay", "sink", str(sink_port)),
            start("-m", "bench.relay", "relay", str(relay_port), str(sink_port)),
            start("-m", "collector.cli", "run", "--config", str(config)),
        ]
        _, relay, sidecar = processes
        try:
            # Once for nothing, so that both have the memory they work in.
            for kind in REQUESTS:
                for port in (relay_port, sidecar_port):
                    uvloop.run(send(port, kind, REQUESTS[kind], seed=0))
            time.sleep(8)
            print(f"{'':8}{'relay':>12}{'sidecar':>12}{'ratio':>8}{'judging':>12}   (µs of processor time per span)")
            for kind in REQUESTS:
                rows = [
                    (*measure(kind, relay, relay_port, seed, 0.5), *measure(kind, sidecar, sidecar_port, seed, 6.0))
                    for seed in range(1, ROUNDS + 1)
                ]
                bare, own, judging = (statistics.median(row[at] for row in rows) for at in (0, 2, 3))
                ratio = statistics.median(row[2] / row[0] for row in rows)
                print(f"{kind:8}{bare:12.2f}{own:12.2f}{ratio:8.2f}{judging:12.2f}")
        finally:
            for process in processes:
                process.send_signal(signal.SIGTERM)
            for process in processes:
                process.wait(timeout=30)


if __name__ == "__main__":
    main()
