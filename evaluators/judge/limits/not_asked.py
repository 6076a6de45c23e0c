"""Why a judge wasn't asked: a limit on our side held. It never leaves `evaluators.judge`."""

from __future__ import annotations

from evaluators.judge.report import Asked
from evaluators.verdict import Status

IS_STOPPED = "the judge is being stopped"
"""Why, when the sidecar is."""


class NotAskedError(Exception):
    """No request was sent; `reason` says why, and when or how it may be."""

    def __init__(self, reason: str, status: Status, asked: Asked) -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status
        self.asked = asked
