"""Judging alone: a typed case in, a verdict out. No OpenTelemetry in here.

The vocabulary of agents is in `evaluators.cases`; each evaluator takes one kind of case.  From a call to its verdict:

    call = ToolCall(id="c1", name="get_weather", arguments={"town": "Lima"})
    tool = Tool(name="get_weather", parameters={"type": "object", "properties": {"city": {"type": "string"}}})
    turn = Turn(index=0, calls=(call,), tools=(tool,))
    run = Run(turns=(turn,), user_inputs=("How warm is it in Lima?",))
    verdict = judge_by_rules(ToolInvocation(), CallsCase(run=run, calls=(call,), turn=turn))

`verdict.label` is "incorrect", and `verdict.explanation` says that the schema knows no `town`.  What rules leave open
has the status `needs_judge`; give `evaluate` items with a judge, such as an `OpenAIJudge`, and it asks one for all of a
run's steps at once.  What isn't exported here may change without notice.
"""

from evaluators.cases import (
    CallsCase,
    Case,
    CaseKind,
    DecisionCase,
    Message,
    Reference,
    ReferenceCall,
    ResponseCase,
    Role,
    Run,
    RunCase,
    SessionCase,
    SourceVerdict,
    Tool,
    ToolCall,
    ToolResult,
    Turn,
)
from evaluators.completion_efficiency import CompletionEfficiency, CompletionEfficiencySettings
from evaluators.computed import ComputedEvaluator
from evaluators.error_recovery import ErrorRecovery, ErrorRecoverySettings
from evaluators.evaluation import Item, evaluate, judge_by_rules
from evaluators.evaluator import Evaluator, EvaluatorSettings, Screening
from evaluators.failure_attribution import FailureAttribution, FailureAttributionSettings
from evaluators.goal_accuracy import GoalAccuracy, GoalAccuracySettings
from evaluators.issues import IssueCode, Severity
from evaluators.judge.client import OpenAIJudge
from evaluators.judge.question import Judge, JudgeAnswer, JudgeFailure, Question
from evaluators.judge.settings import JudgeSettings
from evaluators.needs import needed_items
from evaluators.output_quality import OutputQuality
from evaluators.plan_adherence import PlanAdherence, PlanAdherenceSettings
from evaluators.plan_quality import PlanQuality, PlanQualitySettings
from evaluators.plans import visible_plans
from evaluators.prompt_file import PromptEvaluator, PromptSettings
from evaluators.qa_judge import QaJudge, QaJudgeSettings
from evaluators.reference import ToolCallsMatch, ToolCallsMatchSettings
from evaluators.registry import EVALUATORS
from evaluators.rubric import Rubric, RubricEvaluator, read_rubric
from evaluators.session_level import (
    SessionGoalAccuracy,
    SessionGoalAccuracySettings,
    SessionTaskCompletion,
    SessionTaskCompletionSettings,
)
from evaluators.sessions import session_case
from evaluators.step_efficiency import StepEfficiency, StepEfficiencySettings
from evaluators.task_completion import TaskCompletion, TaskCompletionSettings
from evaluators.tool_invocation import ToolInvocation, ToolInvocationSettings
from evaluators.tool_response_handling import ToolResponseHandling, ToolResponseHandlingSettings
from evaluators.tool_selection import ToolSelection, ToolSelectionSettings
from evaluators.trajectory_quality import TrajectoryQuality, TrajectoryQualitySettings
from evaluators.verdict import CallVerdict, Issue, Level, Method, Status, Usage, Verdict, issue
from evaluators.workflow_compliance import WorkflowCompliance

__all__ = [
    "EVALUATORS",
    "CallVerdict",
    "CallsCase",
    "Case",
    "CaseKind",
    "CompletionEfficiency",
    "CompletionEfficiencySettings",
    "ComputedEvaluator",
    "DecisionCase",
    "ErrorRecovery",
    "ErrorRecoverySettings",
    "Evaluator",
    "EvaluatorSettings",
    "FailureAttribution",
    "FailureAttributionSettings",
    "GoalAccuracy",
    "GoalAccuracySettings",
    "Issue",
    "IssueCode",
    "Item",
    "Judge",
    "JudgeAnswer",
    "JudgeFailure",
    "JudgeSettings",
    "Level",
    "Message",
    "Method",
    "OpenAIJudge",
    "OutputQuality",
    "PlanAdherence",
    "PlanAdherenceSettings",
    "PlanQuality",
    "PlanQualitySettings",
    "PromptEvaluator",
    "PromptSettings",
    "QaJudge",
    "QaJudgeSettings",
    "Question",
    "Reference",
    "ReferenceCall",
    "ResponseCase",
    "Role",
    "Rubric",
    "RubricEvaluator",
    "Run",
    "RunCase",
    "Screening",
    "SessionCase",
    "SessionGoalAccuracy",
    "SessionGoalAccuracySettings",
    "SessionTaskCompletion",
    "SessionTaskCompletionSettings",
    "Severity",
    "SourceVerdict",
    "Status",
    "StepEfficiency",
    "StepEfficiencySettings",
    "TaskCompletion",
    "TaskCompletionSettings",
    "Tool",
    "ToolCall",
    "ToolCallsMatch",
    "ToolCallsMatchSettings",
    "ToolInvocation",
    "ToolInvocationSettings",
    "ToolResponseHandling",
    "ToolResponseHandlingSettings",
    "ToolResult",
    "ToolSelection",
    "ToolSelectionSettings",
    "TrajectoryQuality",
    "TrajectoryQualitySettings",
    "Turn",
    "Usage",
    "Verdict",
    "WorkflowCompliance",
    "evaluate",
    "issue",
    "judge_by_rules",
    "needed_items",
    "read_rubric",
    "session_case",
    "visible_plans",
]
