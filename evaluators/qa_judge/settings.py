"""What `qa_judge` can be told."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from evaluators.evaluator import EvaluatorSettings
from evaluators.qa_judge.kinds import ArtifactType


class QaJudgeSettings(EvaluatorSettings):
    """Threshold, where artifacts are, and what holds for every run where the run doesn't say it."""

    threshold: float | None = Field(default=0.85, ge=0.0, le=1.0, description="Lowest score that passes.")
    root: Path | None = Field(
        default=None,
        description="Folder in which delivered files are read; nothing outside it ever is. Without one, artifacts are "
        "what tools were told to write, or the final answer.",
    )
    write_tools: tuple[str, ...] = Field(
        default=(),
        description="Tools that write files, where their names don't say so; `*` stands for any letters.",
    )
    artifact_type: ArtifactType | None = Field(
        default=None, description="What is delivered; told by the names of files and their content if not given."
    )
    acceptance_criteria: tuple[str, ...] = Field(
        default=(), description="What every artifact has to meet, beside what the task says."
    )
    scanners: bool = Field(
        default=True, description="Look for secrets and insecure Python with detect-secrets and bandit, if installed."
    )
