"""Answers that were given before, and those that somebody else waits for just now."""
