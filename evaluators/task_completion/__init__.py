"""Task completion: did the run reach what the user asked for?

In goes a whole run, out comes the mean of its sub-goals as a judge found them.  A run that is known to have crashed
fails by rule; one that is only partly known has no score.  It never counts a claim of the agent as an outcome.
"""

from evaluators.task_completion.evaluator import TaskCompletion
from evaluators.task_completion.settings import TaskCompletionSettings

__all__ = ["TaskCompletion", "TaskCompletionSettings"]
