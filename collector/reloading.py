"""Reads the configuration of a running sidecar again, and makes the sidecar what it says.

What is wrong with it is told in full, and everything stays as it was.  So it does when something that it names can't be
had, such as an address in use.  What can't be changed before a restart is named, and left as it was.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from collector.config import Config, ConfigError
from collector.control.settings import control_settings_of
from collector.start_error import StartError

_log = logging.getLogger(__name__)
_OK, _REFUSED = 200, 422


class Part(Protocol):
    """A part of the sidecar that may have to open something anew."""

    async def switch(self, config: Config) -> list[str]:
        """Become what another configuration says, and say what has changed.

        Raises:
            StartError: it can't; then nothing of it is changed.
        """


class Reloaded(NamedTuple):
    """What came of it: what was changed and what was left until a restart, or else why nothing was."""

    changed: Sequence[str] = ()
    left: Sequence[str] = ()
    errors: Sequence[str] = ()


class Reloading:
    """See the module's text.

    Args:
        reread: reads and checks the configuration; None where there is nothing to read it from.
        become: takes over what can't fail, once all else is done; returns what was changed, and what was left.
        parts: what may fail, in the order in which it is changed.
        config: what the sidecar is now.
    """

    def __init__(
        self,
        reread: Callable[[], Config] | None,
        become: Callable[[Config], Awaitable[tuple[list[str], list[str]]]],
        parts: Sequence[Part],
        config: Config,
    ) -> None:
        self._reread = reread
        self._become = become
        self._parts = parts
        self._config = config
        self._one_at_a_time = asyncio.Lock()
        self._closed = False

    async def reload(self) -> Reloaded:
        """Read the configuration and become what it says."""
        async with self._one_at_a_time:
            if self._closed or self._reread is None:
                return Reloaded(errors=["the sidecar is stopping, or has no configuration to read again"])
            try:
                config = await asyncio.to_thread(self._reread)
            except ConfigError as error:
                return Reloaded(errors=[str(problem) for problem in error.problems])
            try:
                changed = await self._switch(config)
            except StartError as error:
                return Reloaded(errors=[str(error)])
            more, left = await self._become(config)
            self._config = config
            return Reloaded([*changed, *more], left)

    async def _switch(self, config: Config) -> list[str]:
        changed: list[str] = []
        switched: list[Part] = []
        try:
            for part in self._parts:
                changed += await part.switch(config)
                switched.append(part)
        except StartError:
            for part in reversed(switched):
                with contextlib.suppress(StartError):
                    await part.switch(self._config)
            raise
        return changed

    async def reload_and_log(self) -> Reloaded:
        """The same, told in the log."""
        try:
            done = await self.reload()
        except Exception:
            # Whatever went wrong with a change must not end what works.
            _log.exception("the configuration could not be reloaded")
            return Reloaded(errors=["an unexpected fault; see the sidecar's log"])
        for error in done.errors:
            _log.error("the configuration was not reloaded, the one before stays: %s", error)
        if not done.errors:
            for line in done.left:
                _log.warning("not before a restart: %s", line)
            _log.info("configuration reloaded: %s", "; ".join(done.changed) or "nothing has changed")
        return done

    async def answer(self) -> tuple[int, dict[str, Any]]:
        """The same, as an HTTP status and a JSON object."""
        done = await self.reload_and_log()
        return (_REFUSED if done.errors else _OK), {key: list(value) for key, value in done._asdict().items()}

    @contextlib.asynccontextmanager
    async def put_off(self) -> AsyncIterator[None]:
        """Around the start of the parts: what isn't started yet can't be changed, so whoever asks has to wait."""
        async with self._one_at_a_time:
            yield

    async def close(self) -> None:
        """Let one that is under way end, and begin no other."""
        async with self._one_at_a_time:
            self._closed = True


def needs_restart(started_with: Config, config: Config) -> Iterator[str]:
    """What of a configuration can only be done by a process that starts with it."""
    before, now = started_with.extension("journal"), config.extension("journal")
    if (before and before.settings) != (now and now.settings):
        yield "extensions::journal"
    if control_settings_of(started_with).socket != control_settings_of(config).socket:
        yield "extensions::control::socket"
    assemble = [one.processor("assemble") for one in (started_with, config)]
    if (assemble[0] is None) != (assemble[1] is None):
        yield "processors::assemble: whether anything is judged"
    if started_with.telemetry.resource != config.telemetry.resource:
        yield "service::telemetry::resource"
