"""Plan adherence: did the agent do what it had announced, in that order and no more?

In goes a run with its visible plans, out comes the share of the plan's steps that were followed, with a state for each.
A change of plan takes the place of what was planned before.  It never judges whether the plan was any good.
"""

from evaluators.plan_adherence.evaluator import PlanAdherence
from evaluators.plan_adherence.settings import PlanAdherenceSettings

__all__ = ["PlanAdherence", "PlanAdherenceSettings"]
