"""Ids of spans and traces, however they were written → OTLP's 16 and 8 bytes.

Understood are hexadecimal digits (also with 0x in front, also fewer than the full number), base64, UUIDs and integers.
Any other text becomes the beginning of its SHA-256, so that the same id is the same everywhere.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass

from collector.receivers.formats.shape import Findings, WrongPieceError

TRACE_BYTES = 16
SPAN_BYTES = 8
_HEX = re.compile(r"(?:0[xX])?([0-9a-fA-F]+)")
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")
_PREFIXED = re.compile(r"[A-Za-z]+[-_]([0-9a-fA-F]{32})")  # a kind in front of 16 bytes, such as tr-4bf92f…
_URL_SAFE = str.maketrans("-_", "+/")
_NONE = frozenset({"", "None", "null", "undefined"})


@dataclass(frozen=True, slots=True)
class Ids:
    """Converts ids and tells once that some couldn't stay as they were."""

    findings: Findings

    def trace(self, value: object) -> bytes:
        """A trace's id. Raises WrongPieceError where there is none."""
        found = self._read(value, TRACE_BYTES)
        if not found:
            raise WrongPieceError("it has no trace id")
        return found

    def span(self, value: object) -> bytes:
        """A span's id. Raises WrongPieceError where there is none."""
        found = self._read(value, SPAN_BYTES)
        if not found:
            raise WrongPieceError("it has no span id")
        return found

    def parent(self, value: object) -> bytes:
        """The parent's id; empty where there is none."""
        return self._read(value, SPAN_BYTES)

    def link(self, trace_id: object, span_id: object) -> tuple[bytes, bytes] | None:
        """The ids of a span that another one refers to; None, and told once, where they are none."""
        try:
            return self.trace(trace_id), self.span(span_id)
        except WrongPieceError:
            self.findings.note("references to other spans were left out that have no id of a trace and of a span")
            return None

    def _read(self, value: object, size: int) -> bytes:
        exact = exact_id(value, size)
        if exact is not None:
            return exact if any(exact) else b""
        self.findings.note(f"ids that don't have {SPAN_BYTES} or {TRACE_BYTES} bytes were replaced by hashes of them")
        return hashed(str(value), size)


def exact_id(value: object, size: int) -> bytes | None:
    """The id's bytes; empty where there is no id, None where its text stands for no `size` bytes."""
    if isinstance(value, bool | float | dict | list):
        raise WrongPieceError("an id is no text")
    if isinstance(value, int):
        return value.to_bytes(size) if 0 <= value < 1 << 8 * size else None
    if not isinstance(value, str) or value in _NONE:
        return b""
    hexadecimal = _HEX.fullmatch(value)
    if hexadecimal is not None:
        digits = hexadecimal[1]
        if not digits.strip("0"):
            return b""
        return bytes.fromhex(digits.zfill(2 * size)) if len(digits) <= 2 * size else None
    if size == TRACE_BYTES:
        if _UUID.fullmatch(value):
            return bytes.fromhex(value.replace("-", ""))
        prefixed = _PREFIXED.fullmatch(value)
        if prefixed is not None:
            return bytes.fromhex(prefixed[1])
    return _from_base64(value, size)


def hashed(text: str, size: int) -> bytes:
    """An id made of a text."""
    return hashlib.sha256(text.encode()).digest()[:size]


def _from_base64(text: str, size: int) -> bytes | None:
    if len(text.rstrip("=")) != -(-size * 4 // 3) or not _BASE64.fullmatch(text):
        return None
    try:
        return base64.b64decode(text.rstrip("=").translate(_URL_SAFE) + "=" * (-size % 3))
    except (binascii.Error, ValueError):
        return None
