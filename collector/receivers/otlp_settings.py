"""Settings of the `otlp` receiver: the Collector's keys, with the limits that the specification recommends."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from pydantic import Field, SecretStr, model_validator

from collector.config.settings import ComponentSettings, HostPort

_MAX_MIB = 1024


class TlsSettings(ComponentSettings):
    """TLS towards senders."""

    refused_keys: ClassVar[Mapping[str, str]] = {
        "cert_pem": "put the certificate into a file and give cert_file",
        "key_pem": "put the key into a file and give key_file",
        "ca_file": "it is for clients; certificates of senders are checked against client_ca_file",
        "min_version": "TLS 1.2 is the lowest version that is spoken; take this key out",
        "max_version": "the highest version that both sides speak is used; take this key out",
        "cipher_suites": "the suites of the TLS library are used; take this key out",
        "reload_interval": "certificates are read at start; restart to read them again",
        "client_ca_file_reload": "certificates are read at start; restart to read them again",
    }

    cert_file: Path = Field(description="The server's certificate, followed by those between it and the root.")
    key_file: Path = Field(description="Key of the certificate.")
    client_ca_file: Path | None = Field(
        default=None, description="If given, senders need a certificate that one of these has signed."
    )

    @model_validator(mode="after")
    def _files_exist(self) -> TlsSettings:
        for name in ("cert_file", "key_file", "client_ca_file"):
            path: Path | None = getattr(self, name)
            if path is not None and not path.is_file():
                raise ValueError(f"{name}: there is no file {path}; correct the path")
        return self


class AuthSettings(ComponentSettings):
    """Who may send."""

    refused_keys: ClassVar[Mapping[str, str]] = {
        "authenticator": "there are no authenticator extensions; give the token itself under bearer_token"
    }

    bearer_token: SecretStr = Field(
        min_length=1, description="Senders have to present it as `Authorization: Bearer <token>`."
    )


class ServerSettings(ComponentSettings):
    """What both protocols can be told."""

    tls: TlsSettings | None = Field(default=None, description="TLS; plain text without.")
    auth: AuthSettings | None = Field(default=None, description="A token that senders need.")


class GrpcSettings(ServerSettings):
    """OTLP/gRPC."""

    refused_keys: ClassVar[Mapping[str, str]] = {
        "transport": "only TCP is listened on; take this key out",
        "max_concurrent_streams": "load is bounded in bytes (processors::assemble::limit_mib); take this key out",
        "read_buffer_size": "the gRPC library chooses its buffers; take this key out",
        "write_buffer_size": "the gRPC library chooses its buffers; take this key out",
        "keepalive": "pings of senders are always permitted; take this key out",
        "include_metadata": "what has to travel with the telemetry always does; take this key out",
        "middlewares": "there are none; take this key out",
    }

    endpoint: HostPort = Field(default="127.0.0.1:4317", description="Address to listen on.")
    max_recv_msg_size_mib: int = Field(
        default=64, ge=1, le=_MAX_MIB, description="Largest request, after decompression, in MiB."
    )


class HttpSettings(ServerSettings):
    """OTLP/HTTP, protobuf and JSON."""

    refused_keys: ClassVar[Mapping[str, str]] = {
        "transport": "only TCP is listened on; take this key out",
        "max_request_body_size": "sizes are in MiB; give max_request_body_size_mib",
        "cors": "browsers aren't served; send through a Collector",
        "traces_url_path": "traces are taken at /v1/traces; take this key out",
        "metrics_url_path": "metrics are taken at /v1/metrics; take this key out",
        "logs_url_path": "logs are taken at /v1/logs; take this key out",
        "compression_algorithms": "all that are known are taken; take this key out",
        "include_metadata": "what has to travel with the telemetry always does; take this key out",
        "response_headers": "there are none to add; take this key out",
        "read_timeout": "requests that come too slowly are always ended; take this key out",
        "read_header_timeout": "requests that come too slowly are always ended; take this key out",
        "write_timeout": "answers are short; take this key out",
        "idle_timeout": "idle connections are kept for two minutes; take this key out",
        "keep_alives_enabled": "connections are always kept alive; take this key out",
        "middlewares": "there are none; take this key out",
    }

    endpoint: HostPort = Field(default="127.0.0.1:4318", description="Address to listen on.")
    max_request_body_size_mib: int = Field(
        default=64, ge=1, le=_MAX_MIB, description="Largest request body, as sent and after decompression, in MiB."
    )


class ProtocolSettings(ComponentSettings):
    """The protocols that are listened for; one that isn't named is off, one without settings has the defaults."""

    grpc: GrpcSettings | None = Field(default=None, description="OTLP/gRPC.")
    http: HttpSettings | None = Field(default=None, description="OTLP/HTTP.")

    @model_validator(mode="before")
    @classmethod
    def _named_is_on(cls, value: object) -> object:
        if isinstance(value, dict):
            return {key: {} if key in ("grpc", "http") and item is None else item for key, item in value.items()}
        return value

    @model_validator(mode="after")
    def _any(self) -> ProtocolSettings:
        if self.grpc is None and self.http is None:
            raise ValueError("no protocol is named; name grpc, http or both")
        return self


class Settings(ComponentSettings):
    """The `otlp` receiver."""

    protocols: ProtocolSettings = Field(description="What to listen for.")
