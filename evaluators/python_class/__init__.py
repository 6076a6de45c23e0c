"""An evaluator that somebody else's Python package brings along: finding it, loading it, and living with its faults."""

from evaluators.python_class.evaluator import ClassEvaluator
from evaluators.python_class.loading import LoadError, Offered, load_evaluator, offered
from evaluators.python_class.settings import PythonSettings

__all__ = ["ClassEvaluator", "LoadError", "Offered", "PythonSettings", "load_evaluator", "offered"]
