"""Which component types exist: for each the model of its settings and how it may be used.

The registry is filled by whoever knows the components (`collector.components`); reading a configuration needs nothing
else of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from pydantic import BaseModel

from collector.records import Signal

ALL_SIGNALS = frozenset(Signal)


class Kind(StrEnum):
    """The kinds of components, named as their sections in the configuration."""

    RECEIVER = "receivers"
    PROCESSOR = "processors"
    EXPORTER = "exporters"
    EXTENSION = "extensions"

    @property
    def singular(self) -> str:
        """The kind in a sentence: `receiver`."""
        return self.value.removesuffix("s")


@dataclass(frozen=True, slots=True)
class ComponentType:
    """One type of component.

    `signals` are the pipelines that may name it.  `after` is the type of the processor that has to come before it in
    a pipeline.  `references` maps a settings field to the extension type that it names by id.  `single` says that
    there can be only one of it.  Where `check_name` is set, each component needs a name of its own after the slash, by
    which it is known; it raises ValueError, `what; remedy`, for a name that can't be.
    """

    kind: Kind
    name: str
    settings: type[BaseModel]
    summary: str
    aliases: tuple[str, ...] = ()
    signals: frozenset[Signal] = ALL_SIGNALS
    after: str | None = None
    references: Mapping[str, str] = field(default_factory=dict)
    single: bool = False
    check_name: Callable[[str], None] | None = None


class ComponentRegistry:
    """All component types by kind and name or alias."""

    def __init__(self) -> None:
        self._types: dict[tuple[Kind, str], ComponentType] = {}
        self._refused: dict[tuple[Kind, str], str] = {}

    def add(
        self,
        kind: Kind,
        name: str,
        settings: type[BaseModel],
        *,
        summary: str,
        aliases: Iterable[str] = (),
        signals: Iterable[Signal] = ALL_SIGNALS,
        after: str | None = None,
        references: Mapping[str, str] | None = None,
        single: bool = False,
        check_name: Callable[[str], None] | None = None,
    ) -> None:
        """Make a type known.

        Args:
            kind: the section it belongs to.
            name: its type, the part of an id before the slash.
            settings: the pydantic model of its settings; a model whose fields all have defaults allows `type: {}`.
            summary: one line on what it does.
            aliases: other names for the same type.
            signals: the pipelines that may name it.
            after: the type of a processor that has to come before it.
            references: settings field → type of the extension whose id it holds.
            single: whether there can be only one of it.
            check_name: for types whose components are known by the part of their id after the slash: raises ValueError,
                `what; remedy`, for one that can't be a name.

        Raises:
            ValueError: the name or an alias is taken.
        """
        component = ComponentType(
            kind,
            name,
            settings,
            summary,
            tuple(aliases),
            frozenset(signals),
            after,
            dict(references or {}),
            single,
            check_name,
        )
        for key in (name, *component.aliases):
            if (kind, key) in self._types:
                raise ValueError(f"there already is a {kind.singular} of type {key}")
            self._types[kind, key] = component

    def refuse(self, kind: Kind, name: str, reason: str) -> None:
        """Say of a type that the Collector knows why it doesn't exist here, and what to do instead."""
        self._refused[kind, name] = reason

    def refusal(self, kind: Kind, name: str) -> str | None:
        """Why there is no such type, where that was said."""
        return self._refused.get((kind, name))

    def find(self, kind: Kind, name: str) -> ComponentType | None:
        """The type of that name or alias."""
        return self._types.get((kind, name))

    def names(self, kind: Kind) -> list[str]:
        """All names and aliases of a kind."""
        return sorted(name for of, name in self._types if of is kind)

    def types(self, kind: Kind) -> list[ComponentType]:
        """All types of a kind, sorted by name, each once."""
        found = {component.name: component for (of, _), component in self._types.items() if of is kind}
        return [found[name] for name in sorted(found)]
