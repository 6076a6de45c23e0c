"""What is known of an order before it is judged: what was asked for, what was delivered, what scanners say of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from evaluators.qa_judge.artifact import Artifact
from evaluators.qa_judge.assignment import Assignment
from evaluators.qa_judge.scanners import Hit
from evaluators.rubric.material import Material


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
    """The material of a rubric with the order that it is about."""

    order: Order
