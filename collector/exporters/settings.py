"""Settings that exporters share: the Collector's keys, with the defaults that lose nothing."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field, model_validator

from collector.config.settings import ComponentSettings, Duration, PositiveDuration

MIB = 1 << 20
DEFAULT_QUEUE_BYTES = 256 * MIB

Scores = Literal["attributes", "evaluation_spans", "both", "none"]
Sizer = Literal["requests", "items", "bytes"]
OnFull = Literal["refuse", "dead_letter"]


class RetrySettings(ComponentSettings):
    """Waiting between attempts: grows from `initial_interval` to `max_interval`, with some chance in it."""

    enabled: bool = Field(
        default=True, description="Whether to try again. Without, what fails once goes to the dead-letter file."
    )
    initial_interval: PositiveDuration = Field(
        default=1.0, description="Wait after the first failure; shorter than in the Collector, the next hop being near."
    )
    multiplier: float = Field(default=1.5, ge=1.0, description="Growth of the wait from attempt to attempt.")
    randomization_factor: float = Field(
        default=0.5, ge=0.0, le=1.0, description="Share of the wait that is left to chance."
    )
    max_interval: PositiveDuration = Field(default=30.0, description="Longest wait.")
    max_elapsed_time: Duration = Field(
        default=0.0, description="When to give up and write to the dead-letter file; 0s: never."
    )


class BatchSettings(ComponentSettings):
    """How much goes into one request, in bytes of the uncompressed request."""

    flush_timeout: Duration = Field(default=0.2, description="Longest wait for a request to fill up to `min_size`.")
    min_size: int = Field(default=MIB, ge=1, description="A request of this many bytes is sent without waiting.")
    max_size: int = Field(default=3_670_016, ge=1, description="No request is made larger than this many bytes.")
    sizer: Literal["bytes"] = Field(
        default="bytes",
        description="Agent spans differ a thousandfold in size, so only bytes say how big a request is.",
    )

    @model_validator(mode="after")
    def _ordered(self) -> BatchSettings:
        if self.max_size < self.min_size:
            raise ValueError("max_size is smaller than min_size; make it at least as large")
        return self


class QueueSettings(ComponentSettings):
    """What waits for a destination. A full queue makes receivers ask their senders to wait; nothing is dropped."""

    refused_keys: ClassVar[Mapping[str, str]] = {
        "storage": "the journal is the queue; see extensions::journal",
        "enabled": "every exporter has its queue, or a slow one would delay the others; take this key out",
        "block_on_overflow": "a full queue is answered with a retryable refusal at the receiver; take this key out",
        "wait_for_result": "senders are answered when a request is kept, not when it is delivered; take this key out",
    }

    num_consumers: int = Field(default=10, ge=1, le=100, description="How many requests may be under way at once.")
    queue_size: int | None = Field(
        default=None, ge=1, description="How much may wait, counted as `sizer` says; 256 MiB by default."
    )
    sizer: Sizer | None = Field(
        default=None,
        description="What `queue_size` counts: `bytes`, `items` (spans, log records, data points) or `requests` "
        "(hand-overs from the pipeline). `bytes` by default; `requests`, as in the Collector, "
        "if only `queue_size` is given.",
    )
    on_full: OnFull = Field(
        default="refuse",
        description="What happens when the queue is full, or the journal is because of this destination: receivers ask "
        "senders to wait (`refuse`), or what has waited longest goes to the dead-letter file (`dead_letter`), so that "
        "this destination never keeps the others waiting.",
    )
    batch: BatchSettings = Field(default=BatchSettings(), description="How requests are put together.")

    @model_validator(mode="after")
    def _size_with_sizer(self) -> QueueSettings:
        if self.sizer is not None and self.queue_size is None:
            raise ValueError("sizer is given without queue_size; give both or none")
        return self

    @property
    def capacity(self) -> tuple[Sizer, int]:
        """The unit of the limit and the limit."""
        if self.queue_size is None:
            return "bytes", DEFAULT_QUEUE_BYTES
        return self.sizer or "requests", self.queue_size


class TlsSettings(ComponentSettings):
    """TLS towards a destination."""

    refused_keys: ClassVar[Mapping[str, str]] = {
        "ca_pem": "put the certificate into a file and give ca_file",
        "cert_pem": "put the certificate into a file and give cert_file",
        "key_pem": "put the key into a file and give key_file",
        "min_version": "TLS 1.2 is the lowest version that is spoken; take this key out",
        "max_version": "the highest version that both sides speak is used; take this key out",
        "cipher_suites": "the suites of the TLS library are used; take this key out",
        "reload_interval": "certificates are read again every five minutes; take this key out",
        "include_system_ca_certs_pool": "the system's certificates are used when ca_file is not given",
        "tpm": "keys in a TPM can't be used; give key_file",
    }

    insecure: bool = Field(default=False, description="Plain text, no TLS (gRPC; for HTTP the URL's scheme decides).")
    insecure_skip_verify: bool = Field(default=False, description="Don't verify the server's certificate (HTTP only).")
    ca_file: Path | None = Field(default=None, description="Certificates to trust instead of the system's.")
    cert_file: Path | None = Field(default=None, description="Client certificate.")
    key_file: Path | None = Field(default=None, description="Key of the client certificate.")
    server_name_override: str | None = Field(default=None, description="Name the server's certificate must have.")

    @model_validator(mode="after")
    def _usable(self) -> TlsSettings:
        if (self.cert_file is None) != (self.key_file is None):
            raise ValueError("cert_file and key_file belong together; give both or none")
        for name in ("ca_file", "cert_file", "key_file"):
            path: Path | None = getattr(self, name)
            if path is not None and not path.is_file():
                raise ValueError(f"{name}: there is no file {path}; correct the path")
        if self.ca_file or self.cert_file:
            self.context()
        return self

    def context(self) -> ssl.SSLContext:
        """What Python's TLS needs of it.

        Raises:
            ValueError: a file doesn't hold what it should.
        """
        try:
            context = ssl.create_default_context(cafile=str(self.ca_file) if self.ca_file else None)
        except OSError as error:
            raise ValueError(f"ca_file: {self.ca_file} holds no certificates in PEM form ({error.strerror})") from None
        if self.cert_file:
            try:
                # Without a password of ours the library would ask for one on the terminal.
                context.load_cert_chain(str(self.cert_file), str(self.key_file), password="")
            except OSError as error:
                reason = f"({error.strerror})"
                raise ValueError(
                    f"cert_file and key_file: not a certificate and its unencrypted key in PEM form {reason}"
                ) from None
        if self.insecure_skip_verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context


class ExporterSettings(ComponentSettings):
    """What every exporter can be told."""

    scores: Scores = Field(
        default="attributes",
        description="How scores leave: on the judged span, on evaluation spans of their own, both, or not at all. "
        "With `evaluation_spans` and `none` no span waits for its verdict.",
    )


class QueuedExporterSettings(ExporterSettings):
    """What exporters to a backend can be told."""

    retry_on_failure: RetrySettings = Field(default=RetrySettings(), description="What to do when an attempt fails.")
    sending_queue: QueueSettings = Field(default=QueueSettings(), description="The queue before the destination.")
    dead_letter_file: Path | None = Field(
        default=None,
        description="Where spans go that the destination can never take, one JSON object a line; by default "
        "`spanjudge-dead-letters-<exporter>.jsonl` in the working directory.",
    )
    dead_letter_max_size_mib: int = Field(
        default=1024,
        ge=1,
        description="Size of that file at which nothing more is written to it; what should go there is kept in the "
        "queue, until `spanjudge dead-letters` has made room.",
    )
