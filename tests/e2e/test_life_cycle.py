"""How the sidecar starts and ends: in order, with an exit code, and with nothing of it left behind."""

import asyncio
import json
import os
import signal
import socket
from pathlib import Path

import httpx2
import pytest

from bench.traffic import requests
from tests.e2e.sidecar import Sidecar, free_port, running_backend, running_sidecar
from tests.e2e.test_run import config, post, until

HURT = ("Traceback", "never retrieved", "was destroyed", "never awaited")


def workers_of(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in children if "judging.worker" in Path(f"/proc/{child}/cmdline").read_text()]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


async def test_a_port_in_use_ends_what_was_started_and_says_which(tmp_path: Path) -> None:
    sidecar = Sidecar(tmp_path, config(free_port()))
    taken = socket.create_server(("127.0.0.1", sidecar.http_port))
    with taken, pytest.raises(AssertionError, match="ended with 1"):
        await sidecar.start()
    last = sidecar.stderr.splitlines()[-1]
    assert last.startswith(f"error: can't listen on 127.0.0.1:{sidecar.http_port}: Address already in use; ")
    assert "receivers::otlp::protocols::http::endpoint" in last
    assert not any(word in sidecar.stderr for word in HURT)
    for port in (sidecar.grpc_port, sidecar.health_port):
        socket.create_server(("127.0.0.1", port)).close()


async def test_it_ends_though_a_backend_is_dead_and_keeps_what_that_could_not_take(tmp_path: Path) -> None:
    async with running_sidecar(tmp_path, config(free_port())) as sidecar:
        await post(sidecar, list(requests("agent", 2)))
        workers = workers_of(sidecar.process.pid)
        sidecar.process.send_signal(signal.SIGTERM)
        await until(lambda: "stopping" in sidecar.stderr)
        sidecar.process.send_signal(signal.SIGTERM)  # a parent may pass on what the whole group was sent
        answers = await health_until_the_end(sidecar)
        assert await sidecar.process.wait() == 0
        assert 503 in answers and answers == sorted(answers), "ready, then not, and never again"
        assert not any(is_alive(worker) for worker in workers)
        assert not any(word in sidecar.stderr for word in HURT)
        letters = tmp_path / "spanjudge-dead-letters-otlp-backend.jsonl"
        assert letters.name in sidecar.stderr
        assert sum(json.loads(line)["items"] for line in letters.read_text().splitlines()) == 204


async def health_until_the_end(sidecar: Sidecar) -> list[int]:
    answers: list[int] = []
    async with httpx2.AsyncClient(trust_env=False) as client:
        try:
            while True:
                answers.append((await client.get(f"http://127.0.0.1:{sidecar.health_port}/")).status_code)
                await asyncio.sleep(0.05)
        except httpx2.TransportError:
            return answers


async def test_a_terminal_that_closes_ends_it_in_order(tmp_path: Path) -> None:
    async with running_backend() as backend, running_sidecar(tmp_path, config(backend.port, "10s")) as sidecar:
        await post(sidecar, list(requests("agent", 1)))
        sidecar.process.send_signal(signal.SIGHUP)
        assert await sidecar.process.wait() == 0
        assert len(backend.spans) == 102


async def test_ctrl_c_once_more_ends_it_at_once(tmp_path: Path) -> None:
    async with running_sidecar(tmp_path, config(free_port())) as sidecar:
        await post(sidecar, list(requests("agent", 2)))
        workers = workers_of(sidecar.process.pid)
        sidecar.process.send_signal(signal.SIGINT)
        await until(lambda: "stopping" in sidecar.stderr)
        sidecar.process.send_signal(signal.SIGINT)
        assert await sidecar.process.wait() == 130
        assert not any(word in sidecar.stderr for word in HURT)
        await until(lambda: not any(is_alive(worker) for worker in workers))


async def test_a_judging_process_that_hangs_delays_the_end_and_loses_nothing(tmp_path: Path) -> None:
    async with running_backend() as backend, running_sidecar(tmp_path, config(backend.port)) as sidecar:
        workers = workers_of(sidecar.process.pid)
        os.kill(workers[0], signal.SIGSTOP)
        await post(sidecar, list(requests("agent", 2)))
        assert await sidecar.stop() == 0
        assert len(backend.spans) == 204
        assert not is_alive(workers[0])
        assert not any(word in sidecar.stderr for word in HURT)


async def test_the_judging_process_ends_with_a_sidecar_that_is_killed(tmp_path: Path) -> None:
    async with running_sidecar(tmp_path, config(free_port())) as sidecar:
        workers = workers_of(sidecar.process.pid)
        assert len(workers) == 1
        sidecar.process.kill()
        await until(lambda: not any(is_alive(worker) for worker in workers))
