"""`Config` → YAML text with every default filled in and every secret hidden."""

from __future__ import annotations

import re

import yaml

from collector.config.model import Config
from collector.config.registry import Kind

# Credentials in the user part of a URL are secrets wherever they stand.
_USER_INFO = re.compile(r"(?<=://)[^/@\s]+(?=@)")
HIDDEN = "**********"


def render_config(config: Config) -> str:
    """The active configuration as YAML that can be read back, apart from the secrets."""
    document: dict[str, object] = {}
    for kind in Kind:
        components = {
            name: _hide(component.settings.model_dump(mode="json")) for name, component in config.section(kind).items()
        }
        if components:
            document[kind.value] = components
    document["service"] = {
        "extensions": list(config.extensions),
        "pipelines": {
            pipeline.id: {
                "receivers": list(pipeline.receivers),
                "processors": list(pipeline.processors),
                "exporters": list(pipeline.exporters),
            }
            for pipeline in config.pipelines.values()
        },
        "telemetry": _hide(config.telemetry.model_dump(mode="json")),
    }
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=120)


def _hide(value: object) -> object:
    if isinstance(value, str):
        return _USER_INFO.sub(HIDDEN, value)
    if isinstance(value, dict):
        return {key: _hide(child) for key, child in value.items()}
    if isinstance(value, list):
        return [_hide(child) for child in value]
    return value
