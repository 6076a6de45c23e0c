"""A package that brings evaluators along, built as a wheel and unpacked where it would be installed."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "acme-evals"
version = "1.2"

[project.entry-points."spanjudge.evaluators"]
brevity = "acme_evals:Brevity"
gone = "acme_evals:NotThere"
breaks = "acme_evals_broken:Breaks"
classless = "acme_evals"

[tool.hatch.build.targets.wheel]
only-include = ["acme_evals.py", "acme_evals_broken.py"]
"""

MODULE = '''
import sys
from pydantic import BaseModel, Field
from evaluators import Evaluator, EvaluatorSettings, Question, Status
from evaluators.cases import CaseKind
from evaluators.evaluator import Screening
from evaluators.verdict import Level, Method

print("a library that prints while it is loaded")


class Brevity(Evaluator):
    """Is the final answer short enough?"""

    name = "brevity"
    judges = CaseKind.RUN
    level = Level.TRACE
    good_label = "short"
    bad_label = "long"
    code_version = "1"

    class Settings(EvaluatorSettings):
        longest: int = Field(default=20, ge=1)

    def criteria(self):
        return "Nothing is asked."

    def screen(self, case):
        if case.run.final_answer is None:
            return Screening(status=Status.MISSING_INPUT, reason="There is no final answer.")
        short = len(case.run.final_answer) <= self.settings.longest
        return Screening(status=Status.OK, score=1.0 if short else 0.0, reason="By its length.")

    def question(self, case, screening):
        raise NotImplementedError

    def conclude(self, case, screening, answer):
        raise NotImplementedError


class Answer(BaseModel):
    explanation: str
    good: bool


class FreeForm(BaseModel):
    anything: dict


class Faulty(Brevity):
    """Does what its setting says."""

    class Settings(EvaluatorSettings):
        fault: str = ""

    def screen(self, case):
        match self.settings.fault:
            case "raises":
                raise ValueError(f"the answer was {case.run.final_answer}")
            case "exits":
                sys.exit(3)
            case "gives nothing":
                return None
            case "verdict raises" | "no json" | "no verdict":
                return super_screen()
        return Screening(status=Status.NEEDS_JUDGE)

    def question(self, case, screening):
        if self.settings.fault == "question raises":
            raise KeyError("secret of the trace")
        answer_type = FreeForm if self.settings.fault == "free form" else Answer
        criteria = "x" * 30_000 if self.settings.fault == "long" else "Good?"
        call_ids = ("c1",) if self.settings.fault == "no calls" else ()
        return Question(
            evaluator="other", criteria=criteria, subject="The run.", answer_type=answer_type, call_ids=call_ids
        )

    def conclude_by_rules(self, screening):
        match self.settings.fault:
            case "verdict raises":
                raise RuntimeError
            case "no verdict":
                return "good"
        verdict = super().conclude_by_rules(screening)
        if self.settings.fault == "no json":
            verdict.details["object"] = object()
        return verdict

    def conclude(self, case, screening, answer):
        if self.settings.fault == "conclude raises":
            raise ZeroDivisionError
        return self.scored(screening, float(answer.content.good), 0.9, method=Method.JUDGE)


def super_screen():
    return Screening(status=Status.OK, score=1.0)


class Abstract(Evaluator):
    name = "abstract"


class Nameless(Brevity):
    judges = "run"


class OddSettings(Brevity):
    Settings = dict


class Unmade(Brevity):
    def __init__(self, settings):
        raise OSError("no model file")


not_a_class = 3
'''


def install(directory: Path) -> Path:
    """Build the package, and unpack it: its files and its metadata stand below the path that comes back."""
    source, site = directory / "source", directory / "site"
    source.mkdir()
    (source / "pyproject.toml").write_text(PROJECT)
    (source / "acme_evals.py").write_text(MODULE)
    (source / "acme_evals_broken.py").write_text("raise ImportError('secret')\n")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel"], cwd=source, check=True, capture_output=True
    )
    [wheel] = (source / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(site)
    return site


def environment(site: Path) -> dict[str, str]:
    """The environment of a process in which the package is installed."""
    root = Path(__file__).parents[3]
    return {**os.environ, "PYTHONPATH": os.pathsep.join((str(site), str(root)))}
