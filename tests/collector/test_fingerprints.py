"""Settings are told apart by what they say, their secrets and the content of certificates included."""

from __future__ import annotations

from pathlib import Path

from collector.exporters.settings import TlsSettings
from collector.fingerprints import fingerprint
from collector.receivers.otlp_settings import HttpSettings


def test_equal_settings_are_equal_and_others_are_not() -> None:
    one = HttpSettings(endpoint="127.0.0.1:1")
    assert fingerprint(one) == fingerprint(HttpSettings(endpoint="127.0.0.1:1"))
    assert fingerprint(one) != fingerprint(HttpSettings(endpoint="127.0.0.1:2"))


def test_a_secret_tells_settings_apart_and_cannot_be_read() -> None:
    tokens = [HttpSettings.model_validate({"auth": {"bearer_token": token}}) for token in ("a-secret", "another")]
    prints = [fingerprint(one) for one in tokens]
    assert prints[0] != prints[1]
    assert not any("secret" in one for one in prints)


def test_a_certificate_that_was_replaced_in_place_is_another(tmp_path: Path) -> None:
    file = tmp_path / "ca.pem"
    data = Path("tests/data/tls")
    file.write_bytes((data / "localhost.pem").read_bytes())
    settings = TlsSettings(ca_file=file)
    before = fingerprint(settings)
    assert fingerprint(settings) == before
    file.write_bytes((data / "ca.pem").read_bytes())
    assert fingerprint(settings) != before
