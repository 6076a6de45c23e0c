"""The evaluators of an ordinary run: those that the shipped configuration names, whose inputs are known by name."""

from __future__ import annotations

from typing import Any

from evaluators.evaluator import Evaluator, EvaluatorSettings
from evaluators.registry import EVALUATORS
from processors.reading.readiness import REQUIRED


def ordinary_evaluators() -> list[Evaluator[Any]]:
    return [EVALUATORS[name].create() for name in REQUIRED]


def ordinary_settings() -> dict[str, EvaluatorSettings]:
    return {name: EVALUATORS[name].settings() for name in REQUIRED}
