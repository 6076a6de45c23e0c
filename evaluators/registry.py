"""The evaluators there are, by name: what a configuration may name, and how to make one.

A new evaluator is one line here, and so is a new way of bringing evaluators of one's own.  Nothing but the settings is
looked at when an evaluator is made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from evaluators.cases import CaseKind
from evaluators.completion_efficiency import CompletionEfficiency, CompletionEfficiencySettings
from evaluators.error_recovery import ErrorRecovery, ErrorRecoverySettings
from evaluators.evaluator import Evaluator, EvaluatorSettings
from evaluators.failure_attribution import FailureAttribution, FailureAttributionSettings
from evaluators.goal_accuracy import GoalAccuracy, GoalAccuracySettings
from evaluators.names import require_name
from evaluators.output_quality import OutputQuality
from evaluators.plan_adherence import PlanAdherence, PlanAdherenceSettings
from evaluators.plan_quality import PlanQuality, PlanQualitySettings
from evaluators.prompt_file import PromptEvaluator, PromptSettings
from evaluators.python_class import ClassEvaluator, PythonSettings
from evaluators.qa_judge import QaJudge, QaJudgeSettings
from evaluators.reference import (
    AdkTrajectory,
    AdkTrajectorySettings,
    ArgumentMatch,
    ArgumentMatchSettings,
    ExpectedTools,
    ExpectedToolsSettings,
    LoopDetection,
    LoopDetectionSettings,
    NameTrajectory,
    NameTrajectorySettings,
    NavigationEfficiency,
    NavigationEfficiencySettings,
    ToolCallAccuracy,
    ToolCallAccuracySettings,
    ToolCallF1,
    ToolCallF1Settings,
    ToolCallsMatch,
    ToolCallsMatchSettings,
    ToolCorrectness,
    ToolCorrectnessSettings,
    ToolPermission,
    ToolPermissionSettings,
    TrajectoryMatch,
    TrajectoryMatchSettings,
)
from evaluators.rubric import RubricSettings, ShippedRubricSettings, own_rubric
from evaluators.session_level import (
    SessionGoalAccuracy,
    SessionGoalAccuracySettings,
    SessionTaskCompletion,
    SessionTaskCompletionSettings,
)
from evaluators.step_efficiency import StepEfficiency, StepEfficiencySettings
from evaluators.task_completion import TaskCompletion, TaskCompletionSettings
from evaluators.tool_invocation import ToolInvocation, ToolInvocationSettings
from evaluators.tool_response_handling import ToolResponseHandling, ToolResponseHandlingSettings
from evaluators.tool_selection import ToolSelection, ToolSelectionSettings
from evaluators.trajectory_quality import TrajectoryQuality, TrajectoryQualitySettings
from evaluators.workflow_compliance import WorkflowCompliance


@dataclass(frozen=True, slots=True)
class Entry:
    """An evaluator that can be configured."""

    evaluator_type: type[Evaluator[Any]]
    settings: type[EvaluatorSettings]
    summary: str

    @property
    def name(self) -> str:
        """The name under which verdicts, configuration keys and span attributes know it."""
        return self.evaluator_type.name

    def create(self, settings: EvaluatorSettings | None = None) -> Evaluator[Any]:
        """The evaluator with these settings, or with its defaults.

        Raises:
            TypeError: the settings are those of another evaluator.
        """
        chosen = self.settings() if settings is None else settings
        if not isinstance(chosen, self.settings):
            raise TypeError(f"{self.name}: settings are {type(chosen).__name__}, not {self.settings.__name__}")
        return self.evaluator_type(chosen)


@dataclass(frozen=True, slots=True)
class OwnKind:
    """A way in which operators bring evaluators of their own: a processor `kind/<name>` is the evaluator `<name>`.

    `create` makes one of its name and settings.
    """

    settings: type[EvaluatorSettings]
    create: Callable[[str, Any], Evaluator[Any]]
    summary: str


_ENTRIES = (
    Entry(ToolSelection, ToolSelectionSettings, "Were the right tools chosen for this turn, or rightly none?"),
    Entry(ToolInvocation, ToolInvocationSettings, "Was the tool called with the right arguments?"),
    Entry(ToolResponseHandling, ToolResponseHandlingSettings, "Was the tool's result used truthfully and well?"),
    Entry(TaskCompletion, TaskCompletionSettings, "Did the run do what the user asked for?"),
    Entry(GoalAccuracy, GoalAccuracySettings, "Was the goal reached, yes or no?"),
    Entry(StepEfficiency, StepEfficiencySettings, "Were the run's tool calls needed?"),
    Entry(ErrorRecovery, ErrorRecoverySettings, "What became of the run's tool errors?"),
    Entry(TrajectoryQuality, TrajectoryQualitySettings, "How well did the run go its way?"),
    Entry(FailureAttribution, FailureAttributionSettings, "Did the run fail by its plan or in its execution?"),
    Entry(CompletionEfficiency, CompletionEfficiencySettings, "Was the task done, and without waste?"),
    Entry(PlanQuality, PlanQualitySettings, "Would the plan that the agent announced do the task?"),
    Entry(PlanAdherence, PlanAdherenceSettings, "Did the agent do what it had announced?"),
    Entry(SessionTaskCompletion, SessionTaskCompletionSettings, "Was what the user wanted over a session done?"),
    Entry(SessionGoalAccuracy, SessionGoalAccuracySettings, "Was the goal of a session reached, yes or no?"),
    Entry(ToolCallsMatch, ToolCallsMatchSettings, "Were the expected calls made, and no others?"),
    Entry(WorkflowCompliance, ShippedRubricSettings, "Did a travel planner take its steps, in order and well?"),
    Entry(OutputQuality, ShippedRubricSettings, "Is a travel plan complete, honest and in form?"),
    Entry(QaJudge, QaJudgeSettings, "Does what was delivered meet its task, without red lines?"),
    Entry(ToolCorrectness, ToolCorrectnessSettings, "Likeness of the calls to the expected ones, as in DeepEval."),
    Entry(ToolCallAccuracy, ToolCallAccuracySettings, "The expected tools with the expected arguments, as in Ragas."),
    Entry(ToolCallF1, ToolCallF1Settings, "F1 of the calls against the expected ones, as in Ragas."),
    Entry(TrajectoryMatch, TrajectoryMatchSettings, "Do the calls match the expected ones, as in agentevals?"),
    Entry(AdkTrajectory, AdkTrajectorySettings, "Do the calls match the expected ones, as in Google's ADK?"),
    Entry(ExpectedTools, ExpectedToolsSettings, "Were the expected tools called, as in pydantic-evals?"),
    Entry(NameTrajectory, NameTrajectorySettings, "How close is the sequence of tools, as in pydantic-evals?"),
    Entry(ArgumentMatch, ArgumentMatchSettings, "Has one call the expected arguments, as in pydantic-evals?"),
    Entry(NavigationEfficiency, NavigationEfficiencySettings, "Were the expected steps taken, as in Azure AI?"),
    Entry(LoopDetection, LoopDetectionSettings, "Are there signs of a loop, as in DeepEval?"),
    Entry(ToolPermission, ToolPermissionSettings, "Share of calls of permitted tools, as in DeepEval."),
)

EVALUATORS: Mapping[str, Entry] = {entry.name: entry for entry in _ENTRIES}
CASE_KINDS: Mapping[str, CaseKind] = {entry.name: entry.evaluator_type.judges for entry in _ENTRIES}
CASE_OPTIONS: Mapping[str, type[EvaluatorSettings]] = {
    entry.name: entry.settings for entry in _ENTRIES if entry.evaluator_type.takes_options
}

OWN_KINDS: Mapping[str, OwnKind] = {
    "rubric": OwnKind(RubricSettings, own_rubric, "Judges by what a rubric file says."),
    "prompt": OwnKind(PromptSettings, PromptEvaluator, "Asks a judge what a prompt file says."),
    "python": OwnKind(PythonSettings, ClassEvaluator, "Judges by a class of an installed Python package."),
}


def create_evaluator(name: str, settings: EvaluatorSettings) -> Evaluator[Any]:
    """The evaluator of this name: a shipped one, or one of the operator's own, which its settings tell.

    Raises:
        KeyError: there is none.
        TypeError: the settings are those of another evaluator.
        evaluators.python_class.LoadError: its class can't be used.
    """
    entry = EVALUATORS.get(name)
    if entry is not None:
        return entry.create(settings)
    for kind in OWN_KINDS.values():
        if type(settings) is kind.settings:
            return kind.create(name, settings)
    raise KeyError(name)


def require_own_name(name: str) -> None:
    """Raises ValueError, `what; remedy`, unless an evaluator of an operator's own may have this name."""
    require_name(name)
    if name in EVALUATORS:
        raise ValueError(f"{name} is an evaluator that spanjudge brings along; give yours another name")
