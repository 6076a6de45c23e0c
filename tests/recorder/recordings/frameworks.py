"""Recordings of agent frameworks."""

from __future__ import annotations

from tests.recorder.recordings.recording import Recording

RECORDINGS: tuple[Recording, ...] = ()
