"""Reads from the journal what was dropped from memory, or belongs to a process that is no more, in the form it had.

In: numbers and places of records.  Out: parcels, and spans as they were cut out of their request.  Nothing is changed,
and what can't be read raises.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Mapping, Sequence

from collector import wire
from collector.intake import MalformedRequestError
from collector.journal.errors import DamagedRecordError
from collector.journal.journal import Journal
from collector.logs import RateLimited
from collector.records import PLACE_BITS, Outbound, Parcel, SpanRecord

_log = RateLimited(logging.getLogger(__name__))

# Spans of one request are mostly asked for one after the other, trace by trace.
_REQUESTS_AT_HAND = 4


class Rereader:
    """See the module's text.

    Args:
        journal: where everything is.
        origins: where equal origins become one object.
    """

    def __init__(self, journal: Journal, origins: wire.Origins) -> None:
        self._journal = journal
        self._origins = origins
        self._at_hand: OrderedDict[int, Mapping[int, SpanRecord]] = OrderedDict()

    def request(self, number: int) -> Parcel:
        """A request as it came; raises DamagedRecordError."""
        entry = self._journal.read_arrival(number)
        return Parcel(entry.signal, entry.request, entry.items, entry.headers, number)

    def parcel(self, number: int) -> Parcel:
        """A parcel that was put together here, without the spans of requests that are damaged.

        Raises:
            DamagedRecordError: nothing of it can be read, or something of it can't be read just now.
        """
        entry = self._journal.read_parcel(number)
        if entry.request:
            return Parcel(entry.signal, entry.request, entry.items, entry.headers, number)
        spans: list[Outbound] = []
        damage: dict[int, DamagedRecordError] = {}
        for place, tail in zip(entry.places, entry.tails, strict=True):
            if place >> PLACE_BITS in damage:
                continue
            try:
                record = self._spans_of(place >> PLACE_BITS).get(place)
            except DamagedRecordError as lost:
                if lost.may_pass:
                    # Without these the parcel would be done, and they with it.
                    raise
                damage[place >> PLACE_BITS] = lost
            else:
                if record is not None:
                    spans.append(Outbound(record.origin, record.span, tail))
        if not spans:
            raise next(iter(damage.values()), _not_taken(number))
        for error in damage.values():
            _log.error("a parcel leaves without the spans of a damaged request: %s", error)
        return Parcel(entry.signal, wire.build_request(spans), len(spans), entry.headers, number)

    def records(self, places: Sequence[int]) -> list[SpanRecord]:
        """The spans at these places; raises DamagedRecordError."""
        return [self._span_at(place) for place in places]

    def _span_at(self, place: int) -> SpanRecord:
        span = self._spans_of(place >> PLACE_BITS).get(place)
        if span is None:
            raise _not_taken(place >> PLACE_BITS)
        return span

    def _spans_of(self, number: int) -> Mapping[int, SpanRecord]:
        spans = self._at_hand.get(number)
        if spans is None:
            entry = self._journal.read_arrival(number)
            try:
                sliced = wire.slice_spans(entry.request, entry.headers, self._origins, None, number)
            except MalformedRequestError as error:
                raise DamagedRecordError(f"record {number} can't be cut into spans any more") from error
            spans = self._at_hand[number] = {record.place: record for record in sliced.records}
            if len(self._at_hand) > _REQUESTS_AT_HAND:
                self._at_hand.popitem(last=False)
        return spans


def _not_taken(number: int) -> DamagedRecordError:
    return DamagedRecordError(f"record {number} has spans that this version doesn't take")
