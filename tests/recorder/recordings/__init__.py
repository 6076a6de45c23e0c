"""What can be recorded: one `Recording` per dialect, and which scenarios show something of it."""

from __future__ import annotations

from tests.recorder.recordings import agent_sdks, frameworks, java, node, other_providers, providers, versions
from tests.recorder.recordings.recording import Recording

__all__ = ["RECORDINGS", "Recording"]

RECORDINGS: dict[str, Recording] = {
    recording.dialect: recording
    for source in (providers, agent_sdks, other_providers, node, java, frameworks, versions)
    for recording in source.RECORDINGS
}
