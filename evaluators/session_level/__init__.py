"""Whole sessions: was what the user wanted in all of a conversation's runs done?

In go the runs of a session as one case; out comes what the evaluator of single runs says of all of them together.
"""

from evaluators.session_level.evaluators import (
    SessionGoalAccuracy,
    SessionGoalAccuracySettings,
    SessionTaskCompletion,
    SessionTaskCompletionSettings,
)

__all__ = [
    "SessionGoalAccuracy",
    "SessionGoalAccuracySettings",
    "SessionTaskCompletion",
    "SessionTaskCompletionSettings",
]
