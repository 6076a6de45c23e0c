"""What is known of a trace that is being put together: which of its spans are here, held, missing.

Plain state with the questions that can be asked of it; when to do what is the assembler's business.  Contents are
behind references: spans that arrived together are one entry of the store.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import islice

from collector.holding.ledger import CHECKSUM_BYTES, checksum
from collector.holding.store import MemoryStore
from collector.records import LogRecord, Origin, Ref, SpanRecord

Chunk = Sequence[SpanRecord]


class JobState:
    """A job that is under way: when its trace was ready, and which spans were held then or had gone early."""

    __slots__ = ("complete", "expired", "ready_s", "span_ids")

    def __init__(self, ready_s: float, complete: bool, span_ids: set[bytes]) -> None:
        self.ready_s = ready_s
        self.complete = complete
        self.span_ids = span_ids
        self.expired = False


class LiveTrace:
    """One trace.

    `places`  kept spans, in order of arrival: their number in it.  `stubs`: spans of which only id and parent are kept.
    `chunks`  where the content of the kept spans is.  `starts`: the number of the first span in each.
    `held`    kept spans that have not left, with their time of arrival, in order of arrival.
    `tails`   what is to be appended to them.
    `gone_early` spans that have left before their run was judged.
    `topped`  whether a span is a root, or has a parent in another service.
    `missing` parents that have not come; those of them in `unsure` may well be in another service.
    `changed` whether anything came since it was last judged.
    `memory`  what whoever judges said, for next time.
    `checksums` of the first of the kept spans, as far as whoever judges has told them.
    `origins` of a trace whose content was given up while its result is awaited: where its spans belonged.
    """

    __slots__ = (
        "changed",
        "checksums",
        "chunks",
        "first_s",
        "gone_early",
        "held",
        "job",
        "judged_s",
        "last_s",
        "logs",
        "memory",
        "missing",
        "origins",
        "places",
        "scheduled_s",
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
        self.tails: dict[bytes, bytes] = {}
        self.gone_early: set[bytes] = set()
        self.first_s = now_s
        self.last_s = now_s
        self.topped = False
        self.missing: set[bytes] = set()
        self.unsure: set[bytes] = set()
        self.changed = True
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
    def awaits_run(self) -> bool:
        """Whether there is a run that wasn't judged yet."""
        return self.judged_s is None or bool(self.held) or bool(self.gone_early)

    @property
    def oldest_held_s(self) -> float:
        """When the span came that waits longest; infinite when none waits."""
        for arrived_s in self.held.values():
            return arrived_s
        return float("inf")

    def lacks_spans(self) -> bool:
        """Whether spans that were to be expected have not come.

        A parent that never came is most likely in another service if nothing else is the trace's top; with a top of
        its own, or a parent that is known to be local, spans are missing.
        """
        if self.topped:
            return bool(self.missing)
        return len(self.missing) != 1 or not self.missing <= self.unsure

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


def records_of(trace: LiveTrace, store: MemoryStore[Chunk]) -> Iterator[SpanRecord]:
    """The kept spans in order of arrival."""
    for ref in trace.chunks:
        yield from store.read(ref)


def record_of(trace: LiveTrace, store: MemoryStore[Chunk], span_id: bytes) -> SpanRecord | None:
    """A kept span; None if it isn't kept, or its content was given up."""
    number = trace.places.get(span_id)
    if number is None or not trace.starts or number < trace.starts[0]:
        return None
    chunk = bisect_right(trace.starts, number) - 1
    return store.read(trace.chunks[chunk])[number - trace.starts[chunk]]


def checksums_of(trace: LiveTrace, store: MemoryStore[Chunk]) -> bytes:
    """The checksums of all kept spans in order of arrival; what was told already isn't computed again."""
    first = trace.starts[0] if trace.starts else len(trace.places)
    told = len(trace.checksums) // CHECKSUM_BYTES
    rest = islice(records_of(trace, store), told - first, None)
    return b"".join([trace.checksums, *(checksum(record.span) for record in rest)])


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
