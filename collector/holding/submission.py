"""A trace as it is handed in to be judged: its content is read when it is its turn, piece by piece.

In: what is known of the trace, and where its content is.  Out: the pieces of its `Job`.  So a large trace costs nobody
else a long turn of the loop, and what was dropped from memory isn't back there while the job waits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from operator import attrgetter

from collector.holding.live_trace import Chunk, JobState, LiveTrace, readable, stub_spans
from collector.holding.store import MemoryStore
from collector.judging.jobs import ITEM_BYTES, PART_BYTES, PART_SPANS, GivenUpError, Job, RawBatch, Route
from collector.records import LogRecord


class Submission:
    """A `collector.judging.jobs.JobSource`.

    Args:
        trace: whose spans are to be judged, as far as they are there now.
        state: the trace's job; with the content gone, or another job, there are no more pieces.
        frame: the job without its content.
        spans, logs: where the content is.
    """

    def __init__(
        self,
        trace: LiveTrace,
        state: JobState,
        frame: Job,
        spans: MemoryStore[Chunk],
        logs: MemoryStore[LogRecord],
    ) -> None:
        self._trace = trace
        self._state = state
        self._frame = frame
        self._spans = spans
        self._logs = logs
        self._count = len(trace.places)
        self._log_refs = tuple(trace.logs)
        self.trace_id = frame.trace_id
        self.complete = frame.complete
        self.partial = frame.partial
        self.rules_only = frame.rules_only
        self.cost_bytes = trace.content_bytes + ITEM_BYTES * (self._count + len(trace.logs))

    @property
    def in_one_piece(self) -> bool:
        """Whether there is only one piece, and all of it in memory."""
        trace = self._trace
        return not trace.spilled and self._count <= PART_SPANS and trace.content_bytes <= PART_BYTES

    def parts(self) -> Iterator[Job]:
        """See `collector.judging.jobs.JobSource`."""
        frame = self._frame
        pending: list[RawBatch] = []
        spans = size_bytes = 0
        route: Route | None = None
        partial = frame.partial
        for chunk in self._chunks():
            if chunk is None:
                # What can't be read is missing for good. What was judged with it isn't judged anew without it.
                if self._trace.judged_s is not None and not self._state.span_ids:
                    raise GivenUpError
                partial = True
                self._state.readable = False
                continue
            if route is None and chunk:
                route = (chunk[0].origin.resource_schema_url, chunk[0].origin.headers)
            for origin, records in groupby(chunk, attrgetter("origin")):
                for batch, batch_bytes in _cut([record[5] for record in records]):
                    if pending and (spans + len(batch) > PART_SPANS or size_bytes + batch_bytes > PART_BYTES):
                        yield Job(self.trace_id, pending, [], frame.complete, partial, more=True)
                        pending, spans, size_bytes = [], 0, 0
                    if pending and pending[-1][0] is origin.resource and pending[-1][1] is origin.scope:
                        pending[-1][2].extend(batch)
                    else:
                        pending.append((origin.resource, origin.scope, batch))
                    spans += len(batch)
                    size_bytes += batch_bytes
        self._require_content()
        logs = [self._logs.read(ref) for ref in self._log_refs]
        yield frame._replace(
            batches=pending,
            logs=[(record.origin.resource, record.origin.scope, record.record) for record in logs],
            partial=partial,
            stubs=list(stub_spans(self.trace_id, self._trace)),
            route=route or frame.route,
        )

    def _chunks(self) -> Iterator[Chunk | None]:
        """The spans that were there when this was handed in; None for what can't be read."""
        trace = self._trace
        for at in range(len(trace.chunks)):
            self._require_content()
            if trace.starts[at] >= self._count:
                return
            yield readable(self._spans, trace.chunks[at])

    def _require_content(self) -> None:
        if self._trace.job is not self._state or not self._trace.chunks:
            raise GivenUpError


def _cut(spans: list[bytes]) -> Iterator[tuple[list[bytes], int]]:
    """The spans in pieces that are no larger than a part, if each of them isn't, with their bytes."""
    sizes: Sequence[int] = list(map(len, spans))
    size_bytes = sum(sizes)
    if len(spans) <= PART_SPANS and size_bytes <= PART_BYTES:
        yield spans, size_bytes
        return
    start = 0
    while start < len(spans):
        end, part_bytes = start, 0
        for size in islice(sizes, start, start + PART_SPANS):
            if end > start and part_bytes + size > PART_BYTES:
                break
            end += 1
            part_bytes += size
        yield spans[start:end], part_bytes
        start = end
