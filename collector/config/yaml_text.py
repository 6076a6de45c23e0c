"""YAML text → plain values with the place of every key, as a configuration's errors name it.

The reading itself is `evaluators.yaml_text`, which files of evaluators share.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from collector.config.problems import ConfigError, Path, Problem
from evaluators.yaml_text import YamlError, YamlFault, read_yaml


@dataclass(frozen=True, slots=True)
class Document:
    """A value read from one or several sources, and where each of its keys was written."""

    value: object
    places: dict[Path, str] = field(default_factory=dict)


def parse_yaml(text: str, name: str) -> Document:
    """Read one YAML document; an empty one is null. `name` is what the text goes by in messages.

    Raises:
        ConfigError: syntax errors with line and column, duplicate keys, keys that aren't text.
    """
    try:
        document = read_yaml(text)
    except YamlError as error:
        problems = [Problem(fault.path, fault.what, fault.remedy, _place(name, fault)) for fault in error.faults]
        raise ConfigError(problems) from None
    return Document(document.value, {path: f"{name}, line {line}" for path, line in document.lines.items()})


def _place(name: str, fault: YamlFault) -> str:
    line = f", line {fault.line}" if fault.line is not None else ""
    return f"{name}{line}" + (f", column {fault.column}" if fault.column is not None else "")
