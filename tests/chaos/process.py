"""A sidecar as a child process that is started, asked, measured, stopped and killed."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

import httpx2

from tests.chaos import accounts
from tests.chaos.configuration import Ports, Setup, configuration
from tests.e2e.sidecar import free_port

_START_S, _STOP_S = 120.0, 120.0
_MIB = 1 << 20


class Process:
    """See the module's text. Its log is kept over all starts.

    Args:
        folder: its working directory.
        setup: what its configuration says.
        environment: variables beside those of this process.
    """

    def __init__(self, folder: Path, setup: Setup, environment: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self.ports = Ports(free_port(), free_port(), free_port(), free_port())
        self.starts = 0
        self.children: set[int] = set()
        self._config = folder / "config.yaml"
        self._environment = environment or {}
        self._child: asyncio.subprocess.Process | None = None
        self._client = httpx2.AsyncClient(trust_env=False, timeout=10.0)
        self.configure(setup)

    def configure(self, setup: Setup) -> None:
        """Write the configuration; it counts from the next start or reload on."""
        self._config.write_text(configuration(setup, self.ports))

    @property
    def pid(self) -> int:
        """Of the process that receives."""
        assert self._child is not None
        return self._child.pid

    @property
    def is_running(self) -> bool:
        """Whether it is."""
        return self._child is not None and self._child.returncode is None

    @property
    def journal(self) -> Path:
        """Where its journal is."""
        return self.folder / "journal"

    @property
    def log(self) -> str:
        """All it has said on stderr."""
        path = self.folder / "stderr"
        return path.read_text("utf-8", "replace") if path.exists() else ""

    # -- starting and ending -----------------------------------------------------------------------------------------

    async def begin(self) -> None:
        """Start it, and don't wait until it can be used."""
        own = {"PYTHONPATH": str(Path.cwd()), "XDG_RUNTIME_DIR": str(self.folder), "TMPDIR": str(self.folder)}
        with (self.folder / "stdout").open("ab") as out, (self.folder / "stderr").open("ab") as err:
            self._child = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "collector", "run", "--config", str(self._config)),
                cwd=self.folder,
                env={**os.environ, **own, **self._environment},
                stdout=out,
                stderr=err,
            )
        self.starts += 1

    async def ready(self) -> None:
        """Wait until it takes telemetry."""
        async with asyncio.timeout(_START_S):
            while not await self._is_ready():
                if not self.is_running:
                    raise RuntimeError(f"the sidecar has ended: {self.log[-2000:]}")
                await asyncio.sleep(0.05)

    async def _is_ready(self) -> bool:
        try:
            return (await self._client.get(f"http://127.0.0.1:{self.ports.health}/")).status_code == 200
        except httpx2.HTTPError:
            return False

    async def start(self) -> None:
        """Start it, and wait until it takes telemetry."""
        await self.begin()
        await self.ready()

    async def kill(self) -> None:
        """As the kernel does, or power: without a word."""
        assert self._child is not None
        if self.is_running:
            self.children.update(_children_of(self.pid))
            self._child.kill()
        await self._child.wait()

    async def stop(self) -> int:
        """As an operator does; its exit code."""
        assert self._child is not None
        if self.is_running:
            self._child.send_signal(signal.SIGTERM)
        async with asyncio.timeout(_STOP_S):
            return await self._child.wait()

    async def close(self) -> None:
        """Leave nothing behind."""
        if self.is_running:
            await self.kill()
        await self._client.aclose()

    def reload(self) -> None:
        """Have it read its configuration again."""
        os.kill(self.pid, signal.SIGHUP)

    # -- looking at it -----------------------------------------------------------------------------------------------

    async def scrape(self) -> accounts.Samples | None:
        """Its metrics, as far as it runs."""
        try:
            answer = await self._client.get(f"http://127.0.0.1:{self.ports.metrics}/metrics")
        except httpx2.HTTPError:
            return None
        return accounts.read(answer.text) if answer.status_code == 200 else None

    def rss_mib(self) -> float:
        """Resident memory of the process that receives; 0 if there is none."""
        try:
            pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        except (OSError, IndexError):
            return 0.0
        return pages * os.sysconf("SC_PAGE_SIZE") / _MIB

    def journal_mib(self) -> float:
        """Size of its journal's files."""
        try:
            return sum(path.stat().st_blocks * 512 for path in self.journal.glob("*.log")) / _MIB
        except OSError:
            return 0.0

    async def orphans(self) -> list[int]:
        """Processes that a sidecar started and left behind when it was killed, after some time to end."""
        left: list[int] = []
        for _ in range(100):
            left = [pid for pid in self.children if _lives(pid)]
            if not left:
                break
            await asyncio.sleep(0.1)
        return left


def _children_of(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _lives(pid: int) -> bool:
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return b"collector" in command and state != "Z"
