"""How the sidecar starts and ends: in order, with an exit code, and with nothing of it left behind."""

import asyncio
import json
import os
import pty
import signal
import socket
import sys
from pathlib import Path
from typing import Self

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


async def test_without_a_journal_what_a_dead_backend_could_not_take_is_in_the_dead_letters(tmp_path: Path) -> None:
    text = config(free_port()).replace("[health_check]", "[health_check, journal]")
    text = text.replace("extensions:\n", "extensions:\n  journal: {durability: memory}\n", 1)
    async with running_sidecar(tmp_path, text) as sidecar:
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


class Terminal:
    """A terminal of its own for a sidecar, which is closed as a window is."""

    def __init__(self, sidecar: Sidecar, *prefix: str) -> None:
        command = [*prefix, sys.executable, "-P", "-m", "collector", "run", "--config", str(sidecar.config)]
        environment = sidecar.environment
        (sidecar.folder / "stderr").touch()
        self.pid, self._master = pty.fork()
        if not self.pid:
            os.chdir(sidecar.folder)
            os.dup2(os.open("stderr", os.O_WRONLY), 2)
            os.execvpe(command[0], command, environment)

        self._ended = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if not self._ended:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)

    def close(self) -> None:
        os.close(self._master)

    async def end(self) -> int:
        _, status = await asyncio.to_thread(os.waitpid, self.pid, 0)
        self._ended = True
        return os.waitstatus_to_exitcode(status)


async def test_a_terminal_that_is_closed_ends_it_in_order(tmp_path: Path) -> None:
    async with running_backend() as backend:
        sidecar = Sidecar(tmp_path, config(backend.port, "10s"))
        with Terminal(sidecar) as terminal:
            await until(lambda: "ready: " in sidecar.stderr)
            await post(sidecar, list(requests("agent", 1)))
            os.kill(terminal.pid, signal.SIGHUP)
            await until(lambda: "configuration reloaded" in sidecar.stderr)
            terminal.close()
            assert await terminal.end() == 0
            assert len(backend.spans) == 102
            assert "stopping" in sidecar.stderr


async def test_under_nohup_it_outlives_its_terminal_and_reloads_when_told(tmp_path: Path) -> None:
    async with running_backend() as backend:
        sidecar = Sidecar(tmp_path, config(backend.port))
        with Terminal(sidecar, "nohup") as terminal:
            await until(lambda: "ready: " in sidecar.stderr)
            terminal.close()
            await asyncio.sleep(0.5)
            assert "configuration reloaded" not in sidecar.stderr
            os.kill(terminal.pid, signal.SIGHUP)
            await until(lambda: "configuration reloaded" in sidecar.stderr)
            await post(sidecar, list(requests("tiny", 1)))
            os.kill(terminal.pid, signal.SIGTERM)
            assert await terminal.end() == 0
            assert len(backend.spans) == 102


async def test_an_agent_that_ends_at_the_same_time_can_still_send_its_last_spans(tmp_path: Path) -> None:
    async with running_backend() as backend, running_sidecar(tmp_path, config(backend.port)) as sidecar:
        sidecar.process.send_signal(signal.SIGTERM)
        await until(lambda: "stopping" in sidecar.stderr)
        await post(sidecar, list(requests("tiny", 1)))
        assert await sidecar.process.wait() == 0
        assert len(backend.spans) == 102


async def test_a_gateway_is_not_ready_before_it_refuses_and_is_alive_all_the_while(tmp_path: Path) -> None:
    async with running_backend() as backend:
        text = config(backend.port).replace('HEALTH_PORT"', 'HEALTH_PORT", backlog_threshold: 50')
        text = text.replace(
            "tls: {insecure: true}", "tls: {insecure: true}, sending_queue: {queue_size: 800, sizer: items}"
        )
        async with running_sidecar(tmp_path, text) as sidecar, httpx2.AsyncClient(trust_env=False) as client:

            async def statuses() -> list[int]:
                root = f"http://127.0.0.1:{sidecar.health_port}"
                return [(await client.get(f"{root}{path}")).status_code for path in ("/live", "/ready", "/")]

            assert await statuses() == [200, 200, 200]
            backend.unavailable = True
            sent = 0
            while await statuses() == [200, 200, 200]:
                await post(sidecar, list(requests("tiny", 1, seed=sent)))  # raises if it is refused
                sent += 1
                await asyncio.sleep(0.3)
            assert await statuses() == [200, 503, 200]
            backend.unavailable = False
            await until(lambda: len(backend.spans) == 102 * sent)
            assert await statuses() == [200, 200, 200]


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
