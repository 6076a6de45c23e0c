"""What a judge is shown of a run and asked about it, in words: redacted, fenced, abridged to the room there is."""
