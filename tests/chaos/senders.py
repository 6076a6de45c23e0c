"""Senders as OTLP wants them: they send the same bytes again on what may pass, after a while, and else give up.

One over gRPC, one over HTTP, each with gzip or without.
"""

from __future__ import annotations

import asyncio
import gzip
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import grpc
import httpx2
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status

from tests.e2e.sidecar import TRACES

_FIRST_WAIT_S, _LONGEST_WAIT_S, _PATIENCE_S = 0.1, 2.0, 10.0
_RETRYABLE = {
    grpc.StatusCode.CANCELLED,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.ABORTED,
    grpc.StatusCode.OUT_OF_RANGE,
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.DATA_LOSS,
}
_RETRYABLE_HTTP = {429, 502, 503, 504}


class _AgainError(Exception):
    """It may pass; `wait_s` is how long the receiver wants to be left alone, if it says."""

    def __init__(self, why: str, wait_s: float | None) -> None:
        super().__init__(why)
        self.wait_s = wait_s


class RefusedForGoodError(Exception):
    """A sender that is told this drops what it has."""


class Attempt(Protocol):
    """A way to send a request once."""

    async def __call__(self, body: bytes) -> None:
        """Raises _AgainError or RefusedForGoodError."""
        ...


@dataclass
class Sender:
    """Sends until it is told that what it sent is kept.

    Attributes:
        refusals: how often it was told what, once all is counted; `undated` those over HTTP that said no time.
    """

    attempt: Attempt
    close: Callable[[], object]
    rng: random.Random
    refusals: Counter[str] = field(default_factory=Counter)
    undated: int = 0

    async def send(self, body: bytes, attempted: Callable[[], None]) -> None:
        """Return when it is acknowledged. Raises RefusedForGoodError."""
        wait_s = _FIRST_WAIT_S
        while True:
            attempted()
            try:
                await self.attempt(body)
            except _AgainError as again:
                self.refusals[str(again)] += 1
                if again.wait_s is None and str(again).startswith("HTTP "):
                    self.undated += 1
                told_s = again.wait_s or 0.0
            else:
                return
            await asyncio.sleep(max(told_s, wait_s * self.rng.uniform(0.5, 1.5)))
            wait_s = min(wait_s * 2, _LONGEST_WAIT_S)


def over_grpc(port: int, rng: random.Random, *, compressed: bool) -> Sender:
    """A sender over gRPC."""
    options = [
        ("grpc.max_send_message_length", -1),
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.min_reconnect_backoff_ms", 100),
        ("grpc.max_reconnect_backoff_ms", 500),
        ("grpc.use_local_subchannel_pool", 1),
        ("grpc.enable_retries", 0),
    ]
    channel = grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=options)
    export = channel.unary_unary(TRACES)
    compression = grpc.Compression.Gzip if compressed else None

    async def attempt(body: bytes) -> None:
        try:
            await export(body, timeout=_PATIENCE_S, compression=compression)
        except grpc.aio.AioRpcError as error:
            wait_s = _retry_info_s(error)
            if error.code() in _RETRYABLE or (error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED and wait_s):
                raise _AgainError(error.code().name, wait_s) from None
            raise RefusedForGoodError(f"{error.code().name}: {error.details()}") from None

    return Sender(attempt, channel.close, rng)


def _retry_info_s(error: grpc.aio.AioRpcError) -> float | None:
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            for detail in Status.FromString(value).details:
                info = RetryInfo()
                if detail.Unpack(info):
                    return float(info.retry_delay.ToTimedelta().total_seconds())
    return None


def over_http(port: int, rng: random.Random, *, compressed: bool) -> Sender:
    """A sender over HTTP."""
    client = httpx2.AsyncClient(trust_env=False, timeout=_PATIENCE_S)
    headers = {"content-type": "application/x-protobuf"} | ({"content-encoding": "gzip"} if compressed else {})

    async def attempt(body: bytes) -> None:
        content = gzip.compress(body, 1) if compressed else body
        try:
            answer = await client.post(f"http://127.0.0.1:{port}/v1/traces", content=content, headers=headers)
        except (httpx2.TransportError, httpx2.TimeoutException):
            raise _AgainError("no connection", None) from None
        if answer.status_code in _RETRYABLE_HTTP:
            told = answer.headers.get("retry-after")
            raise _AgainError(f"HTTP {answer.status_code}", float(told) if told else None)
        if answer.status_code != 200:
            raise RefusedForGoodError(f"HTTP {answer.status_code}")

    return Sender(attempt, client.aclose, rng)
