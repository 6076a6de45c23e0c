"""From the spans of a trace to a transcript: which of them belong together, and what they tell of each run."""
