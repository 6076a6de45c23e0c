"""What passes between the assembler and whoever judges: plain data, so that it can cross to another process.

Tuples rather than dataclasses, and sealed parts: most of what comes back is only needed if a span left too early, or
is only handed in again, and unpacking it for every trace would cost more than everything else done with it.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, Protocol, TypeAlias

RawItem = tuple[bytes, bytes, bytes]
"""A span or log record with what it belongs to, all serialised: resource, scope, and itself."""
RawBatch = tuple[bytes, bytes, list[bytes]]
"""Spans of one scope, all serialised: resource, scope, and the spans."""


# What an item of a trace takes besides its bytes while it is judged: decoded, and with what is made of it.
ITEM_BYTES = 2 << 10
# Decoded, a trace takes several times its bytes; nobody reads the verdict on so much.
MAX_JOB_BYTES = 128 << 20
# A trace is handed over in pieces of about this size, so that nobody else waits long for a large one.
PART_SPANS = 1000
PART_BYTES = 1 << 20

Route = tuple[str, tuple[tuple[str, str], ...]]
"""Schema URL of a resource, and headers (sorted name-value pairs)."""


class EvaluationSpan(NamedTuple):
    """A span that carries a verdict about another span, serialised with what it belongs to."""

    resource: bytes
    scope: bytes
    span: bytes


class Carriers(NamedTuple):
    """The evaluation spans about one span.

    `evaluations` say the same as the span's tail; `extra` says what can't be appended to it.
    """

    evaluations: list[EvaluationSpan]
    extra: list[EvaluationSpan]


class Job(NamedTuple):
    """A trace to judge.

    `batches` are its spans as they came, `stubs` serialised spans with nothing but ids for those that weren't kept.
    `complete` says whether whole runs may be judged, or only steps whose inputs are there.  `partial` says that part
    of the trace is known to be missing for good.  `memory` is `Judged.memory` of the job before for this trace, empty
    at the first.  With `rules_only` no judge is asked.  `route` is handed back with what is said about the
    trace when it is no longer held: the schema URL of its resource, and the headers that travel with it.  With `more`
    it is a piece: it has nothing but some of the spans, and the others follow in order.
    """

    trace_id: bytes
    batches: list[RawBatch]
    logs: list[RawItem]
    complete: bool
    partial: bool
    stubs: list[bytes] = []  # noqa: RUF012 - never changed
    memory: bytes = b""
    rules_only: bool = False
    route: Route = ("", ())
    more: bool = False

    @property
    def spans(self) -> list[RawItem]:
        """All spans, one by one."""
        items = [(resource, scope, span) for resource, scope, spans in self.batches for span in spans]
        return [*items, *((b"", b"", stub) for stub in self.stubs)]

    @property
    def cost_bytes(self) -> int:
        """See `JobSource`."""
        sizes = [len(span) for _, _, spans in self.batches for span in spans]
        sizes += [len(record) for _, _, record in self.logs]
        return sum(sizes) + ITEM_BYTES * len(sizes)

    def parts(self) -> Iterator[Job]:
        """See `JobSource`."""
        yield self

    def __reduce_ex__(self, _: object) -> tuple[Callable[..., Job], tuple[object, ...]]:
        # The spans are most of a job by far: they are handed to the channel as they are instead of being copied.
        batches = [(resource, scope, list(map(pickle.PickleBuffer, spans))) for resource, scope, spans in self.batches]
        return Job, (self.trace_id, batches, *self[2:])


class JobSource(Protocol):
    """A job that is handed in: what it is, how large, and its content when it is its turn."""

    @property
    def trace_id(self) -> bytes:
        """See `Job`."""

    @property
    def complete(self) -> bool:
        """See `Job`."""

    @property
    def partial(self) -> bool:
        """See `Job`."""

    @property
    def rules_only(self) -> bool:
        """See `Job`."""

    @property
    def cost_bytes(self) -> int:
        """How large it is, its spans and log records with what goes along with each."""

    def parts(self) -> Iterator[Job]:
        """The job in pieces, all but the last with `more`; may be asked for again.

        Raises:
            GivenUpError: the content was given up; there is nothing to judge any more.
        """


class GivenUpError(Exception):
    """The content of a trace was given up before it was judged."""


class NoMore(NamedTuple):
    """What was handed over of a trace's job in pieces is all there will be, and isn't to be judged."""

    trace_id: bytes


def joined(parts: Iterable[Job]) -> Job:
    """One job out of its pieces, in order."""
    pieces = list(parts)
    batches = [batch for piece in pieces for batch in piece.batches]
    return pieces[-1] if len(pieces) == 1 else pieces[-1]._replace(batches=batches)


class Judged(NamedTuple):
    """What came of a job.

    `tails`     by span id: serialised attributes to append to the span.
    `carriers`  by span id the same and more as spans of their own, sealed; see `open_carriers`.
    `extra`     ids of spans that have something to say which can't be appended.
    `settled`   ids of spans on which nothing more is to be said unless the trace grows.
    `memory`    what was said, for the next job of this trace; only whoever judges understands it.
    `again`     ids of other traces that are worth another job, if they are still kept.
    `told`      the same as codes and ids, for the record, sealed; see `collector.accounts.told`.
    `checksums` of the job's spans (without stubs), one after the other; see `collector.holding.ledger`.
    `failure`   why the whole job has no result; then the rest is empty.
    `final`     whether this is all there is; if not, it is what rules decided, and a judge is being asked.
    `more`      whether it is a piece: it has nothing but some of the tails and carriers, and the others follow.
    """

    trace_id: bytes
    tails: Mapping[bytes, bytes] = {}
    carriers: bytes = b""
    extra: frozenset[bytes] = frozenset()
    settled: frozenset[bytes] = frozenset()
    memory: bytes = b""
    again: frozenset[bytes] = frozenset()
    checksums: bytes = b""
    failure: str | None = None
    final: bool = True
    more: bool = False
    told: bytes = b""


class Apart(NamedTuple):
    """Evaluation spans about spans that have long left, with the route of the trace that they were in."""

    spans: list[EvaluationSpan]
    route: Route


def pieces_of(result: Judged) -> Iterator[Judged]:
    """A result in pieces of a size that keeps nobody waiting, all but the last with `more`."""
    span_ids = list(result.tails)
    if len(span_ids) <= PART_SPANS:
        yield result
        return
    carriers = open_carriers(result)
    for start in range(0, len(span_ids), PART_SPANS):
        part = span_ids[start : start + PART_SPANS]
        tails = {span_id: result.tails[span_id] for span_id in part}
        sealed = seal_carriers({span_id: carriers[span_id] for span_id in part if span_id in carriers})
        extra = result.extra.intersection(part)
        if start + PART_SPANS < len(span_ids):
            yield Judged(result.trace_id, tails, sealed, extra, final=False, more=True)
        else:
            yield result._replace(tails=tails, carriers=sealed, extra=extra)


def seal_carriers(carriers: Mapping[bytes, Carriers]) -> bytes:
    """Carriers by span id, packed.

    In pieces, as nothing else in the process goes on while one is packed or unpacked.
    """
    if not carriers:
        return b""
    items = list(carriers.items())
    pieces = [dict(items[start : start + PART_SPANS]) for start in range(0, len(items), PART_SPANS)]
    return pickle.dumps([pickle.dumps(piece, protocol=pickle.HIGHEST_PROTOCOL) for piece in pieces])


def open_carriers(result: Judged) -> Mapping[bytes, Carriers]:
    """The carriers of a result. What is unpacked was packed by this program's own judging process."""
    if not result.carriers:
        return {}
    opened: dict[bytes, Carriers] = {}
    for piece in pickle.loads(result.carriers):
        opened |= pickle.loads(piece)
    return opened


class Stopping(NamedTuple):
    """The sidecar stops: requests to judges that are under way may still be answered, and no other is begun."""


class VerdictCount(NamedTuple):
    """How many verdicts there were of one kind since the last count."""

    evaluator: str
    status: str
    label: str | None
    method: str
    uncalibrated: bool
    verdicts: int


class ScoreCount(NamedTuple):
    """Scores of one kind since the last count, as `collector.score_buckets.Buckets` has them."""

    evaluator: str
    label: str
    level: str
    counts: tuple[int, ...]
    total: float
    least: float
    greatest: float


class AdmissionCount(NamedTuple):
    """How often it was decided for an evaluator that a judge is asked, or why not, since the last count."""

    evaluator: str
    decision: str
    cases: int


class RequestCount(NamedTuple):
    """One request to a judge's endpoint: how it ended, how long it took in seconds, and the tokens it used.

    `problem` is what an operator has to know where no reply came, `learnt` how the endpoint is asked from now on, if
    the request taught something new.
    """

    judge: str
    outcome: str
    duration_s: float
    tokens_read: int
    tokens_written: int
    problem: str
    learnt: str = ""


class QuestionCount(NamedTuple):
    """What came of questions to a judge (see `evaluators.judge.report.Asked`), and what an operator has to know."""

    judge: str
    asked: str
    problem: str
    questions: int


class SpendingCount(NamedTuple):
    """What a judge used since the last count; `estimated` where its endpoint didn't say.  No `money` without prices."""

    judge: str
    estimated: bool
    tokens: int
    money: float | None


class LevelCount(NamedTuple):
    """How it stands with a judge's limits: requests that wait, that are under way, that may be, and its breaker."""

    judge: str
    queued: int
    under_way: int
    limit: int
    breaker_open: bool


Count: TypeAlias = (
    VerdictCount | ScoreCount | AdmissionCount | RequestCount | QuestionCount | SpendingCount | LevelCount
)
"""What the judging process counts."""
