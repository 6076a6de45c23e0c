"""otel-config.yaml → typed settings, in the conventions of the OpenTelemetry Collector.

In: sources, `--set` settings and the registry of component types.  Out: a frozen `Config`, or a `ConfigError` that
lists every problem with its key path, what is wrong and what to do.  Never starts anything and never shows a secret.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from collector.config.build import build_config
from collector.config.expansion import Expander
from collector.config.model import Component, Config, Pipeline
from collector.config.problems import ConfigError, Problem
from collector.config.registry import ComponentRegistry, ComponentType, Kind
from collector.config.sources import read_sources

__all__ = [
    "Component",
    "ComponentRegistry",
    "ComponentType",
    "Config",
    "ConfigError",
    "Kind",
    "Pipeline",
    "Problem",
    "load",
]


def load(
    sources: Sequence[str],
    sets: Sequence[str],
    registry: ComponentRegistry,
    environment: Mapping[str, str] | None = None,
) -> Config:
    """Read, merge, expand and check a configuration.

    Args:
        sources: paths, `file:`, `env:` or `yaml:` URIs; later ones win.
        sets: `key.path=value` settings that win over all sources.
        registry: the component types there are.
        environment: environment variables; those of the process by default.

    Raises:
        ConfigError: with every problem found.
    """
    variables = os.environ if environment is None else environment
    document = read_sources(sources, sets, variables)
    expander = Expander(variables, document.places)
    expanded = expander.expand(document.value)
    if expander.problems:
        raise ConfigError(expander.problems, expander.notes)
    try:
        return build_config(expanded, registry, document.places, expander.notes)
    except ConfigError as error:
        raise ConfigError(error.problems, expander.notes) from None
