"""`--config` and `--set` → one raw document.

A source is a path, `file:PATH`, `env:NAME` (a variable that holds YAML) or `yaml:TEXT` (with `::` between keys on one
line, as in the Collector).  Later sources win: maps are merged, lists and scalars replaced.  `--set a.b.c=value` wins
over all; `::` separates keys as well, for keys that contain a dot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath

from collector.config.problems import ConfigError, Path, Problem, value_at
from collector.config.yaml_text import Document, parse_yaml


def read_sources(sources: Sequence[str], sets: Sequence[str], environment: Mapping[str, str]) -> Document:
    """All sources and settings merged, nothing expanded yet.

    Raises:
        ConfigError: a source that can't be read or isn't a map, or a `--set` without `=`.
    """
    merged = Document({})
    problems: list[Problem] = []
    for source in sources:
        try:
            document = _read_source(source, environment)
        except ConfigError as error:
            problems.extend(error.problems)
            continue
        if document.value is None:
            continue
        if not isinstance(document.value, dict):
            problems.append(Problem((), "not a map of sections", "begin with receivers:, exporters:, service:", source))
            continue
        merged = _merge(merged, document)
    for setting in sets:
        try:
            merged = _merge(merged, _read_set(setting))
        except ConfigError as error:
            problems.extend(error.problems)
    if problems:
        raise ConfigError(problems)
    return merged


def _read_source(source: str, environment: Mapping[str, str]) -> Document:
    if source.startswith("yaml:"):
        return _nested(parse_yaml(source.removeprefix("yaml:"), "yaml:"))
    if source.startswith("env:"):
        name = source.removeprefix("env:")
        if name not in environment:
            raise ConfigError([Problem((), "this environment variable is not set", "set it to YAML text", source)])
        return parse_yaml(environment[name], source)
    path = source.removeprefix("file:")
    try:
        text = FilePath(path).read_text(encoding="utf-8")
    except OSError as error:
        what = f"can't be read: {error.strerror}"
        raise ConfigError([Problem((), what, "check the path given with --config", path)]) from None
    except UnicodeDecodeError:
        raise ConfigError([Problem((), "is not UTF-8 text", "save it as UTF-8", path)]) from None
    return parse_yaml(text, path)


def _nested(document: Document) -> Document:
    if not isinstance(document.value, dict):
        return document
    result = Document({})
    for key, value in document.value.items():
        for step in reversed(key.split("::")):
            value = {step: value}
        result = _merge(result, Document(value))
    return result


def _read_set(setting: str) -> Document:
    name = f"--set {setting.partition('=')[0]}"
    key, equals, text = setting.partition("=")
    steps = key.strip().split("::" if "::" in key else ".")
    if not equals or not all(steps):
        raise ConfigError([Problem((), "is not of the form key.path=value", "write --set a.b.c=value", name)])
    value = parse_yaml(text, name).value
    places: dict[Path, str] = {tuple(steps): name}
    for step in reversed(steps):
        value = {step: value}
    return Document(value, places)


def _merge(base: Document, over: Document) -> Document:
    replaced = {path for path in over.places if not isinstance(value_at(over.value, path), dict)}
    kept = {
        path: place
        for path, place in base.places.items()
        if not any(path[:length] in replaced for length in range(len(path) + 1))
    }
    return Document(_merge_values(base.value, over.value), {**kept, **over.places})


def _merge_values(base: object, over: object) -> object:
    if isinstance(base, dict) and isinstance(over, dict):
        merged = dict(base)
        for key, value in over.items():
            merged[key] = _merge_values(base[key], value) if key in base else value
        return merged
    return over
