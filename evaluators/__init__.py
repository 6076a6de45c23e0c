"""Judging alone: a typed case in, a verdict out. No OpenTelemetry in here."""
