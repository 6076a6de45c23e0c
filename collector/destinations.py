"""The exporters that work now, and how they become those of another configuration.

Each has a line: its place in the pipelines, which stays the same when another queue is put behind it.  An exporter that
was changed hands what it hasn't delivered over to its successor; one that is gone gets nothing new and goes on until
its queue is empty, or the sidecar stops.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from collector.config import Component, Config
from collector.dispatch import Destination, ScoreMode
from collector.exporters.dead_letters import DeadLetterFile
from collector.exporters.queue import SendingQueue
from collector.exporters.settings import ExporterSettings
from collector.factories import make_dead_letters, make_queue
from collector.fingerprints import fingerprint
from collector.holding.store import MemoryStore
from collector.journal import Journal
from collector.records import Parcel, Ref, Signal, Waybill
from collector.start_error import StartError
from collector.telemetry import Telemetry

_log = logging.getLogger(__name__)
NOT_DELIVERED = "not delivered before the sidecar stopped"
HAND_OVER_S = 5.0
# Whoever still holds a reference to a line that is gone has used it by then.
_LAST_CALL_S = 5.0


class Line:
    """A place in the pipelines; see the module's text. It is a `collector.dispatch.Queue`."""

    def __init__(self, queue: SendingQueue) -> None:
        self.queue = queue

    def put(self, ref: Ref, parcel: Waybill) -> None:
        """Hand a parcel to the queue that is behind the line now."""
        self.queue.put(ref, parcel)

    def has_room(self) -> bool:
        """Whether more should be let in at the receivers."""
        return self.queue.has_room()

    @property
    def fullness(self) -> float:
        """How full it is: 1.0 where receivers begin to refuse."""
        return self.queue.fullness


@dataclass(frozen=True, slots=True)
class _Exporter:
    """One exporter that works: how it is configured, and what belongs to it."""

    component: Component
    fingerprint: str
    line: Line
    letters: DeadLetterFile
    destination: Destination

    @property
    def waits(self) -> bool:
        return self.destination.mode.waits


class Destinations:
    """See the module's text.

    Args:
        config: names the exporters.
        parcels: keeps what is on its way out.
        telemetry: where everything is counted.
        journal: told what is done, if there is one.
        refused: told of requests that a destination couldn't take: its id, the signal, the request, and what became of
            it, `dead_lettered` or `rejected` in part.
        on_switch: told where the pipelines of another configuration lead to, as soon as they do.
    """

    def __init__(
        self,
        config: Config,
        parcels: MemoryStore[Parcel],
        telemetry: Telemetry,
        journal: Journal | None,
        refused: Callable[[str, Signal, bytes, str], None],
        on_switch: Callable[[Mapping[Signal, Sequence[Destination]]], None],
    ) -> None:
        self._refused = refused
        self._on_switch = on_switch
        self._parcels = parcels
        self._telemetry = telemetry
        self._journal = journal
        self._gone: dict[str, _Exporter] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._exporters = {name: self._make(component) for name, component in config.exporters.items()}

    # -- as others see them ------------------------------------------------------------------------------------------

    @property
    def by_name(self) -> Mapping[str, Destination]:
        """All of them by the exporter's id."""
        return {name: exporter.destination for name, exporter in self._exporters.items()}

    def by_signal(self, config: Config) -> dict[Signal, list[Destination]]:
        """Those of each pipeline."""
        return {
            signal: [self._exporters[name].destination for name in pipeline.exporters]
            for signal, pipeline in config.pipelines.items()
        }

    def queues(self) -> Iterable[tuple[Destination, SendingQueue]]:
        """All that works, also what gets nothing new."""
        return [(one.destination, one.line.queue) for one in (*self._exporters.values(), *self._gone.values())]

    # -- start, change, end ------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Begin to deliver. Raises StartError."""
        for exporter in self._exporters.values():
            await exporter.line.queue.start()

    async def switch(self, config: Config) -> list[str]:
        """Become the exporters of another configuration, and say what has changed.

        Raises:
            StartError: one of them can't be started; then nothing is changed.
        """
        wanted = {name: self._reachable(component) for name, component in config.exporters.items()}
        fresh = {
            name: self._queue(component)
            for name, component in wanted.items()
            if name not in self._exporters or self._exporters[name].fingerprint != fingerprint(component.settings)
        }
        started: list[SendingQueue] = []
        try:
            for queue in fresh.values():
                await queue.start()
                started.append(queue)
        except StartError:
            for queue in started:
                await queue.drain(0.0)
            for queue in fresh.values():
                queue.stop_observing()
            raise
        gone = [name for name in self._exporters if name not in wanted]
        new = [name for name in fresh if name not in self._exporters]
        changed = [name for name in fresh if name in self._exporters]
        for name in gone:
            self._let_end(name)
        replaced = [self._put_behind_line(wanted[name], queue) for name, queue in fresh.items()]
        self._on_switch(self.by_signal(config))
        await asyncio.gather(*(_hand_over(old, line) for old, line in replaced if old is not None))
        said = {"is new": new, "was changed": changed, "is gone": gone}
        return [f"exporters::{name} {how}" for how, names in said.items() for name in names]

    def _reachable(self, component: Component) -> Component:
        """The component as it can be now: what is held waits for the scores of those who waited for them before."""
        before = self._exporters.get(component.id) or self._gone.get(component.id)
        settings = component.settings_as(ExporterSettings)
        if before is None or ScoreMode(settings.scores).waits is before.waits:
            return component
        old = before.component.settings_as(ExporterSettings).scores
        return replace(component, settings=settings.model_copy(update={"scores": old}))

    def needs_restart(self, config: Config) -> list[str]:
        """What of another configuration can't be done before a restart."""
        found = []
        for name, component in config.exporters.items():
            if self._reachable(component) is not component:
                found.append(f"exporters::{name}::scores: from waiting for scores to not waiting, or back")
        return found

    def _put_behind_line(self, component: Component, queue: SendingQueue) -> tuple[SendingQueue | None, Line]:
        """Let an exporter have this queue from now on; returns the one that it had, if any, and its line."""
        before = self._exporters.get(component.id) or self._gone.pop(component.id, None)
        line = Line(queue) if before is None else before.line
        old = None if before is None else line.queue
        line.queue = queue
        self._exporters[component.id] = self._exporter(component, line)
        return old, line

    def _let_end(self, name: str) -> None:
        exporter = self._gone[name] = self._exporters.pop(name)
        waiting = len(exporter.line.queue)
        if waiting:
            _log.info("exporters::%s: %d requests are still to be delivered; it gets nothing new", name, waiting)
        task = asyncio.create_task(self._end(name, exporter), name=f"{name} is gone")
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def _end(self, name: str, exporter: _Exporter) -> None:
        queue = exporter.line.queue
        while self._gone.get(name) is exporter and exporter.line.queue is queue:
            await asyncio.sleep(_LAST_CALL_S)
            if not len(queue):
                del self._gone[name]
                await queue.drain(0.0)
                queue.stop_observing()
                _log.info("exporters::%s: everything is delivered; it was stopped", name)
                return

    async def stop(self, grace_s: float) -> None:
        """Deliver what can be delivered in that time; the rest stays in the journal, or goes to dead-letter files."""
        for task in self._ending:
            task.cancel()
        await asyncio.gather(*(self._empty(one, grace_s) for one in (*self._exporters.values(), *self._gone.values())))

    async def _empty(self, exporter: _Exporter, grace_s: float) -> None:
        name = exporter.component.id
        left = await exporter.line.queue.drain(grace_s)
        if not left:
            return
        if self._journal is not None:
            _log.warning("%s: %d requests were not delivered in time; they will be at the next start", name, len(left))
            return
        # Memory ends with the process; a file is the one place left where nothing is lost.
        letters = exporter.letters
        parcels = [self._parcels.read(ref) for ref in left]
        try:
            await asyncio.to_thread(letters.append_all, parcels, NOT_DELIVERED)
        except OSError as error:
            _log.error("%s: can't write %s (%s): what was not delivered is lost", name, letters.path, error.strerror)
        else:
            _log.warning("%s: %d requests were not delivered in time and are in %s", name, len(left), letters.path)

    # -- made of a component -----------------------------------------------------------------------------------------

    def _make(self, component: Component) -> _Exporter:
        return self._exporter(component, Line(self._queue(component)))

    def _queue(self, component: Component) -> SendingQueue:
        return make_queue(
            component,
            self._parcels,
            make_dead_letters(component),
            self._telemetry.exporter(component.id),
            self._journal,
            partial(self._refused, component.id),
        )

    def _exporter(self, component: Component, line: Line) -> _Exporter:
        mode = ScoreMode(component.settings_as(ExporterSettings).scores)
        return _Exporter(
            component,
            fingerprint(component.settings),
            line,
            make_dead_letters(component),
            Destination(component.id, mode, line),
        )


async def _hand_over(old: SendingQueue, line: Line) -> None:
    for ref, waybill in await old.hand_over(HAND_OVER_S):
        line.put(ref, waybill)
