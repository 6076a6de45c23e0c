"""Request bodies as they were before compression, never more than a limit of bytes.

Each method stops as soon as the limit is passed, so that a small body that claims to be a huge one costs no more than
an honest one.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping

import cramjam

from collector.intake import MalformedRequestError

_GZIP_OR_FAIL = 16 + zlib.MAX_WBITS
_RAW = -zlib.MAX_WBITS
_FIRST_GUESS_BYTES = 64 << 10
_SNAPPY_STREAM = b"\xff\x06\x00\x00sNaPpY"
_SNAPPY_COMPRESSED, _SNAPPY_PLAIN = 0x00, 0x01
_CHECKSUM_BYTES = 4
_PIECE_BYTES = 64 << 10
# Members of a gzip body, chunks of a snappy one: far more than senders make, and bounded work when they are all empty.
_PARTS_ALWAYS = 1000
_BYTES_PER_PART = 4 << 10


class BodyTooLargeError(Exception):
    """The body is larger than the limit, as sent or decompressed."""


class UnknownEncodingError(Exception):
    """No such compression is known here; the message lists those that are."""


def read_encoding(header: str) -> str:
    """The name of the encoding in a Content-Encoding header, empty for none; raises UnknownEncodingError."""
    name = header.strip().lower()
    if name in ("", "identity"):
        return ""
    if name not in _METHODS:
        raise UnknownEncodingError(f"this content-encoding isn't supported; supported are {', '.join(_METHODS)}")
    return name


def decompress(encoding: str, body: bytes, limit_bytes: int) -> bytes:
    """The decompressed body. An empty one stays empty.

    Args:
        encoding: its name as `read_encoding` gives it.
        body: as received.
        limit_bytes: how large the result may be.

    Raises:
        MalformedRequestError: the body isn't what the encoding says.
        BodyTooLargeError: the result would be larger than the limit.
    """
    return _METHODS[encoding](body, limit_bytes) if encoding and body else body


def _gzip(body: bytes, limit_bytes: int) -> bytes:
    return _inflate("gzip", body, limit_bytes, _GZIP_OR_FAIL)


def _zlib(body: bytes, limit_bytes: int) -> bytes:
    return _inflate("zlib", body, limit_bytes, zlib.MAX_WBITS)


def _deflate(body: bytes, limit_bytes: int) -> bytes:
    # "deflate" means the zlib format, but some senders leave its two header bytes out.
    has_header = len(body) > 1 and body[0] & 0x0F == 8 and int.from_bytes(body[:2], "big") % 31 == 0
    return _inflate("deflate", body, limit_bytes, zlib.MAX_WBITS if has_header else _RAW)


def _inflate(name: str, body: bytes, limit_bytes: int, window_bits: int) -> bytes:
    parts: list[bytes] = []
    left = limit_bytes + 1  # one more than allowed shows that there is more
    at = members = 0
    most = _most_parts(limit_bytes)
    while at < len(body):  # a gzip file may consist of several
        members += 1
        if members > most:
            raise MalformedRequestError(f"the {name} body has more than {most} members")
        stream = zlib.decompressobj(window_bits)
        while not stream.eof:
            # In pieces: after the end of a member zlib copies the rest of what it was given.
            piece = body[at : at + _PIECE_BYTES]
            if not piece:
                raise MalformedRequestError(f"the {name} body is cut off")
            try:
                part = stream.decompress(piece, left)
            except zlib.error:
                raise MalformedRequestError(f"the body isn't {name}, though its content-encoding says so") from None
            left -= len(part)
            if left <= 0:
                raise BodyTooLargeError
            at += len(piece) - len(stream.unused_data)
            parts.append(part)
    return b"".join(parts)


def _most_parts(limit_bytes: int) -> int:
    return _PARTS_ALWAYS + limit_bytes // _BYTES_PER_PART


def _zstd(body: bytes, limit_bytes: int) -> bytes:
    return _into_buffer("zstd", body, limit_bytes, cramjam.zstd.decompress_into)


def _lz4(body: bytes, limit_bytes: int) -> bytes:
    return _into_buffer("lz4", body, limit_bytes, cramjam.lz4.decompress_into)


def _into_buffer(name: str, body: bytes, limit_bytes: int, decompress_into: Callable[[bytes, bytearray], int]) -> bytes:
    """For libraries that fill a buffer: one that is a guess first, then larger ones up to the limit."""
    size = min(limit_bytes, max(_FIRST_GUESS_BYTES, 8 * len(body)))
    while True:
        buffer = bytearray(size)
        try:
            written = decompress_into(body, buffer)
        except cramjam.DecompressionError as error:
            if "whole buffer" not in str(error):  # what a buffer that is too small is called
                raise MalformedRequestError(f"the body isn't {name}, though its content-encoding says so") from None
            if size == limit_bytes:
                raise BodyTooLargeError from None
            size = min(limit_bytes, 4 * size)
        else:
            return bytes(memoryview(buffer)[:written])


def _snappy(body: bytes, limit_bytes: int) -> bytes:
    """Either format of snappy: the framed one starts with its mark, the other with the size of the result."""
    try:
        if body.startswith(_SNAPPY_STREAM):
            if _framed_size(body, _most_parts(limit_bytes)) > limit_bytes:
                raise BodyTooLargeError
            return bytes(cramjam.snappy.decompress(body))
        if cramjam.snappy.decompress_raw_len(body) > limit_bytes:
            raise BodyTooLargeError
        return bytes(cramjam.snappy.decompress_raw(body))
    except cramjam.DecompressionError:
        raise MalformedRequestError("the body isn't snappy, though its content-encoding says so") from None


def _framed_size(body: bytes, most_chunks: int) -> int:
    """What the chunks of the framed format say they hold; decompressing checks that it is true."""
    total = at = chunks = 0
    while at + 4 <= len(body):
        chunks += 1
        if chunks > most_chunks:
            raise MalformedRequestError(f"the snappy body has more than {most_chunks} chunks")
        kind, size = body[at], int.from_bytes(body[at + 1 : at + 4], "little")
        at += 4
        if kind == _SNAPPY_PLAIN:
            total += max(0, size - _CHECKSUM_BYTES)
        elif kind == _SNAPPY_COMPRESSED:
            total += cramjam.snappy.decompress_raw_len(body[at + _CHECKSUM_BYTES : at + _CHECKSUM_BYTES + 5])
        at += size
    return total


_METHODS: Mapping[str, Callable[[bytes, int], bytes]] = {
    "gzip": _gzip,
    "zstd": _zstd,
    "zlib": _zlib,
    "deflate": _deflate,
    "snappy": _snappy,
    "x-snappy-framed": _snappy,
    "lz4": _lz4,
}
