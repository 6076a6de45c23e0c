"""Which plans are visible in a run, and which of them hold.

In go turns of a run, out come `evaluators.cases.Plan`s.  Only what an agent itself put down as steps before taking them
counts; a list that is the answer, or that tells what was found, is no plan.
"""

from evaluators.plans.holding import judged_plans, standing_plans
from evaluators.plans.visible import visible_plans

__all__ = ["judged_plans", "standing_plans", "visible_plans"]
