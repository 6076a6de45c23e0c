"""The package that brings evaluators along, installed once for all tests."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.evaluators.own.package import install


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(tmp_path_factory.mktemp("package"))


@pytest.fixture
def installed(site: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The package can be imported in this process."""
    monkeypatch.syspath_prepend(str(site))
    yield site
    for name in ("acme_evals", "acme_evals_broken"):
        sys.modules.pop(name, None)
