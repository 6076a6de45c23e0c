"""Spans as bytes: receive, keep, group into traces, hand over, send on. Knows OTLP, knows nothing of agents."""
