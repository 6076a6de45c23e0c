"""The one question of authentication: does a request carry the token?"""

from __future__ import annotations

import hmac
from collections.abc import Mapping

from collector.receivers.otlp_settings import AuthSettings


class BearerCheck:
    """Compares the `authorization` header with the configured token; without a token everything may pass."""

    def __init__(self, settings: AuthSettings | None) -> None:
        self._token = settings.bearer_token.get_secret_value().encode() if settings else None

    def passes(self, headers: Mapping[str, str]) -> bool:
        """Whether a request with these headers (names in lower case) may be taken."""
        if self._token is None:
            return True
        scheme, _, token = headers.get("authorization", "").partition(" ")
        # In constant time, so that the time of an answer tells nothing of the token.
        return scheme.lower() == "bearer" and hmac.compare_digest(
            token.strip().encode("latin-1", "replace"), self._token
        )
