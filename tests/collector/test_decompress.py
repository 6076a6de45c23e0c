"""Compressed bodies are unpacked up to a limit, and not a byte further."""

import contextlib
import gzip
import zlib

import cramjam
import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.intake import MalformedRequestError
from collector.receivers.decompress import BodyTooLargeError, UnknownEncodingError, decompress, read_encoding

PLAIN = b"some telemetry, some telemetry, " * 500
LIMIT = len(PLAIN)


def raw_deflate(data: bytes) -> bytes:
    stream = zlib.compressobj(wbits=-15)
    return stream.compress(data) + stream.flush()


COMPRESSED = [
    ("gzip", gzip.compress),
    ("zlib", zlib.compress),
    ("deflate", zlib.compress),
    ("deflate", raw_deflate),
    ("zstd", lambda data: bytes(cramjam.zstd.compress(data))),
    ("snappy", lambda data: bytes(cramjam.snappy.compress(data))),
    ("snappy", lambda data: bytes(cramjam.snappy.compress_raw(data))),
    ("x-snappy-framed", lambda data: bytes(cramjam.snappy.compress(data))),
    ("lz4", lambda data: bytes(cramjam.lz4.compress(data))),
]
IDS = [
    "gzip",
    "zlib",
    "deflate",
    "raw deflate",
    "zstd",
    "snappy framed",
    "snappy raw",
    "x-snappy-framed",
    "lz4",
]
each_method = pytest.mark.parametrize(("encoding", "compress"), COMPRESSED, ids=IDS)


@each_method
def test_a_body_of_exactly_the_limit_is_unpacked(encoding: str, compress: object) -> None:
    assert callable(compress)
    assert decompress(encoding, compress(PLAIN), LIMIT) == PLAIN


@each_method
def test_a_body_of_one_byte_more_is_too_large(encoding: str, compress: object) -> None:
    assert callable(compress)
    with pytest.raises(BodyTooLargeError):
        decompress(encoding, compress(PLAIN + b"x"), LIMIT)


@each_method
def test_a_cut_off_body_is_malformed(encoding: str, compress: object) -> None:
    assert callable(compress)
    body = compress(PLAIN)
    with pytest.raises(MalformedRequestError):
        decompress(encoding, body[: len(body) // 2], LIMIT)


@each_method
def test_a_body_that_is_not_compressed_is_malformed(encoding: str, compress: object) -> None:
    with pytest.raises(MalformedRequestError, match=encoding.removeprefix("x-").partition("-")[0]):
        decompress(encoding, b'{"key": "value"}', LIMIT)


@pytest.mark.parametrize("encoding", ["gzip", "zlib", "zstd", "snappy", "deflate", "lz4", ""])
def test_an_empty_body_stays_empty(encoding: str) -> None:
    assert decompress(encoding, b"", LIMIT) == b""


def test_a_small_body_that_unpacks_to_a_huge_one_is_too_large() -> None:
    zeros = bytes(64 << 20)
    for encoding, body in (("gzip", gzip.compress(zeros)), ("zstd", bytes(cramjam.zstd.compress(zeros)))):
        assert len(body) < 100_000
        with pytest.raises(BodyTooLargeError):
            decompress(encoding, body, 1 << 20)


def test_a_snappy_body_that_lies_about_its_size_is_refused() -> None:
    claims_four_gib = b"\xff\xff\xff\xff\x0f" + b"\x00a"
    with pytest.raises(BodyTooLargeError):
        decompress("snappy", claims_four_gib, LIMIT)


def test_a_gzip_body_of_several_members_is_unpacked_whole() -> None:
    assert decompress("gzip", gzip.compress(b"a" * 10) + gzip.compress(b"b" * 10), 20) == b"a" * 10 + b"b" * 10
    with pytest.raises(BodyTooLargeError):
        decompress("gzip", gzip.compress(b"a" * 10) + gzip.compress(b"b" * 10), 19)


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", gzip.compress(b"") * 20_000),
        ("zlib", zlib.compress(b"") * 20_000),
        ("snappy", b"\xff\x06\x00\x00sNaPpY" + b"\xfe\x00\x00\x00" * 20_000),
    ],
)
def test_a_body_of_countless_empty_parts_is_refused_after_bounded_work(encoding: str, body: bytes) -> None:
    with pytest.raises(MalformedRequestError, match=f"the {encoding} body has more than 17384"):
        decompress(encoding, body, 64 << 20)


@pytest.mark.parametrize(("header", "name"), [("gzip", "gzip"), (" GZIP ", "gzip"), ("identity", ""), ("", "")])
def test_an_encoding_is_read_in_any_case(header: str, name: str) -> None:
    assert read_encoding(header) == name


def test_an_unknown_encoding_is_refused_naming_the_known_ones() -> None:
    with pytest.raises(UnknownEncodingError, match="gzip, zstd, zlib, deflate, snappy"):
        read_encoding("br")


@given(
    st.sampled_from(["gzip", "zlib", "deflate", "zstd", "snappy", "lz4"]),
    st.binary(max_size=60) | st.binary(max_size=60).map(lambda tail: b"\xff\x06\x00\x00sNaPpY" + tail),
)
def test_random_bytes_are_refused_or_unpacked_within_the_limit(encoding: str, body: bytes) -> None:
    with contextlib.suppress(MalformedRequestError, BodyTooLargeError):
        assert len(decompress(encoding, body, 1000)) <= 1000
