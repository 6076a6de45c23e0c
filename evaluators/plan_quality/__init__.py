"""Plan quality: would the plan that an agent made visible do the task?

In goes a run with its visible plans, out comes 1 minus a deduction for every fault of the plan.  A run without a
visible plan has no score, and neither has a task of a single step.  It never judges what came of the plan.
"""

from evaluators.plan_quality.evaluator import PlanQuality
from evaluators.plan_quality.settings import PlanQualitySettings

__all__ = ["PlanQuality", "PlanQualitySettings"]
