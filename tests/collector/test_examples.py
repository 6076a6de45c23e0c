"""The example configurations can be used as they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from collector.cli import app
from examples.picture import TARGET, picture

EXAMPLES = sorted(Path("examples").glob("otel-config.*.yaml"))
PORTS = {"DEMO_GRPC_PORT": "4317", "DEMO_HTTP_PORT": "4318", "DEMO_HEALTH_PORT": "13133"}


@pytest.mark.parametrize("path", [*EXAMPLES, Path("otel-config.yaml")], ids=lambda path: path.name)
def test_an_example_is_valid(path: Path) -> None:
    result = CliRunner().invoke(app, ["validate", "--config", str(path)], env=PORTS)
    assert result.exit_code == 0, result.output


def test_the_picture_shows_the_demo_as_it_is_judged_now() -> None:
    drawn = TARGET.read_text(encoding="utf-8") == picture()
    assert drawn, "draw it anew: .venv/bin/python examples/picture.py"


def test_every_example_is_told_of_in_the_docs() -> None:
    docs = Path("docs/quickstart.md").read_text()
    assert len(EXAMPLES) == 4
    assert all(path.name in docs for path in EXAMPLES if path.name != "otel-config.demo.yaml")
