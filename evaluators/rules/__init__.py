"""Deterministic checks that several evaluators share."""
