"""The disk under the journal is full: senders are asked to come again, and nothing that was acknowledged is lost."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.chaos.line import LineState
from tests.chaos.load import Load
from tests.chaos.scenarios.scenario import CannotRunError, Scenario
from tests.chaos.stage import Scale, Stage, stage

_SIZE_MIB = 24
_LONGEST_WAIT_S = 120


async def full(folder: Path, scale: Scale, seed: int) -> Stage:
    """A backlog fills it; then somebody else's file does."""
    async with _small_disk(folder / "journal"), stage(folder, scale, seed, journal={"max_size_mib": 64}) as on:
        for _ in range(int(scale.of(1, 3))):
            async with (
                on.load(share=scale.of(4.0, 8.0), agents=1.0, spans_per_request=200) as load,
                on.backend.misbehaving(line=LineState.DOWN),
            ):
                refused = await _refused(load)
                on.check("senders were asked to come again while a backlog filled the disk", refused)
                await asyncio.sleep(scale.of(0.5, 5.0))
        async with on.load(agents=1.0, spans_per_request=200) as load:
            filler = folder / "journal" / "filler"
            with on.ledger.trouble("a full disk"):
                _fill(filler)
                refused = await _refused(load)
                on.check("and while somebody else's file did", refused)
                await asyncio.sleep(scale.of(0.5, 5.0))
                filler.unlink()
        # What can't be frozen is sent all the same, and may be judged anew if it has to be sent again after a crash.
        await on.conclude()
        return on


async def _refused(load: Load) -> bool:
    """Wait until senders are refused; False if that takes too long."""
    for _ in range(_LONGEST_WAIT_S * 10):
        if load.refusals:
            return True
        await asyncio.sleep(0.1)
    return False


@asynccontextmanager
async def _small_disk(path: Path) -> AsyncIterator[None]:
    path.mkdir()
    mounting = await asyncio.create_subprocess_exec(
        *("mount", "-t", "tmpfs", "-o", f"size={_SIZE_MIB}m", "tmpfs", str(path)), stderr=subprocess.DEVNULL
    )
    if await mounting.wait():
        raise CannotRunError("needs the right to mount a small file system: run it as root")
    try:
        yield
    finally:
        unmounting = await asyncio.create_subprocess_exec("umount", "--lazy", str(path))
        await unmounting.wait()


def _fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(bytes(4096)):
            pass


SCENARIOS = (Scenario("disk-full", "a full disk makes senders wait, and loses nothing", full),)
