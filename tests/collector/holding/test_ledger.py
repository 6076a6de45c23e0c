"""What is remembered of traces after their content is gone."""

from collector.holding.ledger import Ledger, checksum

TRACE, OTHER = b"t" * 16, b"o" * 16
IDS = [number.to_bytes(8) for number in range(1, 4)]
SPANS = [b"span %d" % number for number in range(1, 4)]


def remember(ledger: Ledger, trace_id: bytes, now_s: float = 0.0) -> None:
    ledger.remember(trace_id, b"".join(IDS), b"".join(map(checksum, SPANS)), now_s)


def test_a_span_was_seen_if_its_id_and_its_bytes_were() -> None:
    ledger = Ledger(max_age_s=10.0)
    remember(ledger, TRACE)
    assert all(ledger.has_seen(TRACE, span_id, span) for span_id, span in zip(IDS, SPANS, strict=True))
    assert not ledger.has_seen(TRACE, IDS[0], SPANS[1])
    assert not ledger.has_seen(TRACE, IDS[0], SPANS[0] + b" changed")
    assert not ledger.has_seen(OTHER, IDS[0], SPANS[0])


def test_traces_are_forgotten_at_their_age() -> None:
    ledger = Ledger(max_age_s=10.0)
    remember(ledger, TRACE, now_s=0.0)
    remember(ledger, OTHER, now_s=5.0)
    ledger.expire(10.0)
    assert TRACE not in ledger and OTHER in ledger


def test_the_oldest_are_forgotten_when_there_are_too_many_spans() -> None:
    ledger = Ledger(max_age_s=10.0, max_spans=5)
    remember(ledger, TRACE)
    remember(ledger, OTHER)
    assert TRACE not in ledger and len(ledger) == 1
    remember(ledger, OTHER)
    assert OTHER in ledger and len(ledger) == 1
