"""Addresses beyond this machine are told with what they risk; what is safe is passed over."""

from __future__ import annotations

from pathlib import Path

import pytest

from collector.components import load_config
from collector.exposure import exposures

TLS = Path(__file__).parents[1] / "data" / "tls"
CERTIFICATE = f"cert_file: {TLS / 'server.pem'}, key_file: {TLS / 'server.key'}"
READ = "what is sent, a token included, can be read on the way"
SEND = "whoever reaches it can send"


def found(settings: str, protocol: str = "grpc") -> list[str]:
    sources = [
        f"yaml:receivers: {{otlp: {{protocols: {{{protocol}: {{{settings}}}}}}}}}",
        "yaml:service: {pipelines: {traces: {receivers: [otlp]}}}",
    ]
    return list(exposures(load_config(sources, [], {})))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "localhost", "LOCALHOST", "[::1]", "[::ffff:127.0.0.1]"])
def test_loopback_is_safe(host: str) -> None:
    assert found(f"endpoint: '{host}:4317'") == []


@pytest.mark.parametrize("host", ["", "0.0.0.0", "[::]", "10.1.2.3", "agents.internal", "127.0.0.1.example.com"])
@pytest.mark.parametrize("protocol", ["grpc", "http"])
def test_plain_text_for_everyone_is_told_with_both_risks(host: str, protocol: str) -> None:
    where = f"receivers::otlp::protocols::{protocol}"
    assert found(f"endpoint: '{host}:4317'", protocol) == [
        f"{where} listens on {host}:4317, beyond this machine: {READ}, and {SEND}; "
        f"set {where}::tls and {where}::auth, or listen on 127.0.0.1"
    ]


def test_a_unix_socket_is_on_this_machine() -> None:
    assert found("transport: unix, endpoint: /run/otlp.sock") == []


@pytest.mark.parametrize(
    ("protection", "risks"),
    [
        ("auth: {bearer_token: secret}", [READ]),
        (f"tls: {{{CERTIFICATE}}}", [SEND]),
        (f"tls: {{{CERTIFICATE}}}, auth: {{bearer_token: secret}}", []),
        (f"tls: {{{CERTIFICATE}, client_ca_file: {TLS / 'ca.pem'}}}", []),
    ],
)
def test_only_what_is_missing_is_told(protection: str, risks: list[str]) -> None:
    lines = found(f"endpoint: '0.0.0.0:4317', {protection}")
    assert [risk for risk in (READ, SEND) if any(risk in line for line in lines)] == risks
    assert not any("secret" in line for line in lines)
