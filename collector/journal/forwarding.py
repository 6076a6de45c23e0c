"""Which segment's last records should be written once more at the end, so that the rest of its bytes become free.

A pure function of how the segments stand.  A segment is worth it when at most a quarter of it is needed, so that at
least three bytes become free for each that is written; and when nothing will free it soon by itself.
"""

from __future__ import annotations

from collections.abc import Mapping

from collector.journal.claimed import SegmentClaims

_WORTH = 4
# What was written lately is mostly about to be delivered; that takes about as long as it takes to fill this many.
_NEWER_SEGMENTS = 4


def segment_to_empty(segments: Mapping[int, SegmentClaims], *, is_pressed: bool) -> int | None:
    """The oldest segment to rewrite, if there is one. `is_pressed`: room is short, so that newer ones count too."""
    closed = sorted(sequence for sequence, segment in segments.items() if segment.closed)
    for sequence in closed if is_pressed else closed[:-_NEWER_SEGMENTS]:
        segment = segments[sequence]
        if segment.live and not segment.kept and segment.live_bytes * _WORTH <= segment.size_bytes:
            return sequence
    return None
