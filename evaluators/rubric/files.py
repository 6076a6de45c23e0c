"""A rubric's file: YAML as the model has it, or Markdown in the form of documents for people.

In: a path.  Out: a `Rubric`, or a `DefinitionError` that names file, line, key, what is wrong and what to do.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path

from evaluators.definition_file import check_definition, definition_text, read_definition, yaml_fault
from evaluators.rubric.markdown import read_markdown
from evaluators.rubric.model import Rubric
from evaluators.yaml_text import YamlError

_MARKDOWN = frozenset((".md", ".markdown", ".txt"))


def read_rubric(path: Path) -> Rubric:
    """The rubric in a file: Markdown by its ending (`.md`, `.markdown`, `.txt`), else YAML.

    Raises:
        evaluators.definition_file.DefinitionError: it can't be read, or isn't a rubric.
    """
    if path.suffix.casefold() not in _MARKDOWN:
        return read_definition(path, Rubric)
    text = definition_text(path)
    try:
        value, lines = read_markdown(text)
    except YamlError as error:
        raise yaml_fault(path, error) from None
    return check_definition(path, Rubric, value, lines)


@cache
def shipped_rubric(package: str) -> Rubric:
    """The rubric that stands beside an evaluator, in `rubric.yaml` of its package; read once."""
    return read_rubric(Path(str(files(package).joinpath("rubric.yaml"))))
