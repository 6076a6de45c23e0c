"""What a start finds to be delivered, told record by record; bytes are read as they are asked for.

In: the claims that were recovered.  Out: parcels to send and arrivals to take again, and who is owed something and
isn't there any more.
"""

from __future__ import annotations

import logging
from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from collector.journal.bits import indexes_of
from collector.journal.claimed import ArrivalClaims, ParcelClaims
from collector.journal.claims import Claims
from collector.journal.coding import ArrivalHead, ParcelHead
from collector.journal.entries import Owed, OwedArrival, OwedParcel
from collector.journal.errors import DamagedRecordError
from collector.journal.recovered import Damage, Recovered, Unconfigured

_log = logging.getLogger(__name__)

# How often taking an arrival again may end the process before it is to be passed on without looking into it.
UNTRUSTED_AFTER = 2


class Backlog:
    """See the module's text.

    Args:
        claims: what is owed.
        configured: the destinations there are.
        crashed: how often taking an arrival has ended the process.
        read_arrival, read_parcel: read what stands before a record's bytes; raise DamagedRecordError.
    """

    def __init__(
        self,
        claims: Claims,
        configured: Collection[str],
        crashed: Mapping[int, int],
        read_arrival: Callable[[int], ArrivalHead],
        read_parcel: Callable[[int], ParcelHead],
    ) -> None:
        self._claims = claims
        self._configured = frozenset(configured)
        self._crashed = crashed
        self._read_arrival = read_arrival
        self._read_parcel = read_parcel

    def recovered(self, damage: tuple[Damage, ...]) -> Recovered:
        """All of it. What is kept after this call isn't part of it."""
        claims = self._claims
        owed = claims.owed()
        return Recovered(
            owed=self._each(array("Q", sorted([*claims.arrivals, *claims.parcels]))),
            arrivals=sum(1 for one in claims.arrivals.values() if self._remaining(one)),
            parcels=sum(1 for one in claims.parcels.values() if self._configured.intersection(one.destinations)),
            size_bytes=sum(one.size_bytes for name, one in owed.items() if name in self._configured),
            damage=damage,
            unconfigured=tuple(
                Unconfigured(name, one.items, one.size_bytes, one.oldest_wall_ns or 0)
                for name, one in owed.items()
                if name not in self._configured
            ),
        )

    def _each(self, numbers: Sequence[int]) -> Iterator[Owed]:
        for number in numbers:
            try:
                owed = self._one(number)
            except DamagedRecordError as error:
                _log.error("can't be delivered: %s", error)
            else:
                if owed is not None:
                    yield owed

    def _one(self, number: int) -> Owed | None:
        parcel = self._claims.parcels.get(number)
        if parcel is not None:
            return self._parcel(number, parcel)
        arrival = self._claims.arrivals.get(number)
        return None if arrival is None else self._arrival(number, arrival)

    def _parcel(self, number: int, parcel: ParcelClaims) -> OwedParcel | None:
        to = tuple(name for name in parcel.destinations if name in self._configured)
        if not to:
            return None
        entry = self._read_parcel(number).entry
        return OwedParcel(number, to, entry.signal, entry.headers, entry.items, entry.size_bytes)

    def _arrival(self, number: int, arrival: ArrivalClaims) -> Owed | None:
        remaining = self._remaining(arrival)
        if not remaining:
            return None
        head = self._read_arrival(number)
        entry = head.entry
        if arrival.untouched:
            to = tuple(remaining)
            return OwedParcel(number, to, entry.signal, entry.headers, entry.items, head.request_bytes, untouched=True)
        indexes = {bits: indexes_of(bits) for bits in set(remaining.values())}
        return OwedArrival(
            number,
            entry.signal,
            entry.receiver,
            entry.arrived_wall_ns,
            entry.headers,
            head.request_bytes,
            {name: indexes[bits] for name, bits in remaining.items()},
            trusted=self._crashed.get(number, 0) < UNTRUSTED_AFTER,
        )

    def _remaining(self, arrival: ArrivalClaims) -> dict[str, int]:
        """The bits of what is owed directly, for each destination that is configured."""
        return {
            name: bits
            for name, bits in zip(arrival.destinations, arrival.remaining, strict=True)
            if bits and name in self._configured
        }
