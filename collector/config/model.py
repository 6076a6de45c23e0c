"""The configuration as the service uses it: typed, checked, frozen, and only what is active."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from pydantic import BaseModel

from collector.config.problems import Path, Problem, place_of
from collector.config.registry import ComponentType, Kind
from collector.config.telemetry_settings import TelemetrySettings
from collector.records import Signal

SettingsT = TypeVar("SettingsT", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Component:
    """A configured component. `id` is as written, `type[/name]`; `settings` is an instance of its type's model."""

    id: str
    component_type: ComponentType
    settings: BaseModel

    @property
    def name(self) -> str:
        """What it is known by: its own name where its type wants one, else its type."""
        return self.component_type.name if self.component_type.check_name is None else self.id.partition("/")[2]

    def settings_as(self, model: type[SettingsT]) -> SettingsT:
        """Its settings as an instance of `model`. Raises TypeError when they are of another model."""
        if not isinstance(self.settings, model):
            raise TypeError(f"the settings of {self.id} are {type(self.settings).__name__}, not {model.__name__}")
        return self.settings


@dataclass(frozen=True, slots=True)
class Pipeline:
    """One pipeline: the ids of its components, in order."""

    id: str
    signal: Signal
    receivers: tuple[str, ...]
    processors: tuple[str, ...]
    exporters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Config:
    """A valid configuration.

    The four maps hold by id the components that a pipeline, or `service::extensions`, names.  `notes` are sentences
    for the operator: nothing is wrong, but it may not be what was meant.  `places` say where everything was written.
    """

    receivers: Mapping[str, Component]
    processors: Mapping[str, Component]
    exporters: Mapping[str, Component]
    extensions: Mapping[str, Component]
    pipelines: Mapping[Signal, Pipeline]
    telemetry: TelemetrySettings
    notes: tuple[str, ...] = ()
    places: Mapping[Path, str] = field(default_factory=dict)

    def problem(self, path: Path, what: str, remedy: str) -> Problem:
        """Something wrong at a path of the configuration, with its place."""
        return Problem(path, what, remedy, place_of(self.places, path))

    def section(self, kind: Kind) -> Mapping[str, Component]:
        """The active components of a kind."""
        sections = {
            Kind.RECEIVER: self.receivers,
            Kind.PROCESSOR: self.processors,
            Kind.EXPORTER: self.exporters,
            Kind.EXTENSION: self.extensions,
        }
        return sections[kind]

    def extension(self, type_name: str) -> Component | None:
        """The active extension of a type of which there can be only one."""
        return _of_type(type_name, self.extensions)

    def processor(self, type_name: str) -> Component | None:
        """The active processor of a type of which there can be only one."""
        return _of_type(type_name, self.processors)


def _of_type(type_name: str, components: Mapping[str, Component]) -> Component | None:
    return next((found for found in components.values() if found.component_type.name == type_name), None)
