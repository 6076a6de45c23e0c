"""The merged and expanded document → `Config`: components, pipelines, and whether they fit together."""

from __future__ import annotations

import re
from collections.abc import Mapping

from collector.config.addresses import Address, collisions, find_addresses
from collector.config.expansion import Expanded
from collector.config.model import Component, Config, Pipeline
from collector.config.problems import ConfigError, Path, Problem, format_path, listed, place_of, suggestion
from collector.config.registry import ComponentRegistry, ComponentType, Kind
from collector.config.telemetry_settings import TelemetrySettings
from collector.config.validation import plain, validate_settings
from collector.records import Signal

_ID = re.compile(r"[A-Za-z][A-Za-z0-9_]*(?:/[^\s/][^\s]*)?", re.ASCII)
_SECTIONS = (*(kind.value for kind in Kind), "service")
_SERVICE_KEYS = ("extensions", "pipelines", "telemetry")
_PIPELINE_KINDS = (Kind.RECEIVER, Kind.PROCESSOR, Kind.EXPORTER)
# What a first run shows when nobody has said where to send: exporters for each signal.
_FALLBACK_EXPORTERS = {Signal.TRACES: ("console", "file"), Signal.LOGS: ("file",), Signal.METRICS: ("file",)}


def build_config(raw: object, registry: ComponentRegistry, places: Mapping[Path, str], notes: list[str]) -> Config:
    """Check everything and put it together.

    Raises:
        ConfigError: with every problem found.
    """
    return _Builder(registry, places, notes).build(raw)


class _Builder:
    def __init__(self, registry: ComponentRegistry, places: Mapping[Path, str], notes: list[str]) -> None:
        self._registry = registry
        self._places = places
        self._notes = list(notes)
        self._problems: list[Problem] = []
        self._defined: dict[Kind, dict[str, Component | None]] = {}
        self._exporters_given = False

    def build(self, raw: object) -> Config:
        document = self._map(raw, ())
        self._check_keys(document, (), _SECTIONS, {"connectors": "the sidecar has fixed pipelines without connectors"})
        for kind in Kind:
            self._defined[kind] = self._components(kind, document.get(kind.value))
        self._exporters_given = bool(self._defined[Kind.EXPORTER])
        service = self._map(document.get("service"), ("service",))
        self._check_keys(service, ("service",), _SERVICE_KEYS, {})
        extensions = self._named(Kind.EXTENSION, service.get("extensions"), ("service", "extensions"))
        pipelines = self._pipelines(service.get("pipelines"))
        telemetry, problems = validate_settings(
            TelemetrySettings, service.get("telemetry"), ("service", "telemetry"), self._places
        )
        self._problems.extend(problems)
        active = {Kind.EXTENSION: self._active(Kind.EXTENSION, extensions)}
        for kind in _PIPELINE_KINDS:
            ids = [name for pipeline in pipelines.values() for name in _members(pipeline, kind)]
            active[kind] = self._active(kind, ids)
        self._check_references(active)
        self._check_singles(active)
        self._check_addresses(active, telemetry)
        self._note_unused(active)
        if self._problems or telemetry is None:
            raise ConfigError(self._problems)
        return Config(
            receivers=active[Kind.RECEIVER],
            processors=active[Kind.PROCESSOR],
            exporters=active[Kind.EXPORTER],
            extensions=active[Kind.EXTENSION],
            pipelines=pipelines,
            telemetry=telemetry,
            notes=tuple(self._notes),
            places=self._places,
        )

    def _problem(self, path: Path, what: str, remedy: str) -> None:
        self._problems.append(Problem(path, what, remedy, place_of(self._places, path)))

    def _map(self, raw: object, path: Path) -> dict[str, object]:
        raw = raw.value if isinstance(raw, Expanded) else raw
        if raw is None:
            return {}
        if not isinstance(raw, dict):
            self._problem(path, "has to be a map", "write key: value lines below it")
            return {}
        return raw

    def _check_keys(
        self, found: Mapping[str, object], path: Path, known: tuple[str, ...], refused: Mapping[str, str]
    ) -> None:
        for key in found:
            if key in refused:
                self._problem((*path, key), "this key has no meaning here", refused[key])
            elif key not in known:
                remedy = suggestion(key, known, otherwise=f"known keys: {listed(known)}")
                self._problem((*path, key), "unknown key", remedy)

    def _components(self, kind: Kind, raw: object) -> dict[str, Component | None]:
        """By id; None for one that is defined but wrong, so that it isn't reported again as undefined."""
        components: dict[str, Component | None] = {}
        for name, settings in self._map(raw, (kind.value,)).items():
            path = (kind.value, name)
            components[name] = None
            if not _ID.fullmatch(name):
                self._problem(path, "not a component id", "write type or type/name")
                continue
            type_name = name.partition("/")[0]
            component_type = self._registry.find(kind, type_name)
            if component_type is None:
                self._problem(path, *self._explain_unknown_type(kind, type_name))
                continue
            self._check_name(component_type, name, path)
            validated, problems = validate_settings(component_type.settings, settings, path, self._places)
            self._problems.extend(problems)
            if validated is not None:
                components[name] = Component(name, component_type, validated)
        return components

    def _check_name(self, component_type: ComponentType, component_id: str, path: Path) -> None:
        if component_type.check_name is None:
            return
        type_name, slash, own_name = component_id.partition("/")
        if not slash:
            self._problem(path, f"{type_name} needs a name", f"write {type_name}/name")
            return
        try:
            component_type.check_name(own_name)
        except ValueError as error:
            what, _, remedy = str(error).partition("; ")
            self._problem(path, what, remedy or "give it another name")

    def _explain_unknown_type(self, kind: Kind, name: str) -> tuple[str, str]:
        refusal = self._registry.refusal(kind, name)
        if refusal is not None:
            return f"there is no {kind.singular} of type {name} here", refusal
        known = self._registry.names(kind)
        remedy = suggestion(name, known, otherwise=f"known {kind.value}: {listed(known)}")
        return f"unknown type of {kind.singular}, {name}", remedy

    def _named(self, kind: Kind, raw: object, path: Path) -> list[str]:
        """A list of component ids; those that aren't defined are problems and left out."""
        raw = plain(raw)
        if raw is None:
            return []
        if not isinstance(raw, list):
            self._problem(path, "has to be a list", f"write a list of {kind.value}, such as [name]")
            return []
        names: list[str] = []
        defined = self._defined[kind]
        for index, name in enumerate(raw):
            if not isinstance(name, str) or name not in defined:
                remedy = suggestion(str(name), defined, otherwise=f"define it under {kind.value}, or take it out")
                self._problem((*path, index), f"{kind.singular} {name} is not defined", remedy)
            elif name in names:
                self._problem((*path, index), f"{name} is named twice", "take one of them out")
            else:
                names.append(name)
        return names

    def _pipelines(self, raw: object) -> dict[Signal, Pipeline]:
        root = ("service", "pipelines")
        pipelines: dict[Signal, Pipeline] = {}
        for name, members in self._map(raw, root).items():
            path = (*root, name)
            signal_name = name.partition("/")[0]
            if signal_name not in set(Signal):
                known = [signal.value for signal in Signal]
                remedy = suggestion(signal_name, known, otherwise=f"there are {listed(known)}")
                self._problem(path, "not a pipeline", remedy)
                continue
            signal = Signal(signal_name)
            if signal in pipelines:
                what = f"there already is a {signal} pipeline, {pipelines[signal].id}"
                self._problem(path, what, "put all its components into one pipeline")
                continue
            pipelines[signal] = self._pipeline(name, signal, self._map(members, path), path)
        if Signal.TRACES not in pipelines and not any(problem.path[:2] == root for problem in self._problems):
            what = "there is no traces pipeline"
            self._problem(root, what, "add traces: {receivers: [otlp], processors: [assemble], exporters: [...]}")
        return pipelines

    def _pipeline(self, name: str, signal: Signal, members: Mapping[str, object], path: Path) -> Pipeline:
        self._check_keys(members, path, tuple(kind.value for kind in _PIPELINE_KINDS), {})
        named = {kind: self._named(kind, members.get(kind.value), (*path, kind.value)) for kind in _PIPELINE_KINDS}
        if not named[Kind.RECEIVER] and not plain(members.get("receivers")):
            self._problem((*path, "receivers"), "the pipeline has no receiver", "name one, such as [otlp]")
        if not named[Kind.EXPORTER] and not plain(members.get("exporters")):
            named[Kind.EXPORTER] = self._fallback_exporters(signal, path)
        seen: set[str] = set()
        for kind in _PIPELINE_KINDS:
            for index, member in enumerate(named[kind]):
                component_type = self._registry.find(kind, member.partition("/")[0])
                if component_type is None:
                    continue
                place = (*path, kind.value, index)
                if signal not in component_type.signals:
                    able = listed(of.value for of in component_type.signals)
                    self._problem(place, f"{member} can't be part of a {signal} pipeline", f"it takes: {able}")
                if component_type.after and component_type.after not in seen:
                    what = f"{member} needs {component_type.after} before it"
                    self._problem(place, what, f"name {component_type.after} as the first processor")
                seen.add(component_type.name)
        return Pipeline(
            name,
            signal,
            tuple(named[Kind.RECEIVER]),
            tuple(named[Kind.PROCESSOR]),
            tuple(named[Kind.EXPORTER]),
        )

    def _fallback_exporters(self, signal: Signal, path: Path) -> list[str]:
        defined = self._defined[Kind.EXPORTER]
        wanted = [name for name in _FALLBACK_EXPORTERS[signal] if self._registry.find(Kind.EXPORTER, name)]
        if not wanted or self._exporters_given:
            what = "the pipeline has no exporter"
            self._problem((*path, "exporters"), what, f"name at least one of: {listed(defined)}")
            return []
        for name in wanted:
            if name not in defined:
                defined.update(self._components(Kind.EXPORTER, {name: {}}))
        self._notes.append(f"{format_path(path)} names no exporter; it goes to {' and '.join(wanted)}")
        return wanted

    def _active(self, kind: Kind, names: list[str]) -> dict[str, Component]:
        defined = self._defined[kind]
        return {name: component for name in names if (component := defined[name]) is not None}

    def _check_references(self, active: Mapping[Kind, Mapping[str, Component]]) -> None:
        for kind, components in active.items():
            for name, component in components.items():
                for key, wanted_type in component.component_type.references.items():
                    for target in _ids(getattr(component.settings, key)):
                        self._check_reference((kind.value, name, key), target, wanted_type, active[Kind.EXTENSION])

    def _check_reference(self, path: Path, target: str, wanted_type: str, active: Mapping[str, Component]) -> None:
        defined = self._defined[Kind.EXTENSION]
        of_type = [name for name in defined if name.partition("/")[0] == wanted_type]
        if target not in of_type:
            remedy = suggestion(target, of_type, otherwise=f"define {wanted_type}/… under extensions")
            self._problem(path, f"there is no extension {target}", remedy)
        elif target not in active and defined[target] is not None:
            self._problem(path, f"extension {target} is not active", f"add {target} to service::extensions")

    def _check_singles(self, active: Mapping[Kind, Mapping[str, Component]]) -> None:
        for kind, components in active.items():
            first: dict[str, str] = {}
            for name, component in components.items():
                known_by = component.name
                if component.component_type.single and known_by in first:
                    what = f"there can be only one {known_by}, and {first[known_by]} is active already"
                    self._problem((kind.value, name), what, "keep one of the two")
                elif component.component_type.check_name is not None and known_by in first:
                    what = f"{first[known_by]} is active under this name already"
                    self._problem((kind.value, name), what, "give one of the two another name")
                first.setdefault(known_by, name)

    def _check_addresses(
        self, active: Mapping[Kind, Mapping[str, Component]], telemetry: TelemetrySettings | None
    ) -> None:
        listening = [
            address
            for kind in (Kind.RECEIVER, Kind.EXTENSION)
            for name, component in active[kind].items()
            for address in find_addresses(component.settings, (kind.value, name))
        ]
        for index, reader in enumerate(telemetry.metrics.readers if telemetry else ()):
            if reader.pull:
                served = reader.pull.exporter.prometheus
                path = ("service", "telemetry", "metrics", "readers", index, "pull")
                listening.append(Address.of(served.host, served.port, path))
        sending = [
            address
            for name, component in active[Kind.EXPORTER].items()
            for address in find_addresses(component.settings, (Kind.EXPORTER.value, name))
        ]
        for problem in collisions(listening, sending):
            self._problem(problem.path, problem.what, problem.remedy)

    def _note_unused(self, active: Mapping[Kind, Mapping[str, Component]]) -> None:
        for kind, components in self._defined.items():
            where = "service::extensions" if kind is Kind.EXTENSION else "a pipeline"
            for name, component in components.items():
                if component is not None and name not in active[kind]:
                    self._notes.append(f"{kind.value}::{name} is not named by {where}; it isn't started")


def _members(pipeline: Pipeline, kind: Kind) -> tuple[str, ...]:
    members = {
        Kind.RECEIVER: pipeline.receivers,
        Kind.PROCESSOR: pipeline.processors,
        Kind.EXPORTER: pipeline.exporters,
    }
    return members[kind]


def _ids(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, tuple | list) else ()
