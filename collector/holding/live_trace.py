"""What is known of a trace that is being put together: which of its spans are here, held, missing.

Plain state with the questions that can be asked of it; when to do what is the assembler's business.  Contents are
behind references: spans that arrived together are one entry of the store.
"""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from collector.holding.ledger import CHECKSUM_BYTES, checksum
from collector.holding.store import MemoryStore
from collector.journal.errors import DamagedRecordError
from collector.records import LogRecord, Origin, Ref, SpanRecord

Chunk = Sequence[SpanRecord]
# Of how many spans the checksums are computed when a trace is forgotten, if nobody has told them. Of more it would
# keep others waiting, and would read again what had to leave memory.
MOST_UNTOLD = 2000
# A trace of more spans is judged again while it grows when it has grown by so much.
MANY_SPANS = 2000
GROWTH = 1.25


class JobState:
    """A job that is under way: when its trace was ready, and which spans were held then or had gone early.

    `readable` says whether all spans of it could be read.
    """

    __slots__ = ("complete", "expired", "readable", "ready_s", "span_ids")

    def __init__(self, ready_s: float, complete: bool, span_ids: set[bytes]) -> None:
        self.ready_s = ready_s
        self.complete = complete
        self.span_ids = span_ids
        self.expired = False
        self.readable = True


class LiveTrace:
    """One trace.

    `places`  kept spans, in order of arrival: their number in it.  `stubs`: spans of which only id and parent are kept.
    `chunks`  where the content of the kept spans is.  `starts`: the number of the first span in each.
    `held`    kept spans that have not left, with their time of arrival, in order of arrival.  `ages`: the same as a
              heap, by those that came together; what has left is still in it.
    `leaving` the numbers of spans that are no longer held, and haven't been handed on yet.
    `tails`   what is to be appended to them.
    `gone_early` spans that have left before their run was judged.
    `topped`  whether a span is a root, or has a parent in another service.
    `missing` parents that have not come; those of them in `unsure` may well be in another service.
    `changed` whether anything came since it was last judged.
    `judged_spans` how many spans it had when it was last judged.
    `content_bytes` of all its spans and log records.  `memory_bytes`: what of them and around them is in memory.
    `spilled` of each of the first chunks that were dropped from memory: where its spans belong, all of them or each.
    `full`    whether it has all of its share of the memory, so that no more of it is kept.
    `restored` whether spans of it came from the journal.
    `memory`  what whoever judges said, for next time.
    `checksums` of the first of the kept spans, as far as whoever judges has told them.
    `origins` of a trace whose content was given up while its result is awaited: where its spans belonged.
    """

    __slots__ = (
        "ages",
        "changed",
        "checksums",
        "chunks",
        "content_bytes",
        "first_s",
        "full",
        "gone_early",
        "held",
        "job",
        "judged_s",
        "judged_spans",
        "last_s",
        "leaving",
        "logs",
        "memory",
        "memory_bytes",
        "missing",
        "origins",
        "places",
        "restored",
        "scheduled_s",
        "spilled",
        "starts",
        "stubs",
        "tails",
        "topped",
        "unsure",
    )

    def __init__(self, now_s: float) -> None:
        self.places: dict[bytes, int] = {}
        self.stubs: dict[bytes, bytes] = {}
        self.chunks: list[Ref] = []
        self.starts: list[int] = []
        self.logs: list[Ref] = []
        self.held: dict[bytes, float] = {}
        self.ages: list[tuple[float, int, list[bytes]]] = []
        self.leaving: deque[int] = deque()
        self.tails: dict[bytes, bytes] = {}
        self.gone_early: set[bytes] = set()
        self.first_s = now_s
        self.last_s = now_s
        self.topped = False
        self.missing: set[bytes] = set()
        self.unsure: set[bytes] = set()
        self.changed = True
        self.judged_spans = 0
        self.content_bytes = 0
        self.memory_bytes = 0
        self.spilled: list[Sequence[Origin]] = []
        self.full = False
        self.restored = False
        self.job: JobState | None = None
        self.judged_s: float | None = None
        self.memory = b""
        self.checksums = b""
        self.origins: dict[bytes, Origin] | None = None
        self.scheduled_s = float("inf")

    @property
    def complete(self) -> bool:
        """Whether a top span is here and no parent is missing."""
        return self.topped and not self.missing

    @property
    def grown(self) -> bool:
        """Whether enough came since it was last judged to judge it again while it is growing.

        A large trace that trickles in would be judged over and over.
        """
        spans = len(self.places)
        return self.changed and (spans <= MANY_SPANS or spans >= GROWTH * self.judged_spans)

    @property
    def awaits_run(self) -> bool:
        """Whether there is a run that wasn't judged yet."""
        return self.judged_s is None or bool(self.held) or bool(self.gone_early)

    @property
    def oldest_held_s(self) -> float:
        """When the span came that waits longest; infinite when none waits."""
        while self.ages:
            arrived_s, _, span_ids = self.ages[0]
            while span_ids and span_ids[-1] not in self.held:
                span_ids.pop()
            if span_ids:
                return arrived_s
            heapq.heappop(self.ages)
        return float("inf")

    def overdue(self, now_s: float, longest_s: float) -> set[bytes]:
        """The spans that have been held for so long."""
        found: set[bytes] = set()
        while self.ages and now_s >= self.ages[0][0] + longest_s:
            _, _, span_ids = heapq.heappop(self.ages)
            found.update(span_id for span_id in span_ids if span_id in self.held)
        return found

    def lacks_spans(self) -> bool:
        """Whether spans that were to be expected have not come.

        A parent that never came is most likely in another service if nothing else is the trace's top; with a top of
        its own, or a parent that is known to be local, spans are missing.
        """
        if self.full:
            return True
        if self.topped:
            return bool(self.missing)
        return len(self.missing) != 1 or not self.missing <= self.unsure

    def hold(self, span_ids: list[bytes], arrived_s: float) -> None:
        """Hold spans that were just kept."""
        self.held.update(dict.fromkeys(span_ids, arrived_s))
        heapq.heappush(self.ages, (arrived_s, len(self.places), span_ids))

    def keep(self, ref: Ref, chunk: Chunk) -> None:
        """Add spans that are not here yet; their content is behind `ref`."""
        # All of them at once: what is done here span by span is done for every span there is.
        _, span_ids, parents, remotes, _, _, _ = zip(*chunk, strict=True)
        start = len(self.places)
        self.places.update(zip(span_ids, range(start, start + len(chunk)), strict=True))
        self.chunks.append(ref)
        self.starts.append(start)
        self.missing.difference_update(span_ids)
        unmet = set(parents).difference(self.places)
        if len(unmet) or True in remotes:
            for parent, remote in zip(parents, remotes, strict=True):
                if parent in unmet or remote is True:
                    self._expect(parent, remote)

    def note(self, record: SpanRecord) -> None:
        """Add a span by its place in the tree alone."""
        self.stubs[record.span_id] = record.parent_span_id
        self.missing.discard(record.span_id)
        self._expect(record.parent_span_id, record.remote_parent)

    def _expect(self, parent: bytes, remote: bool | None) -> None:
        if not parent or remote is True:
            self.topped = True
        elif parent not in self.places and parent not in self.stubs:
            self.missing.add(parent)
            if remote is None:
                self.unsure.add(parent)

    def has(self, span_id: bytes) -> bool:
        """Whether the span is here, in whatever form."""
        return span_id in self.places or span_id in self.stubs


def late_among(trace: LiveTrace, fresh: Sequence[SpanRecord]) -> list[SpanRecord]:
    """Those of the new spans, not yet kept, that are of a run that was judged and has left: they hang below its spans.

    Everything else is a run of its own, or will turn out to be one.  A span of which only the place is kept is of the
    run that it hangs below.
    """
    parents = {record.span_id: record.parent_span_id for record in fresh}
    verdicts: dict[bytes, bool] = {}
    for span_id in parents:
        path: list[bytes] = []
        above = span_id
        while above not in verdicts:
            parent = parents.get(above, trace.stubs.get(above))
            if parent is None:
                verdicts[above] = above in trace.places and above not in trace.held and above not in trace.gone_early
                break
            # So that parents in a circle lead nowhere.
            verdicts[above] = False
            path.append(above)
            above = parent
        if verdicts[above]:
            verdicts.update(dict.fromkeys(path, True))
    return [record for record in fresh if verdicts[record.span_id]]


def readable(store: MemoryStore[Chunk], ref: Ref) -> Chunk | None:
    """What is behind a reference; None if it had to leave memory and can't be read again."""
    try:
        return store.read(ref)
    except DamagedRecordError:
        return None


def records_at(trace: LiveTrace, store: MemoryStore[Chunk], numbers: Iterable[int]) -> Iterator[SpanRecord]:
    """Those of the kept spans that have these numbers, ascending; without those whose content is given up."""
    chunk: Chunk | None = None
    start = end = 0
    for number in numbers:
        if number >= end:
            at = bisect_right(trace.starts, number) - 1
            if at < 0:
                continue
            chunk = readable(store, trace.chunks[at])
            start = trace.starts[at]
            end = trace.starts[at + 1] if at + 1 < len(trace.starts) else len(trace.places)
        if chunk is not None:
            yield chunk[number - start]


def records_by_id(trace: LiveTrace, store: MemoryStore[Chunk], span_ids: Iterable[bytes]) -> dict[bytes, SpanRecord]:
    """Those of the spans whose content is kept; each piece of it is read once."""
    numbers = sorted(trace.places[span_id] for span_id in span_ids if span_id in trace.places)
    return {record.span_id: record for record in records_at(trace, store, numbers)}


def origins_by_id(trace: LiveTrace, store: MemoryStore[Chunk], span_ids: Iterable[bytes]) -> dict[bytes, Origin]:
    """Where those of the spans belong that are kept, or that were dropped from memory."""
    found: dict[bytes, Origin] = {}
    in_memory: list[bytes] = []
    for span_id in span_ids:
        number = trace.places.get(span_id, -1)
        at = bisect_right(trace.starts, number) - 1
        if 0 <= at < len(trace.spilled):
            origins = trace.spilled[at]
            found[span_id] = origins[number - trace.starts[at]] if len(origins) > 1 else origins[0]
        else:
            in_memory.append(span_id)
    found.update({span_id: record.origin for span_id, record in records_by_id(trace, store, in_memory).items()})
    return found


def spill(trace: LiveTrace, store: MemoryStore[Chunk]) -> bool:
    """Drop from memory what the journal has as well, and say whether anything was dropped."""
    before = len(trace.spilled)
    for ref in trace.chunks[before:]:
        origins = [record.origin for record in readable(store, ref) or ()]
        freed_bytes = store.spill(ref)
        if not freed_bytes:
            break
        trace.memory_bytes -= freed_bytes
        trace.spilled.append(origins[:1] if len(set(map(id, origins))) == 1 else origins)
    return len(trace.spilled) > before


def checksums_of(trace: LiveTrace, store: MemoryStore[Chunk]) -> bytes:
    """The checksums of the kept spans in order of arrival: of all of them, unless many weren't told, or some can't be
    read; then of the first ones.
    """
    told = len(trace.checksums) // CHECKSUM_BYTES
    untold = range(told, len(trace.places))
    if len(untold) > MOST_UNTOLD:
        return trace.checksums
    parts = [trace.checksums]
    for number, found in zip(untold, records_at(trace, store, untold), strict=False):
        if trace.places[found.span_id] != number:
            break
        parts.append(checksum(found.span))
    return b"".join(parts)


def stub_spans(trace_id: bytes, trace: LiveTrace) -> Iterator[bytes]:
    """Serialised spans with nothing but ids, for those of which nothing else is kept."""
    for span_id, parent in trace.stubs.items():
        tail = b"\x22\x08" + parent if parent else b""
        yield b"\x0a\x10" + trace_id + b"\x12\x08" + span_id + tail


def drop_content(trace: LiveTrace, spans: MemoryStore[Chunk], logs: MemoryStore[LogRecord]) -> None:
    """Release everything that is kept of a trace."""
    spans.release_all(trace.chunks)
    logs.release_all(trace.logs)
    trace.chunks.clear()
    trace.starts.clear()
    trace.logs.clear()
    trace.spilled.clear()
    trace.memory_bytes = 0
