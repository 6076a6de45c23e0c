"""Tells whether settings say something else than before, also when only the content of a file that they name changed.

In: a settings model.  Out: a digest, in which secrets and files are present but can't be read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import BaseModel, SecretStr

# Certificates and keys are replaced in place when they are renewed.
_READ = frozenset({"ca_file", "cert_file", "client_ca_file", "key_file"})


def fingerprint(settings: BaseModel) -> str:
    """The digest of settings, with those of their files."""
    digest = hashlib.blake2b(digest_size=16)
    for part in _parts("", settings):
        digest.update(part.encode("utf-8", "surrogateescape") + b"\0")
    return digest.hexdigest()


def _parts(name: str, value: object) -> Iterator[str]:
    match value:
        case BaseModel():
            yield type(value).__name__
            for field in type(value).model_fields:
                yield field
                yield from _parts(field, getattr(value, field))
        case SecretStr():
            yield value.get_secret_value()
        case Path():
            yield str(value)
            if name in _READ:
                yield _content_of(value)
        case Mapping():
            for key, item in value.items():
                yield repr(key)
                yield from _parts(name, item)
        case list() | tuple():
            for item in value:
                yield "-"
                yield from _parts(name, item)
        case _:
            yield repr(value)


def _content_of(path: Path) -> str:
    try:
        return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()
    except OSError:
        return "unreadable"
