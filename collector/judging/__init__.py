"""The judging process: its set-up, the process seen from outside and from inside, and what passes between the two."""
