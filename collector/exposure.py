"""Receivers that anyone on the network may reach, and what that risks.

In: a checked configuration.  Out: one sentence for the operator per address.  Listening on all interfaces is usual in
containers and is never refused; whoever runs the sidecar decides, and has to know.
"""

from __future__ import annotations

from collections.abc import Iterator

from collector.config import Config
from collector.config.addresses import is_loopback
from collector.config.settings import split_host_port
from collector.receivers import otlp_settings


def exposures(config: Config) -> Iterator[str]:
    """What is risked at each address that isn't on loopback and lacks TLS, or a check of who sends."""
    for name, component in config.receivers.items():
        protocols = component.settings_as(otlp_settings.Settings).protocols
        for protocol, settings in (("grpc", protocols.grpc), ("http", protocols.http)):
            if settings is None or settings.transport == "unix":
                continue
            if is_loopback(split_host_port(settings.endpoint)[0]):
                continue
            risks, remedies = [], []
            if settings.tls is None:
                risks.append("what is sent, a token included, can be read on the way")
                remedies.append("tls")
            if settings.auth is None and (settings.tls is None or settings.tls.client_ca_file is None):
                risks.append("whoever reaches it can send")
                remedies.append("auth")
            if risks:
                where = f"receivers::{name}::protocols::{protocol}"
                yield (
                    f"{where} listens on {settings.endpoint}, beyond this machine: {', and '.join(risks)}; "
                    f"set {' and '.join(f'{where}::{key}' for key in remedies)}, or listen on 127.0.0.1"
                )
