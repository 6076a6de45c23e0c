"""Spans as bytes: receive, keep, group into traces, hand over, send on. Knows OTLP, knows nothing of agents."""

import os

# gRPC's fork handlers only get in the way: processes are started anew here, never forked to go on.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
