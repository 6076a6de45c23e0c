"""What is known of an order before it is judged: what was asked for, what was delivered, what scanners say of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from evaluators.qa_judge.artifact import Artifact
from evaluators.qa_judge.assignment import Assignment
from evaluators.qa_judge.scanners import Hit
from evaluators.rubric.material import Material
from evaluators.rubric.texts import compact, plain


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """An order and its delivery, as they were `seen_at` some time. `ref` is the run's."""

    assignment: Assignment
    artifact: Artifact | None
    hits: tuple[Hit, ...]
    scanners: tuple[str, ...]
    seen_at: datetime
    ref: str | None


@dataclass(frozen=True, kw_only=True)
class OrderedMaterial(Material):
    """The material of a rubric with the order that it is about. What isn't in the artifact shows no fault of it."""

    order: Order

    @cached_property
    def searchable(self) -> Sequence[tuple[str, str, str | None]]:
        """The artifact: the one text in which a quote may stand."""
        artifact = self.order.artifact
        return [("artifact", compact(plain(artifact.text)), self.ref)] if artifact is not None else []
