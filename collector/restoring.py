"""Gives back to pipeline and queues what a process before this one acknowledged and didn't deliver.

In: what the journal says is owed.  Out: parcels in the queues of the destinations that lack them, spans that are held
again, and how much it was.  Bytes are read one request at a time, and whatever else the loop has to do gets its turn.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace

from collector.dispatch import Destination, Dispatch
from collector.journal import ArrivalEntry, DamagedRecordError, Journal, Owed, OwedArrival, OwedParcel, Recovered
from collector.pipeline import Pipeline
from collector.records import Waybill
from collector.telemetry import Telemetry

_log = logging.getLogger(__name__)
_AT_ONCE = 20


@dataclass(frozen=True, slots=True)
class Restoring:
    """Where things go.

    `destinations`: all exporters, by id.
    """

    journal: Journal
    pipeline: Pipeline
    dispatch: Dispatch
    destinations: Mapping[str, Destination]
    telemetry: Telemetry

    async def restore(self, recovered: Recovered) -> None:
        """Take back everything that is owed."""
        for count, owed in enumerate(recovered.owed, 1):
            try:
                self._take(owed)
            except DamagedRecordError as error:
                _log.error("%s: what it holds can't be delivered", error)
            except Exception:
                # One that we fail on must not keep the sidecar from starting, nor the others from being delivered.
                _log.exception("journal: record %d can't be taken again; it stays for the next start", owed.number)
            if not count % _AT_ONCE:
                await asyncio.sleep(0)
        if recovered.arrivals or recovered.parcels:
            _log.info(
                "journal: %d requests and %d parcels that were not delivered before are on their way",
                recovered.arrivals,
                recovered.parcels,
            )

    def _take(self, owed: Owed) -> None:
        match owed:
            case OwedParcel():
                to = [self.destinations[name] for name in owed.destinations if name in self.destinations]
                for destination in to:
                    self.telemetry.exporter(destination.name).restored(owed.signal, owed.items)
                waybill = Waybill(owed.signal, owed.items, owed.headers, owed.size_bytes, owed.number)
                self.dispatch.send_again(waybill, to, made_here=not owed.untouched)
            case OwedArrival():
                self._take_arrival(owed, self.journal.read_arrival(owed.number))

    def _take_arrival(self, owed: OwedArrival, entry: ArrivalEntry) -> None:
        to = [self.destinations[name] for name in owed.remaining if name in self.destinations]
        if not to:
            return
        for destination in to:
            self.telemetry.exporter(destination.name).restored(owed.signal, len(owed.remaining[destination.name]))
        with self.journal.taking(owed.number):
            try:
                self.pipeline.take_again(owed, entry, to)
            except Exception:
                if not owed.trusted:
                    raise
                _log.exception("journal: request %d is passed on without being looked into", owed.number)
                self.pipeline.take_again(replace(owed, trusted=False), entry, to)
