"""Spans as bytes: receive, keep, group into traces, hand over, send on. Knows OTLP, knows nothing of agents."""

import os

# Before gRPC is imported anywhere: its fork handlers only get in the way, since processes are started anew here and
# never forked to go on; and its own lines on standard error aren't for operators.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
