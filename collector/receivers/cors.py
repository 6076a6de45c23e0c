"""What browsers have to be told so that pages of other origins may send: the CORS protocol of the Fetch standard
(https://fetch.spec.whatwg.org/#http-cors-protocol), as far as a receiver of POST requests needs it.

In go the headers of a request, out come headers for its answer; nothing is refused here.  It is the browser that keeps
a page from sending or from reading the answer, when these headers are missing.
"""

from __future__ import annotations

from collections.abc import Mapping

from collector.receivers.otlp_settings import CorsSettings

Headers = list[tuple[bytes, bytes]]

# Without these no OTLP request can be sent at all.
_ALWAYS_ALLOWED = frozenset({"accept", "content-type", "content-encoding", "x-requested-with", "origin"})
_ANY = "*"
_VARY_PREFLIGHT = (b"vary", b"Origin, Access-Control-Request-Method, Access-Control-Request-Headers")


def is_preflight(method: str, headers: Mapping[str, str]) -> bool:
    """Whether a browser asks what it may send (names of headers in lower case)."""
    return method == "OPTIONS" and "origin" in headers and "access-control-request-method" in headers


class Cors:
    """Which origins may do what."""

    def __init__(self, settings: CorsSettings) -> None:
        self._any_origin = _ANY in settings.allowed_origins
        # Origins are compared without regard to case: scheme and host have none, and there is nothing else in them.
        self._origins = [origin.lower().partition(_ANY) for origin in settings.allowed_origins]
        self._any_header = _ANY in settings.allowed_headers
        self._headers = _ALWAYS_ALLOWED | {name.lower() for name in settings.allowed_headers}
        self._exposed = ", ".join(settings.exposed_headers).encode()
        self._max_age_s = settings.max_age

    def preflight(self, headers: Mapping[str, str]) -> Headers:
        """Headers for the answer to a preflight request."""
        allowed = self._origin(headers)
        asked = headers.get("access-control-request-headers", "")
        names = [name.strip().lower() for name in asked.split(",") if name.strip()]
        if (
            not allowed
            or headers["access-control-request-method"] != "POST"
            or not (self._any_header or self._headers.issuperset(names))
        ):
            return [_VARY_PREFLIGHT]
        found = [_VARY_PREFLIGHT, *allowed, (b"access-control-allow-methods", b"POST")]
        if names:
            found.append((b"access-control-allow-headers", ", ".join(names).encode("latin-1")))
        if self._max_age_s:
            found.append((b"access-control-max-age", b"%d" % self._max_age_s))
        return found

    def of_answer(self, headers: Mapping[str, str]) -> Headers:
        """Headers for the answer to any other request, refusals too: pages have to see those as well."""
        # An answer for any origin is the same for all; else a cache mustn't give one page's answer to another.
        vary = [] if self._any_origin else [(b"vary", b"Origin")]
        allowed = self._origin(headers)
        if allowed and self._exposed:
            allowed.append((b"access-control-expose-headers", self._exposed))
        return vary + allowed

    def _origin(self, headers: Mapping[str, str]) -> Headers:
        origin = headers.get("origin", "")
        if not origin:
            return []
        if self._any_origin:
            return [(b"access-control-allow-origin", b"*")]
        if not any(_matches(origin.lower(), *parts) for parts in self._origins):
            return []
        # Beacons, with which pages send when they are left, always come with credentials.
        return [
            (b"access-control-allow-origin", origin.encode("latin-1")),
            (b"access-control-allow-credentials", b"true"),
        ]


def _matches(origin: str, before: str, wildcard: str, after: str) -> bool:
    if not wildcard:
        return origin == before
    return len(origin) >= len(before) + len(after) and origin.startswith(before) and origin.endswith(after)
