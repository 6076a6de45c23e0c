"""Traceloop's SDK, set up to send to where the environment says."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

import desk


@contextlib.contextmanager
def recorded() -> Iterator[None]:
    """Run a block with Traceloop, and see that everything is sent."""
    os.environ["TRACELOOP_TELEMETRY"] = "false"
    os.environ["TRACELOOP_METRICS_ENABLED"] = "false"
    os.environ["TRACELOOP_BASE_URL"] = os.environ["RECORDER_SINK_URL"]
    from opentelemetry import trace
    from traceloop.sdk import Traceloop

    Traceloop.init(app_name="library-desk", api_key="not-a-key", disable_batch=bool(os.environ.get("DESK_UNBATCHED")))
    with desk.ending():
        yield
    trace.get_tracer_provider().shutdown()
