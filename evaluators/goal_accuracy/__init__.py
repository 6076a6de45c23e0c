"""Goal accuracy: was the goal of the run reached, yes or no?

In go a whole run and, where there is one, a reference of what should have come of it; out comes 1 or 0 with what was
compared with what.  A judge finds, one condition at a time; it never holds its own summary of the run against its own
summary of the goal.
"""

from evaluators.goal_accuracy.evaluator import GoalAccuracy
from evaluators.goal_accuracy.settings import GoalAccuracySettings

__all__ = ["GoalAccuracy", "GoalAccuracySettings"]
