"""Comparisons of what a run called with what it should have called, without a model.

`tool_calls_match` is our own: an optimal alignment, with the reason taken from the same alignment as the score.  All
others are published metrics under their own names and with their own numbers, known faults included; where the
published code fails there is a status and a reason.  In: a `RunCase` whose `reference` has `tool_calls` (two of them
need none).  They never see anything but calls.
"""

from evaluators.reference.adk_trajectory import AdkTrajectory, AdkTrajectorySettings
from evaluators.reference.argument_match import ArgumentMatch, ArgumentMatchSettings
from evaluators.reference.expected_tools import ExpectedTools, ExpectedToolsSettings
from evaluators.reference.loop_detection import LoopDetection, LoopDetectionSettings
from evaluators.reference.name_trajectory import NameTrajectory, NameTrajectorySettings
from evaluators.reference.navigation_efficiency import NavigationEfficiency, NavigationEfficiencySettings
from evaluators.reference.tool_call_accuracy import ToolCallAccuracy, ToolCallAccuracySettings
from evaluators.reference.tool_call_f1 import ToolCallF1, ToolCallF1Settings
from evaluators.reference.tool_calls_match import ToolCallsMatch, ToolCallsMatchSettings
from evaluators.reference.tool_correctness import ToolCorrectness, ToolCorrectnessSettings
from evaluators.reference.tool_permission import ToolPermission, ToolPermissionSettings
from evaluators.reference.trajectory_match import TrajectoryMatch, TrajectoryMatchSettings

__all__ = [
    "AdkTrajectory",
    "AdkTrajectorySettings",
    "ArgumentMatch",
    "ArgumentMatchSettings",
    "ExpectedTools",
    "ExpectedToolsSettings",
    "LoopDetection",
    "LoopDetectionSettings",
    "NameTrajectory",
    "NameTrajectorySettings",
    "NavigationEfficiency",
    "NavigationEfficiencySettings",
    "ToolCallAccuracy",
    "ToolCallAccuracySettings",
    "ToolCallF1",
    "ToolCallF1Settings",
    "ToolCallsMatch",
    "ToolCallsMatchSettings",
    "ToolCorrectness",
    "ToolCorrectnessSettings",
    "ToolPermission",
    "ToolPermissionSettings",
    "TrajectoryMatch",
    "TrajectoryMatchSettings",
]
