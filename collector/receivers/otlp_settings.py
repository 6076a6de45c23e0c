"""Settings of the `otlp` receiver: the Collector's keys, with the limits that the specification recommends."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field, SecretStr, StringConstraints, ValidationInfo, field_validator, model_validator

from collector.config.settings import ComponentSettings, PositiveDuration, split_host_port

_MAX_MIB = 1024
_MAX_SOCKET_PATH_BYTES = 107  # what fits into the system's address of a socket, less the end mark


class TlsSettings(ComponentSettings):
    """TLS towards senders."""

    refused_keys: ClassVar[Mapping[str, str]] = {
        "cert_pem": "put the certificate into a file and give cert_file",
        "key_pem": "put the key into a file and give key_file",
        "ca_file": "it is for clients; certificates of senders are checked against client_ca_file",
        "min_version": "TLS 1.2 is the lowest version that is spoken; take this key out",
        "max_version": "the highest version that both sides speak is used; take this key out",
        "cipher_suites": "the suites of the TLS library are used; take this key out",
        "reload_interval": "they are read at start and by every reload (SIGHUP); take this key out",
        "client_ca_file_reload": "they are read at start and by every reload (SIGHUP); take this key out",
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


class CorsSettings(ComponentSettings):
    """Which pages browsers may send from."""

    allowed_origins: list[Annotated[str, StringConstraints(min_length=1)]] = Field(
        min_length=1,
        description="Origins such as `https://app.example.com`; a `*` in one stands for anything, once.",
    )
    allowed_headers: list[str] = Field(
        default_factory=list,
        description="Headers that pages may send besides `Accept`, `Content-Type`, `Content-Encoding` and "
        "`X-Requested-With`, such as `Authorization`; `*` for any.",
    )
    exposed_headers: list[str] = Field(
        default_factory=lambda: ["Retry-After"], description="Headers of answers that pages may read."
    )
    max_age: int = Field(
        default=0,
        ge=0,
        le=86_400,
        description="How many seconds browsers may remember what is allowed; 0 leaves it to them.",
    )

    @field_validator("allowed_origins")
    @classmethod
    def _one_wildcard(cls, origins: list[str]) -> list[str]:
        for origin in origins:
            if origin.count("*") > 1:
                raise ValueError(f"{origin!r} has more than one *; name the origins one by one")
            if origin != "*" and "://" not in origin:
                raise ValueError(f"{origin!r} has no scheme; write it as browsers do, such as https://{origin}")
        return origins

    @field_validator("allowed_headers", "exposed_headers")
    @classmethod
    def _names(cls, names: list[str]) -> list[str]:
        for name in names:
            if name != "*" and not (name.isascii() and name.replace("-", "").replace("_", "").isalnum()):
                raise ValueError(f"{name!r} can't be the name of a header")
        return names


class ServerSettings(ComponentSettings):
    """What both protocols can be told."""

    transport: Literal["tcp", "unix"] = Field(
        default="tcp", description="`unix` listens on a socket in the file system, whose path is then the endpoint."
    )
    socket_mode: Annotated[str, StringConstraints(pattern="^0?[0-7]{3}$")] = Field(
        default="0660", description="Permissions of a unix socket, in quotes; whoever may write to it can send."
    )
    tls: TlsSettings | None = Field(default=None, description="TLS; plain text without.")
    auth: AuthSettings | None = Field(default=None, description="A token that senders need.")

    @field_validator("endpoint", check_fields=False)
    @classmethod
    def _address(cls, endpoint: str, info: ValidationInfo) -> str:
        if info.data.get("transport") != "unix":
            split_host_port(endpoint)
        elif "/" not in endpoint or "\0" in endpoint or endpoint.endswith("/"):
            raise ValueError(f"{endpoint!r} is no path of a socket; write one such as /run/spanjudge/otlp.sock")
        elif len(endpoint.encode("utf-8", "surrogateescape")) > _MAX_SOCKET_PATH_BYTES:
            raise ValueError(f"paths of sockets have at most {_MAX_SOCKET_PATH_BYTES} bytes; choose a shorter one")
        return endpoint


class KeepaliveParameters(ComponentSettings):
    """Ends of connections."""

    max_connection_idle: PositiveDuration | None = Field(
        default=None, description="Connections without a call for so long are ended in good order; never without."
    )
    max_connection_age: PositiveDuration | None = Field(
        default=None,
        description="Connections of this age are ended in good order, so that senders behind a balancer of connections "
        "spread anew; never without.",
    )
    max_connection_age_grace: PositiveDuration | None = Field(
        default=None, description="How long calls on such a connection may still take; until they are done without."
    )
    time: PositiveDuration = Field(
        default=60.0, description="Connections that are silent for so long are pinged: is the sender still there?"
    )
    timeout: PositiveDuration = Field(default=20.0, description="Connections on which no ping is answered are closed.")


class KeepaliveSettings(ComponentSettings):
    """Connections that grow old, and senders that vanished."""

    refused_keys: ClassVar[Mapping[str, str]] = {
        "enforcement_policy": "senders may ping as often as they like; take this key out"
    }

    server_parameters: KeepaliveParameters = Field(
        default_factory=KeepaliveParameters, description="When connections are ended."
    )


class GrpcSettings(ServerSettings):
    """OTLP/gRPC."""

    refused_keys: ClassVar[Mapping[str, str]] = {
        "max_concurrent_streams": "load is bounded in bytes (processors::assemble::limit_mib); take this key out",
        "read_buffer_size": "the gRPC library chooses its buffers; take this key out",
        "write_buffer_size": "the gRPC library chooses its buffers; take this key out",
        "include_metadata": "what has to travel with the telemetry always does; take this key out",
        "middlewares": "there are none; take this key out",
    }

    endpoint: str = Field(
        default="127.0.0.1:4317",
        validate_default=True,
        description="Address to listen on, or the path of a unix socket.",
    )
    max_recv_msg_size_mib: int = Field(
        default=64, ge=1, le=_MAX_MIB, description="Largest request, after decompression, in MiB."
    )
    keepalive: KeepaliveSettings = Field(default_factory=KeepaliveSettings, description="When connections are ended.")


class HttpSettings(ServerSettings):
    """OTLP/HTTP, protobuf and JSON."""

    refused_keys: ClassVar[Mapping[str, str]] = {
        "max_request_body_size": "sizes are in MiB; give max_request_body_size_mib",
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

    endpoint: str = Field(
        default="127.0.0.1:4318",
        validate_default=True,
        description="Address to listen on, or the path of a unix socket.",
    )
    max_request_body_size_mib: int = Field(
        default=64, ge=1, le=_MAX_MIB, description="Largest request body, as sent and after decompression, in MiB."
    )
    cors: CorsSettings | None = Field(
        default=None, description="Lets browsers send; without, pages of other origins can't."
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
