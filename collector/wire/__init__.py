"""OTLP without re-encoding: requests are cut into spans and built from spans; a span's bytes stay as they came.

`slicing` takes requests apart, `building` puts them together, `skeleton` holds the message declarations both use,
`origins` shares what spans have in common, `damage` says where broken bytes are broken.
"""

from __future__ import annotations

from collector.wire.building import build_logs_request, build_request
from collector.wire.origins import Origins
from collector.wire.recognition import recognise_signal
from collector.wire.slicing import (
    Rejection,
    Sliced,
    SlicedLogs,
    count_data_points,
    describe_rejections,
    slice_logs,
    slice_spans,
)

__all__ = [
    "Origins",
    "Rejection",
    "Sliced",
    "SlicedLogs",
    "build_logs_request",
    "build_request",
    "count_data_points",
    "describe_rejections",
    "recognise_signal",
    "slice_logs",
    "slice_spans",
]
