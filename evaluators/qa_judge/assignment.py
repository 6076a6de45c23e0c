"""What an artifact was ordered as: task, criteria, and where it is.

In: a run with what a case says about it.  Out: an `Assignment`.  It is read from the case, else from a JSON object in
the user's first message that has an `original_task`, else from what the user said and the settings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evaluators.cases import JsonValue, RunCase
from evaluators.qa_judge.kinds import ArtifactType
from evaluators.qa_judge.settings import QaJudgeSettings
from evaluators.rubric.texts import object_in

_PRIORITIES = frozenset({"P0", "P1", "P2", "P3"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """The seven fields of an order, and the judgments that were given on the same work before.

    `original_task` None: not captured.  `artifact_type` None: to be told by the artifact.
    """

    original_task: str | None
    acceptance_criteria: tuple[str, ...] = ()
    target_agent: str = ""
    artifact_path: str | None = None
    artifact_type: ArtifactType | None = None
    related_files: tuple[str, ...] = ()
    priority: str = "P2"
    previous_judgments: tuple[JsonValue, ...] = ()


def assignment_of(case: RunCase, settings: QaJudgeSettings) -> Assignment:
    """The order that a run carried out."""
    said = case.run.user_inputs or ()
    given: Mapping[str, JsonValue] = case.options if "original_task" in case.options else {}
    if not given and said:
        written, _ = object_in(said[0])
        given = written if written is not None and "original_task" in written else {}
    given = {**given, **case.options}
    context = given.get("context")
    within: Mapping[str, JsonValue] = {**given, **(context if isinstance(context, dict) else {})}
    task = case.reference.task if case.reference is not None else None
    agents = [turn.agent for turn in case.run.turns if turn.agent]
    return Assignment(
        original_task=_text(given.get("original_task")) or task or "\n".join(said).strip() or None,
        acceptance_criteria=_texts(given.get("acceptance_criteria")) or settings.acceptance_criteria,
        target_agent=_text(given.get("target_agent")) or (agents[0] if agents else ""),
        artifact_path=_text(given.get("artifact_path")),
        artifact_type=_type(given.get("artifact_type")) or settings.artifact_type,
        related_files=_texts(within.get("related_files")),
        priority=str(within.get("priority")) if within.get("priority") in _PRIORITIES else "P2",
        previous_judgments=_listed(within.get("previous_judgments")),
    )


def _text(value: JsonValue) -> str | None:
    return value.strip() or None if isinstance(value, str) else None


def _listed(value: JsonValue) -> tuple[JsonValue, ...]:
    return tuple(value) if isinstance(value, list) else () if value is None else (value,)


def _texts(value: JsonValue) -> tuple[str, ...]:
    return tuple(one for one in _listed(value) if isinstance(one, str) and one.strip())


def _type(value: JsonValue) -> ArtifactType | None:
    return ArtifactType(value) if isinstance(value, str) and value in set(ArtifactType) else None
