"""The otlp receiver's settings: the Collector's keys, and reasons where a key can't hold here."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from collector.receivers.otlp_settings import Settings


def test_a_protocol_that_is_named_is_on_with_its_defaults() -> None:
    settings = Settings.model_validate({"protocols": {"grpc": None, "http": {}}})
    assert settings.protocols.grpc is not None
    assert settings.protocols.http is not None
    assert settings.protocols.grpc.endpoint == "127.0.0.1:4317"
    assert settings.protocols.grpc.max_recv_msg_size_mib == 64
    assert settings.protocols.http.endpoint == "127.0.0.1:4318"
    assert settings.protocols.http.max_request_body_size_mib == 64


def test_a_protocol_that_is_not_named_is_off() -> None:
    assert Settings.model_validate({"protocols": {"http": {}}}).protocols.grpc is None


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"protocols": {}}, "no protocol is named"),
        ({}, "Field required"),
        ({"protocols": {"grpc": {"endpoint": "localhost"}}}, "has no port"),
        ({"protocols": {"grpc": {"max_recv_msg_size_mib": 0}}}, "greater than or equal to 1"),
        ({"protocols": {"grpc": {"unknown": 1}}}, "Extra inputs are not permitted"),
        ({"protocols": {"http": {"auth": {"bearer_token": ""}}}}, "at least 1"),
        ({"protocols": {"http": {"tls": {"cert_file": "/none/cert.pem", "key_file": "/none/key.pem"}}}}, "no file"),
        ({"protocols": {"thrift": {}}}, "Extra inputs are not permitted"),
        ({"protocols": {"grpc": {"transport": "udp"}}}, "Input should be 'tcp' or 'unix'"),
        ({"protocols": {"grpc": {"transport": "unix"}}}, "is no path of a socket"),
        ({"protocols": {"http": {"transport": "unix", "endpoint": "/run/"}}}, "is no path of a socket"),
        ({"protocols": {"http": {"transport": "unix", "endpoint": "/" + 107 * "x"}}}, "at most 107 bytes"),
        ({"protocols": {"http": {"endpoint": "/run/otlp.sock"}}}, "has no port"),
        ({"protocols": {"grpc": {"socket_mode": "rw"}}}, "String should match pattern"),
        ({"protocols": {"grpc": {"keepalive": {"server_parameters": {"time": "0s"}}}}}, "longer than 0s"),
    ],
)
def test_what_cannot_work_is_refused(settings: dict[str, object], complaint: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Settings.model_validate(settings)
    assert complaint in str(caught.value)


def test_a_unix_socket_has_a_path_for_an_endpoint() -> None:
    unix = {"transport": "unix", "endpoint": "/run/spanjudge/otlp.sock"}
    settings = Settings.model_validate({"protocols": {"grpc": unix, "http": {**unix, "socket_mode": "666"}}})
    assert settings.protocols.grpc is not None
    assert settings.protocols.http is not None
    assert settings.protocols.grpc.endpoint == "/run/spanjudge/otlp.sock"
    assert (settings.protocols.grpc.socket_mode, settings.protocols.http.socket_mode) == ("0660", "666")


def test_the_token_is_not_shown() -> None:
    settings = Settings.model_validate({"protocols": {"http": {"auth": {"bearer_token": "s3cret"}}}})
    assert "s3cret" not in repr(settings)


def test_a_missing_certificate_is_named(tmp_path: Path) -> None:
    present = tmp_path / "cert.pem"
    present.write_text("")
    tls = {"cert_file": str(present), "key_file": str(tmp_path / "gone.pem")}
    with pytest.raises(ValidationError, match=r"key_file: there is no file .*gone\.pem"):
        Settings.model_validate({"protocols": {"grpc": {"tls": tls}}})
