"""Step efficiency: which of a run's tool calls were needed, and which were wasted.

In goes a whole run, out comes 1 - wasted / calls with a label per step.  It never judges whether the task succeeded,
and never counts a step as wasted whose arguments, outcome or surroundings aren't known.
"""

from evaluators.step_efficiency.evaluator import StepEfficiency
from evaluators.step_efficiency.settings import StepEfficiencySettings

__all__ = ["StepEfficiency", "StepEfficiencySettings"]
