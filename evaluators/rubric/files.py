"""A rubric's file: YAML as the model has it, or Markdown in the form of documents for people.

In: a path.  Out: a `Rubric`, or a `DefinitionError` that names file, line, key, what is wrong and what to do.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from evaluators.definition_file import read_definition
from evaluators.rubric.model import Rubric


def read_rubric(path: Path) -> Rubric:
    """The rubric in a file.

    Raises:
        evaluators.definition_file.DefinitionError: it can't be read, or isn't a rubric.
    """
    return read_definition(path, Rubric)


def shipped_rubric(package: str) -> Rubric:
    """The rubric that stands beside an evaluator, in `rubric.yaml` of its package."""
    return read_rubric(Path(str(files(package).joinpath("rubric.yaml"))))
