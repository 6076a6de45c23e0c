"""The configuration reference is what the settings models say."""

from __future__ import annotations

from pathlib import Path

from collector.components import component_registry
from collector.config_reference import reference

PAGE = Path(__file__).parents[2] / "docs" / "configuration.md"


def test_the_committed_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == reference(component_registry()), (
        "settings have changed: python -m collector.config_reference > docs/configuration.md"
    )
