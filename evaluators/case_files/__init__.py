"""Cases as lines of a file, and verdicts as lines of a file: the evaluators without telemetry."""
